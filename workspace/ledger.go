package workspace

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/workspace/internal/baseline"
)

// ledger writes to disk what a watch knows while commands are under way: after the death of the process, the next one finds there what to
// compare with; see [Recover].
type ledger struct {
	base    *baseline.Baseline // nil: there was no command yet
	whole   int64              // bytes of the log after everything was written; 0: everything must be written
	touched map[string]bool    // paths that are different from what the log says
	beating func()             // ends the signs of life; nil: there are none
}

// beat is the time between signs of life of the process while commands run.
const beat = 100 * time.Millisecond

// moved notes the differences between two looks.
func (l *ledger) moved(s *scan) {
	if l.whole == 0 {
		return
	}
	for name, r := range s.differ {
		if b := s.before[name]; b == nil || *b != *r {
			l.note(name)
		}
	}
	if s.whole {
		return
	}
	for name := range s.before {
		if s.records[name] == nil {
			l.note(name)
		}
	}
}

func (l *ledger) note(name string) {
	if l.touched == nil {
		l.touched = map[string]bool{}
	}
	l.touched[name] = true
}

// begun writes down the state before a command, and that it begins. After an error the command must not run.
func (w *watch) begun(c *underWay, trees []tree) error {
	w.commands = append(w.commands, c)
	err := w.book.base.Mark(c.session)
	if err == nil {
		err = w.writeDown(trees)
	}
	if err != nil {
		w.commands = slices.DeleteFunc(w.commands, func(other *underWay) bool { return other == c })
		return fmt.Errorf("cannot record the files before the command, so it was not run: %w", err)
	}
	if w.book.beating == nil {
		w.book.beating = beats(w.book.base)
	}
	return nil
}

func (l *ledger) rest() {
	if l.beating != nil {
		l.beating()
	}
	l.beating = nil
}

// beats notes again and again that the process is alive, until stop is called.
func beats(base *baseline.Baseline) (stop func()) {
	var (
		all sync.WaitGroup
		end = make(chan struct{})
	)
	all.Go(func() {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = base.Beat() // later it is known less well who changed what
			case <-end:
				return
			}
		}
	})
	return func() {
		close(end)
		all.Wait()
	}
}

// writeDown writes the changes since the last time, or everything to a new log.
func (w *watch) writeDown(trees []tree) error {
	l := &w.book
	if err := l.base.Flush(); err != nil {
		return err
	}
	if l.whole > 0 && (trees == nil || l.base.Size() < 2*l.whole+1<<20) {
		names := make([]string, 0, len(l.touched))
		for name := range l.touched {
			names = append(names, name)
		}
		clear(l.touched)
		err := l.base.Append(w.page(nil, names))
		if err != nil {
			l.whole = 0
		}
		return err
	}
	if trees == nil {
		return nil
	}
	names := make([]string, 0, len(w.records))
	for name := range w.records {
		names = append(names, name)
	}
	l.whole, l.touched = 0, nil
	if err := l.base.Begin(w.page(trees, names)); err != nil {
		return err
	}
	l.whole = l.base.Size()
	return nil
}

// page is one record of the log: the commands under way, the ignore rules, and the records of some paths. The first page has the trees, too.
func (w *watch) page(trees []tree, names []string) []byte {
	p := pageWriter{}
	p.number(time.Now().UnixNano())
	p.number(int64(len(w.commands)))
	var hidden []string
	for _, c := range w.commands {
		p.texts([]string{c.session, c.label, c.token})
		p.number(c.began.UnixNano())
		hidden = c.by.policy.bounds.Hidden
	}
	p.number(int64(len(trees)))
	for _, t := range trees {
		p.text(t.dir)
		info, err := os.Lstat(t.dir)
		if err == nil {
			p.number(int64(statOf(info).number))
		} else {
			p.number(0)
		}
	}
	p.texts(hidden)
	var with []string // directories with rules
	for dir, list := range w.rules {
		if len(list) > 0 {
			with = append(with, dir)
		}
	}
	p.number(int64(len(with)))
	for _, dir := range with {
		p.text(dir)
		p.number(int64(len(w.rules[dir])))
		for _, r := range w.rules[dir] {
			p.text(r.text)
		}
	}
	slices.Sort(names)
	p.number(int64(len(names)))
	last := ""
	for _, name := range names {
		shared := 0
		for shared < min(len(name), len(last)) && name[shared] == last[shared] {
			shared++
		}
		p.number(int64(shared))
		p.text(name[shared:])
		p.record(w.records[name])
		last = name
	}
	return p.b
}

