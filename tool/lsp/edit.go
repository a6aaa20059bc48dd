package lsp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxShown     = 10                     // problems of a file after an edit
	maxElsewhere = 5                      // names of other files
	maxEdited    = 16                     // files of one edit whose problems count
	settling     = 120 * time.Millisecond // without news, after which a report is complete
)

// Edit is a change of files, from before it happens.
type Edit struct {
	m    *Servers
	from reader
}

// Edit prepares for a change of the named files, which are absolute: it starts their servers, and notes the problems that the files have. It
// does not wait. from reads files as far as the session may.
func (m *Servers) Edit(from reader, names []string) *Edit {
	e := &Edit{m, from}
	for spec, group := range m.group(names) {
		if s := m.current(spec); s != nil {
			s.open(from, group...)
			s.mu.Lock()
			if s.known == nil && s.count > 0 {
				s.known = s.problems()
			}
			s.mu.Unlock()
			continue
		}
		m.launch(group[0])
	}
	return e
}

// launch starts the server for a file and does not wait for it.
func (m *Servers) launch(file string) {
	spec, _ := m.specOf(file)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() == nil {
		m.owned.Go(func() { _, _ = m.server(m.ctx, spec) })
	}
}

// group returns the names by the index of their server.
func (m *Servers) group(names []string) map[string][]string {
	groups := map[string][]string{}
	for _, name := range names[:min(len(names), maxEdited)] {
		if spec, ok := m.specOf(name); ok && installed(spec, m.o.Root) {
			groups[spec.Name] = append(groups[spec.Name], name)
		}
	}
	return groups
}

// current returns a server that runs; nil: it does not.
func (m *Servers) current(name string) *server {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.slots[name]; at != nil && at.running != nil && at.running.conn.cause() == nil {
		return at.running
	}
	return nil
}

// After returns the errors and warnings that the servers newly report after the change, and how many there are in other files, as a text for
// the model. It waits for the answers within the limits of the options. The text is empty if there is nothing new.
func (e *Edit) After(ctx context.Context, diffs []tool.FileDiff) string {
	var names []string
	kinds := map[string]int{}
	note := func(name string, kind int) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(e.m.o.Root, filepath.FromSlash(name))
		}
		names, kinds[name] = append(names, name), kind
	}
	for _, d := range diffs {
		kind := kindChanged
		if d.Created || d.From != "" {
			kind = kindCreated
		}
		if d.Deleted {
			kind = kindDeleted
		}
		if note(d.Path, kind); d.From != "" {
			note(d.From, kindDeleted)
		}
	}
	groups := e.m.group(names)
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		var changes []change
		for _, file := range groups[name] {
			changes = append(changes, change{file, kinds[file]})
		}
		if text := e.m.report(ctx, e.from, name, changes); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// report returns what a server newly says after changes.
func (m *Servers) report(ctx context.Context, from reader, name string, changes []change) string {
	limit := m.o.First
	if s := m.current(name); s != nil {
		limit = s.patience(m.o)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	spec, _ := m.specOf(changes[0].name)
	s, err := m.server(ctx, spec)
	if err != nil {
		return m.once(name)
	}
	s.mu.Lock()
	mark := s.count
	s.mu.Unlock()
	s.changed(changes)
	var left []string
	for _, c := range changes {
		if c.kind != kindDeleted {
			left = append(left, c.name)
		}
	}
	opened := s.open(from, left...)
	answered := s.await(ctx, mark, opened)
	if !answered && s.conn.cause() != nil {
		select {
		case <-s.over:
		case <-ctx.Done():
		}
		return m.once(name)
	}
	text := s.fresh(m.o.Root, opened)
	if text == "" && !answered && s.heard(answered) {
		text = fmt.Sprintf("[%s has not checked the change within %s; lsp diagnostics asks again]", name, limit)
	}
	return text
}

// once returns the note about the last failure of a server, if it was not reported yet.
func (m *Servers) once(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.slots[name]
	if at == nil || at.told || at.starting != nil || at.err == nil {
		return ""
	}
	at.told = true
	return fmt.Sprintf("[no diagnostics: %v]", failure(at.spec, at.err, ""))
}

// patience limits the wait for a server. One that published nothing after the last edits, as some do if nothing is wrong, gets less.
func (s *server) patience(o Options) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spoke {
		return o.First
	}
	return o.Warm / time.Duration(1+min(4*s.silent, 9))
}

// heard counts the edits without an answer, and reports whether this is the first of them.
func (s *server) heard(answered bool) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoke = true; answered {
		s.silent = 0
		return false
	}
	s.silent++
	return s.silent == 1
}

