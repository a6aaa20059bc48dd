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

	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// ledger keeps on disk, beside the contents, what is known of files while commands are under way: who comes after a process that
// was killed finds there what to compare with; see [Recover].
type ledger struct {
	log      *checkpoint.Log // nil: all must be written
	whole    int64           // bytes of the log when all had been written
	touched  map[string]bool // paths that are different from what the log says
	commands []*underWay     // also those whose changes could not be told
	beating  func()          // stops saying that the process is alive; nil: it does not
}

// underWay is a command that has begun.
type underWay struct {
	label string
	began time.Time
}

// beat is how often a process says that it is alive while commands run.
const beat = 100 * time.Millisecond

// moved notes what two looks have found different.
func (l *ledger) moved(before, after map[string]*record) {
	if l.log == nil {
		return
	}
	both := 0
	for name, r := range after {
		b := before[name]
		if b != nil {
			both++
		}
		if b == nil || b != r && *b != *r {
			l.note(name)
		}
	}
	if both == len(before) {
		return
	}
	for name := range before {
		if after[name] == nil {
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

// begun writes down what is there before a command, and that it begins. When that fails the command must not run.
func (w *Workspace) begun(c *underWay, trees []tree) error {
	l := &w.watched.ledger
	l.commands = append(l.commands, c)
	if err := w.writeDown(trees); err != nil {
		l.leave(c)
		return fmt.Errorf("the files could not be taken down before the command, so it was not run: %w", err)
	}
	if l.beating == nil {
		l.beating = beats(l.log)
	}
	return nil
}

// over writes down what is there after a command, and that it has ended.
func (w *Workspace) over(c *underWay, trees []tree) error {
	l := &w.watched.ledger
	l.commands = slices.DeleteFunc(l.commands, func(other *underWay) bool { return other == c })
	if w.watched.active == 0 {
		l.rest()
	}
	return w.writeDown(trees)
}

// leave keeps what the log says of a command whose changes could not be told: who opens the session next tells them. The next command
// begins a new log.
func (l *ledger) leave(c *underWay) {
	l.rest()
	if l.log != nil {
		_ = l.log.Close() // it was written
	}
	l.log, l.touched = nil, nil
	l.commands = slices.DeleteFunc(l.commands, func(other *underWay) bool { return other == c })
}

func (l *ledger) rest() {
	if l.beating != nil {
		l.beating()
	}
	l.beating = nil
}

// beats says again and again that the process is alive, until stop is called.
func beats(log *checkpoint.Log) (stop func()) {
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
				_ = log.Beat() // later it is known less well who did what
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

// writeDown writes what has changed since the last time, or everything to a new log.
func (w *Workspace) writeDown(trees []tree) error {
	f := &w.watched
	l := &f.ledger
	if l.log != nil && (trees == nil || l.log.Size() < 2*l.whole+1<<20) {
		names := make([]string, 0, len(l.touched))
		for name := range l.touched {
			names = append(names, name)
		}
		clear(l.touched)
		err := l.log.Append(f.page("", nil, nil, names))
		if err != nil {
			l.leave(nil)
		}
		return err
	}
	if trees == nil {
		return nil
	}
	names := make([]string, 0, len(f.records))
	for name := range f.records {
		names = append(names, name)
	}
	beating := l.beating != nil
	l.leave(nil)
	var err error
	if l.log, err = w.store.CreateLog(f.page(w.jobs.secret(), trees, w.policy.hidden, names)); err != nil {
		return err
	}
	l.whole = l.log.Size()
	if beating {
		l.beating = beats(l.log)
	}
	return nil
}

// close ends the log. It stays when it says of commands that have not been told of.
func (f *watched) close(store *checkpoint.Store) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &f.ledger
	if l.log == nil {
		return nil
	}
	l.leave(nil)
	if len(l.commands) > 0 {
		return nil
	}
	return store.RemoveLog()
}

// page is one record of the log: the commands that are under way, the ignore rules, and what is known of some paths. The first page
// has the token of the marks, the trees and what is hidden, too.
func (f *watched) page(token string, trees []tree, hidden, names []string) []byte {
	p := pageWriter{}
	p.number(time.Now().UnixNano())
	p.number(int64(len(f.ledger.commands)))
	for _, c := range f.ledger.commands {
		p.text(c.label)
		p.number(c.began.UnixNano())
	}
	p.text(token)
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
	for dir, list := range f.rules {
		if len(list) > 0 {
			with = append(with, dir)
		}
	}
	p.number(int64(len(with)))
	for _, dir := range with {
		p.text(dir)
		p.number(int64(len(f.rules[dir])))
		for _, r := range f.rules[dir] {
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
		p.record(f.records[name])
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
	token    string // of the marks of the processes
	trees    []string
	numbers  map[string]uint64 // of the files that the trees are
	hidden   []string
	rules    map[string][]rule
	records  map[string]*record
}

var errPage = errors.New("the baseline cannot be read")

// readBook reads the pages of a log.
func readBook(pages [][]byte) (*book, error) {
	b := &book{numbers: map[string]uint64{}, rules: map[string][]rule{}, records: map[string]*record{}}
	for _, page := range pages {
		r := &pageReader{b: page}
		if b.read(r); r.bad {
			return nil, errPage
		}
	}
	// What was known to have no rules has none, also when there are some now.
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
		b.commands = append(b.commands, underWay{r.text(), time.Unix(0, r.number())})
	}
	if token := r.text(); token != "" {
		b.token = token
	}
	for range r.count() {
		dir := r.text()
		b.trees = append(b.trees, dir)
		b.numbers[dir] = uint64(r.number())
	}
	for range r.count() {
		b.hidden = append(b.hidden, r.text())
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