// pageWriter and pageReader are the two sides of a page.
type pageWriter struct{ b []byte }

func (w *pageWriter) number(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *pageWriter) text(s string) {
	w.number(int64(len(s)))
	w.b = append(w.b, s...)
}

func (w *pageWriter) texts(list []string) {
	w.number(int64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

// record writes what is known of a path; nil: nothing lies there.
func (w *pageWriter) record(r *record) {
	if r == nil {
		w.number(0)
		return
	}
	flags := int64(1)
	if r.known {
		flags |= 2
	}
	if r.fresh {
		flags |= 4
	}
	w.number(flags)
	for _, n := range []int64{r.stat.size, r.stat.modified, r.stat.changed, int64(r.stat.number), int64(r.stat.mode), r.state.Size, int64(r.state.Mode)} {
		w.number(n)
	}
	hash, _ := hex.DecodeString(r.state.Hash)
	w.text(string(hash))
	w.text(r.state.Link)
	w.text(r.state.Lost)
}

type pageReader struct {
	b   []byte
	bad bool
}

func (r *pageReader) number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count is a number of things, of which each takes a byte at least.
func (r *pageReader) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

func (r *pageReader) text() string {
	n := r.count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *pageReader) texts() (list []string) {
	for range r.count() {
		list = append(list, r.text())
	}
	return list
}

func (r *pageReader) record() *record {
	flags := r.number()
	if flags == 0 {
		return nil
	}
	out := &record{known: flags&2 != 0, fresh: flags&4 != 0}
	out.stat.size, out.stat.modified, out.stat.changed = r.number(), r.number(), r.number()
	out.stat.number, out.stat.mode = uint64(r.number()), fs.FileMode(r.number())
	out.state.Size, out.state.Mode = r.number(), fs.FileMode(r.number())
	out.state.Hash = hex.EncodeToString([]byte(r.text()))
	out.state.Link, out.state.Lost = r.text(), r.text()
	return out
}

// book is what the pages of a log say together.
type book struct {
	written  time.Time // the last page
	commands []underWay
	trees    []string
	numbers  map[string]uint64 // of the files that the trees are
	hidden   []string
	rules    map[string][]rule
	records  map[string]*record
}

var errPage = errors.New("the log cannot be read")

// readBook reads the pages of a log.
func readBook(pages [][]byte) (*book, error) {
	b := &book{numbers: map[string]uint64{}, rules: map[string][]rule{}, records: map[string]*record{}}
	for _, page := range pages {
		r := &pageReader{b: page}
		if b.read(r); r.bad {
			return nil, errPage
		}
	}
	// A directory that had no rules has none, also if there are some now.
	for name, r := range b.records {
		if _, known := b.rules[name]; !known && r.stat.mode.IsDir() {
			b.rules[name] = nil
		}
	}
	for _, dir := range b.trees {
		if _, known := b.rules[dir]; !known {
			b.rules[dir] = nil
		}
	}
	return b, nil
}

func (b *book) read(r *pageReader) {
	b.written = time.Unix(0, r.number())
	b.commands = b.commands[:0]
	for range r.count() {
		t := r.texts()
		if len(t) != 3 {
			r.b, r.bad = nil, true
			return
		}
		b.commands = append(b.commands, underWay{session: t[0], label: t[1], token: t[2], began: time.Unix(0, r.number())})
	}
	for range r.count() {
		dir := r.text()
		b.trees = append(b.trees, dir)
		b.numbers[dir] = uint64(r.number())
	}
	if hidden := r.texts(); len(hidden) > 0 {
		b.hidden = hidden
	}
	clear(b.rules)
	for range r.count() {
		dir := r.text()
		for range r.count() {
			if rule, ok := parseRule(r.text()); ok {
				b.rules[dir] = append(b.rules[dir], rule)
			}
		}
	}
	last := ""
	for range r.count() {
		shared := r.number()
		if shared < 0 || shared > int64(len(last)) {
			r.b, r.bad = nil, true
			return
		}
		last = last[:shared] + r.text()
		if found := r.record(); found != nil {
			b.records[last] = found
		} else {
			delete(b.records, last)
		}
	}
}
