package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Our own exports: each entry as JSON on a line (JSONL), or one object {"format":"tenon.session","version":1,"session":...,
// "entries":[...]}. Unlike foreign formats they must be complete: any defect is an error.

// Format is the value of "format" in an export as one JSON object.
const Format = "tenon.session"

// FormatVersion is the version of that object which is written, and the newest that is read.
const FormatVersion = 1

// readTenon reads an export and passes on its entries. Entries keep their IDs; the root gets a new one.
func readTenon(ctx context.Context, s Source, _ Options, r *Report, take taker) error {
	file, _, err := openRegular(s.File)
	if err != nil {
		return err
	}
	defer file.Close() // read-only
	c := &checker{source: s, id: session.NewSessionID(), places: map[session.ID]bool{}}
	return take(func(yield func(session.Event, error) bool) {
		for one, err := range rawEntries(ctx, bufio.NewReaderSize(file, 64<<10)) {
			var e session.Event
			if err == nil {
				e, err = c.entry(one.data)
			}
			if err != nil {
				yield(e, fmt.Errorf("%s:%s: %w", s.File, one.place, err))
				return
			}
			r.count(e)
			if !yield(e, nil) {
				return
			}
		}
	})
}

// rawEntry is an entry that was not looked at yet.
type rawEntry struct {
	place string // in the file
	data  []byte
}

var errTooLong = fmt.Errorf("an entry of more than %d MB", maxLine>>20)

// rawEntries yields the entries of an export in either form.
func rawEntries(ctx context.Context, in *bufio.Reader) iter.Seq2[rawEntry, error] {
	if wrapped(in) {
		return wrappedEntries(ctx, in)
	}
	return lineEntries(ctx, in)
}

func lineEntries(ctx context.Context, in io.Reader) iter.Seq2[rawEntry, error] {
	return func(yield func(rawEntry, error) bool) {
		for l, err := range lines(ctx, in, maxLine) {
			if err == nil && l.tooLong() {
				err = errTooLong
			}
			if !yield(rawEntry{fmt.Sprint(l.number), l.data}, err) || err != nil {
				return
			}
		}
	}
}

// wrapped reports whether a file is one object, and not an entry on each line.
func wrapped(in *bufio.Reader) bool {
	head, _ := in.Peek(512) // a shorter file has a shorter beginning
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	d := json.NewDecoder(bytes.NewReader(head))
	for range 2 {
		if _, err := d.Token(); err != nil {
			return false
		}
	}
	value, err := d.Token()
	return err == nil && value == Format
}

// wrappedEntries reads the object, an entry at a time. "format" comes first; the entries after the version.
func wrappedEntries(ctx context.Context, in io.Reader) iter.Seq2[rawEntry, error] {
	return func(yield func(rawEntry, error) bool) {
		guard := &guard{in: in}
		d := json.NewDecoder(guard)
		n := 0
		fail := func(err error) {
			if err == nil || errors.Is(err, io.EOF) {
				err = errors.New("the file ends too early")
			}
			yield(rawEntry{place: fmt.Sprintf("entry %d", n+1)}, err)
		}
		_, _ = d.Token() // the bracket: wrapped has seen it
		for d.More() {
			key, err := d.Token()
			if err != nil {
				fail(err)
				return
			}
			switch key {
			case "version":
				var v float64
				if err := d.Decode(&v); err != nil || v > FormatVersion {
					fail(cmp.Or(err, fmt.Errorf("the export has version %v; this Tenon knows %d: update it", v, FormatVersion)))
					return
				}
			case "entries":
				if t, err := d.Token(); err != nil || t != json.Delim('[') {
					fail(cmp.Or(err, errors.New("the entries are no list")))
					return
				}
				for ; d.More(); n++ {
					guard.read = 0
					var data json.RawMessage
					if err := cmp.Or(ctx.Err(), d.Decode(&data)); err != nil {
						fail(err)
						return
					}
					if !yield(rawEntry{fmt.Sprintf("entry %d", n+1), data}, nil) {
						return
					}
				}
				if _, err := d.Token(); err != nil {
					fail(err)
					return
				}
			default:
				var skipped json.RawMessage
				if err := d.Decode(&skipped); err != nil {
					fail(err)
					return
				}
			}
			guard.read = 0
		}
		if _, err := d.Token(); err != nil {
			fail(err)
		}
	}
}

// guard ends a file that would have to be held in memory.
type guard struct {
	in   io.Reader
	read int // since the last entry
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.in.Read(p)
	if g.read += n; g.read > maxLine {
		return n, errTooLong
	}
	return n, err
}

// checker verifies that the entries of an export form a journal.
type checker struct {
	source Source
	id     session.SessionID // the new one
	old    session.ID        // of the root, as the export has it
	seq    int64
	tip    session.ID
	places map[session.ID]bool // of the entries on branches
}

func (c *checker) entry(data []byte) (session.Event, error) {
	var e session.Event
	if err := decode(data, &e); err != nil {
		return e, err
	}
	if e.Transient() {
		return e, fmt.Errorf("%s is no entry of a journal: this is the output of a run, not an export", e.Body.Kind())
	}
	if m, ok := e.Body.(session.Message); ok {
		if err := checkMessage(m); err != nil {
			return e, err
		}
	}
	if e.ID == "" || e.Seq <= c.seq {
		return e, fmt.Errorf("entry %q has the number %d and follows %d: entries are missing, twice, or in another order", e.ID, e.Seq, c.seq)
	}
	c.seq = e.Seq
	if root, ok := e.Body.(session.Created); ok != (c.old == "") {
		return e, errors.New("the first entry, and no other, is a created: this is no whole export")
	} else if ok {
		c.old, c.tip = e.ID, e.ID
		c.places[e.ID] = true
		root.Imported = c.source.origin()
		if dir, fine := cleanDir(root.Dir); fine || root.Dir == "" {
			root.Dir = dir
		} else {
			return e, fmt.Errorf("the working directory %q is no absolute path", brief(root.Dir, 100))
		}
		e.ID, e.Body = c.id, root
		return e, nil
	}
	if err := c.parent(e); err != nil {
		return e, err
	}
	e.Body = c.renamed(e.Body)
	return e, nil
}

// checkMessage returns an error for a message that no model can receive.
func checkMessage(m session.Message) error {
	switch m.Role {
	case llm.RoleUser, llm.RoleAssistant, llm.RoleTool:
	default:
		return fmt.Errorf("a message has the role %q", brief(string(m.Role), 40))
	}
	seen := map[string]bool{}
	for _, c := range m.Calls() {
		if m.Role != llm.RoleAssistant || c.ID == "" || seen[c.ID] {
			return fmt.Errorf("the call %q of a message of the role %q has no ID, one twice, or is in no answer", brief(c.ID, 40), m.Role)
		}
		seen[c.ID] = true
	}
	return nil
}

// parent checks the parent of an entry.
func (c *checker) parent(e session.Event) error {
	if !e.OnBranch() {
		if e.Parent != "" {
			return fmt.Errorf("entry %s hangs on no branch, but has a parent", e.ID)
		}
		return nil
	}
	from := c.tip
	if h, ok := e.Body.(session.Head); ok {
		if from = h.To; !c.places[from] {
			return fmt.Errorf("entry %s goes back to %q, which is not there", e.ID, h.To)
		}
	}
	if e.Parent != from {
		return fmt.Errorf("entry %s follows %q, but the branch ends at %q: entries are missing or in another order", e.ID, e.Parent, from)
	}
	c.tip, c.places[e.ID] = e.ID, true
	return nil
}

// renamed replaces the ID of the root in a body.
func (c *checker) renamed(body session.Body) session.Body {
	name := func(id session.ID) session.ID {
		if id == c.old {
			return c.id
		}
		return id
	}
	switch b := body.(type) {
	case session.Head:
		b.To = name(b.To)
		return b
	case session.Summarized:
		b.Through = name(b.Through)
		return b
	case session.Revert:
		b.To = name(b.To)
		return b
	case session.FilesChanged:
		b.To = name(b.To)
		return b
	}
	return body
}

// lookTenon identifies an export by its beginning.
func lookTenon(ctx context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(Tenon, file)
	if err != nil {
		return s, false, err
	}
	f, _, err := openRegular(file)
	if err != nil {
		return s, false, err
	}
	defer f.Close() // read-only
	in := bufio.NewReaderSize(io.LimitReader(f, 1<<20), 64<<10)
	next, stop := iter.Pull2(rawEntries(ctx, in))
	defer stop()
	first, err, ok := next()
	if err != nil || !ok {
		return s, false, nil // not an export, or an error that reading it reports
	}
	var e session.Event
	if decode(first.data, &e) != nil {
		return s, false, nil
	}
	c, ok := e.Body.(session.Created)
	if !ok || e.Seq != 1 {
		return s, false, nil
	}
	s.ID = string(e.ID)
	s.Dir, _ = cleanDir(c.Dir)
	for one, err, ok := next(); ok && err == nil && s.Title == ""; one, err, ok = next() {
		var sum index.Summary
		if decode(one.data, &e) == nil {
			sum.Add(e)
			s.Title = brief(sum.Title, 80)
		}
	}
	return s, true, nil
}