// await waits until the server has reported about all of the open files since a publication, and for what follows closely. It reports whether
// the server did before ctx ended.
func (s *server) await(ctx context.Context, mark int, names []string) bool {
	flushed := make(chan struct{})
	if s.spec.project != "" && len(names) > 0 {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		defer func() { cancel(); <-done }()
		go func() {
			defer close(done)
			if s.flush(ctx, names[0]) == nil {
				close(flushed)
			}
		}()
	}
	for done := false; !done; {
		news, reported := s.reported(mark, names)
		if reported && s.spec.project == "" {
			break
		}
		select {
		case <-news:
		case <-flushed:
			done = true
		case <-s.conn.closed:
			return false
		case <-ctx.Done():
			return reported
		}
	}
	quiet := settling
	s.mu.Lock()
	if !s.spoke {
		quiet = max(quiet, s.spec.late)
	}
	s.mu.Unlock()
	for {
		news, _ := s.reported(mark, names)
		timer := time.NewTimer(quiet)
		select {
		case <-news:
			timer.Stop()
			continue
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		s.heard(true)
		return true
	}
}

// reported reports whether the server has said something about the present version of all of the files, and returns a channel that is closed
// when it says more.
func (s *server) reported(mark int, names []string) (news <-chan struct{}, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news, !slices.ContainsFunc(names, func(name string) bool {
		f, d := s.found[name], s.docs[name]
		switch {
		case f == nil:
			return true
		case d == nil:
			return false // it was closed
		case f.version > 0:
			return f.version < d.version
		}
		return f.count <= mark
	})
}

// flush asks tsserver for the problems of all files of a project. The answer comes after them. The server's own check of the open files, which it
// begins up to ownCheck after a change, breaks off a longer one, so flush then asks again.
func (s *server) flush(ctx context.Context, name string) error {
	changed := time.Now()
	for {
		began := time.Now()
		err := s.conn.call(ctx, "workspace/executeCommand", map[string]any{
			"command":   "typescript.tsserverRequest",
			"arguments": []any{s.spec.project, map[string]any{"file": name, "delay": 0}, map[string]any{"isAsync": true}},
		}, nil)
		if err != nil || time.Since(began) < ownCheck/6 || began.Sub(changed) > ownCheck {
			return err
		}
	}
}

// ownCheck is the longest time after a change until typescript-language-server checks the open files: 800 ms, and some for the way.
const ownCheck = 900 * time.Millisecond

// problems counts the problems by file. s.mu is held.
func (s *server) problems() map[string]map[problem]int {
	all := map[string]map[problem]int{}
	for name, f := range s.found {
		all[name] = map[problem]int{}
		for _, d := range f.problems {
			all[name][problem{d.Severity, d.Message}]++
		}
	}
	return all
}

// fresh returns a text about the problems that were not known, and notes them as known.
func (s *server) fresh(root string, edited []string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known
	s.known = s.problems()
	word := "new "
	if known == nil {
		word = ""
	}
	var b strings.Builder
	others := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(s.found)) {
		var fresh []diagnostic
		left := known[name]
		for _, d := range s.found[name].problems {
			if p := (problem{d.Severity, d.Message}); left[p] > 0 {
				left[p]--
			} else {
				fresh = append(fresh, d)
			}
		}
		switch {
		case len(fresh) == 0:
		case slices.Contains(edited, name):
			fmt.Fprintf(&b, "%s: %d %sproblems in %s:\n", s.spec.Name, len(fresh), word, relative(root, name))
			s.list(&b, name, fresh, maxShown)
		default:
			others[name] = len(fresh)
		}
	}
	s.elsewhere(&b, root, word, others)
	return strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), ": 1 "+word+"problems ", ": 1 "+word+"problem ")
}

// elsewhere writes the number of problems in files that were not edited.
func (s *server) elsewhere(b *strings.Builder, root, word string, others map[string]int) {
	total, names := 0, []string(nil)
	for _, name := range slices.SortedFunc(maps.Keys(others), func(x, y string) int { return cmp.Or(others[y]-others[x], cmp.Compare(x, y)) }) {
		if total += others[name]; len(names) < maxElsewhere {
			names = append(names, fmt.Sprintf("%s (%d)", relative(root, name), others[name]))
		}
	}
	if total == 0 {
		return
	}
	if more := len(others) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if word == "" {
		names = append(names, "which may be older: the server has just started")
	}
	fmt.Fprintf(b, "%s: %d %sproblems in other files: %s\n", s.spec.Name, total, word, strings.Join(names, ", "))
}

// list writes problems, at most most of them. s.mu is held.
func (s *server) list(b *strings.Builder, name string, all []diagnostic, most int) {
	for _, d := range all[:min(len(all), most)] {
		col := d.Range.Start.Character + 1
		if doc := s.docs[name]; doc != nil {
			col = column(doc.text, d.Range.Start, s.bytes)
		}
		kind := "error"
		if d.Severity == severityWarning {
			kind = "warning"
		}
		fmt.Fprintf(b, "%d:%d %s: %s\n", d.Range.Start.Line+1, col, kind, d.Message)
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(b, "[%d more]\n", more)
	}
}

// relative returns a path for the model: from the root, if it is inside.
func relative(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	return oneLine(name, maxMessage)
}

// maxChanges is the number of files that a command may change before the servers start again instead of hearing of each.
const maxChanges = 1000

// Changed reports files that a command or another program changed, created or removed. They are absolute.
func (m *Servers) Changed(created, changed, removed []string) {
	running := m.running()
	var all []change
	for kind, names := range map[int][]string{kindCreated: created, kindChanged: changed, kindDeleted: removed} {
		for _, name := range names {
			all = append(all, change{name, kind})
		}
	}
	switch {
	case len(running) == 0 || len(all) == 0:
	case len(all) > maxChanges:
		m.Restart()
	default:
		for _, s := range running {
			s.changed(all)
		}
	}
}
