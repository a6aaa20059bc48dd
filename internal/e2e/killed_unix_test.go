//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/window/tokens"
)

// dies runs the program so that it dies before a write, of those that it makes when a file is there; an empty name is none. It reports
// whether it lived to its end.
func (p *project) dies(at int, after string, args ...string) (lived bool, r result) {
	p.t.Helper()
	p.env = append(p.env, fmt.Sprintf("%s=%d", dieAtVar, at), dieAfterVar+"="+after)
	r = p.tenon(args...)
	p.env = p.env[:len(p.env)-2]
	return r.code != -1, r
}

// journals is every session, as its entries.
func (p *project) journals() map[session.SessionID][]session.Event {
	p.t.Helper()
	all := make(map[session.SessionID][]session.Event)
	store, err := sqlite.Open(filepath.Join(p.data, "sessions.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			p.t.Error(err)
		}
	}()
	for s, err := range store.List(p.t.Context(), index.Query{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		for e, err := range store.Read(p.t.Context(), s.ID, 0) {
			if err != nil {
				p.t.Fatal(err)
			}
			all[s.ID] = append(all[s.ID], e)
		}
	}
	return all
}

// whole fails the test when what is stored is not well, or lacks an entry that was there before.
func (p *project) whole(before map[session.SessionID][]session.Event) {
	p.t.Helper()
	if r := p.tenon("sessions", "check"); r.code != 0 && len(before) > 0 {
		p.t.Errorf("after a kill: %s%s", r.stdout, r.stderr)
	}
	now := p.journals()
	for id, entries := range before {
		if len(now[id]) < len(entries) {
			p.t.Fatalf("session %s had %d entries, and has %d", id, len(entries), len(now[id]))
		}
		for i, e := range entries {
			if !bytes.Equal(asJSON(p.t, e), asJSON(p.t, now[id][i])) {
				p.t.Errorf("entry %d of session %s is another one", i+1, id)
			}
		}
	}
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The program is killed before writes that it makes while it writes a summary during its run, and when the summary takes effect. The session
// has everything that was shown, the store is undamaged, and the next process reaches the goal.
func TestKilledAroundASummary(t *testing.T) {
	n := 0
	for at := 1; at <= 120; at += 1 + at/30*at/15 {
		if n++; !sample.Takes(n, 9, 9) {
			continue
		}
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			p, w, q := newProject(t), wayOf(t, "anthropic"), newQuest(t, 10)
			srv := q.prepare(p, w)
			run := []string{"run", "--model", w.ref(), "--yes", "--output", "stream-json"}
			if r := p.tenon(append(run, "--max-turns", "4", q.prompt())...); r.code != 3 || q.summaries > 0 {
				t.Fatalf("exit code %d, %d summaries; %s", r.code, q.summaries, r.stderr)
			}
			before := p.journals()
			armed := filepath.Join(p.home, "armed")
			q.asked = func() { p.write(armed, "") }
			lived, r := p.dies(at, armed, append(run, "--continue", "Go on.")...)
			p.whole(before)
			q.wereShown(p, r.stdout)
			if !lived {
				r = p.tenon("run", "--model", w.ref(), "--yes", "--continue")
				if strings.Contains(r.stderr, "has nothing left to do") { // it was killed behind its last words
					r = p.tenon("run", "--model", w.ref(), "--yes", "--continue", "And now?")
				}
				if r.code != 0 || r.stdout != q.report()+"\n" {
					t.Errorf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
				}
			}
			if q.sound(srv, p.journal()) == 0 {
				t.Error("nothing was summed up")
			}
			ended(t, p.journal())
			p.whole(before)
		})
	}
}

// wereShown fails the test when an entry that was shown is not in the journal.
func (q *quest) wereShown(p *project, stream string) {
	q.t.Helper()
	kept := make(map[session.ID]bool)
	for _, e := range p.journal() {
		kept[e.ID] = true
	}
	shown := 0
	for line := range strings.Lines(stream) {
		var e struct {
			Seq int64
			ID  session.ID
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Seq == 0 {
			continue
		}
		if shown++; !kept[e.ID] {
			q.t.Errorf("entry %d was shown and is lost: %s", e.Seq, line)
		}
	}
	if shown == 0 {
		q.t.Errorf("no entry was shown: %s", stream)
	}
}

// scribe plays a model that runs what the last line of a prompt says as a command, and sums up when it is asked.
func scribe(r *modelserver.Request) modelserver.Step {
	size := tokens.Request(&llm.Request{System: r.System, Messages: r.Messages, Tools: r.Tools})
	return scribed(r).Usage(llm.Usage{Input: int64(size), Output: 20})
}

func scribed(r *modelserver.Request) modelserver.Step {
	prompt := r.LastUser()
	if strings.Contains(prompt, "The context window is nearly full.") {
		return modelserver.Say(summaryOf(nil))
	}
	_, command, ok := strings.Cut(prompt, "sh: ")
	if last := r.Messages[len(r.Messages)-1]; ok && last.Text() == prompt {
		return modelserver.Say("I do it.").Call("shell", fmt.Sprintf(`{"command":%q}`, command))
	}
	return modelserver.Say("That is done.")
}

// longOutput is a command that says much.
const longOutput = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do seq -s ' ' 300; done"

// works lets a session work, and returns its ID. An empty one is a new one.
func (p *project) works(id, command string) string {
	p.t.Helper()
	args := []string{"run", "--model", wayOf(p.t, "anthropic").ref(), "--yes", "Please. sh: " + command}
	if id != "" {
		args = append(args, "--session", id)
	}
	if out := p.must(args...); out != "That is done.\n" {
		p.t.Fatalf("it says %q", out)
	}
	if id == "" {
		id = p.session()
	}
	return id
}

// view is what the next request of a session would send.
func (p *project) view(id string) string {
	p.t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(p.must("sessions", "window", id, "--json")), &all); err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%s\n%s\n%s\n%s", all["model"], all["system"], all["tools"], all["messages"])
}

// sees fails the test when a session would send something else, or the files are other ones.
func (p *project) sees(what, id, view string, tree map[string]string) {
	p.t.Helper()
	if got := p.view(id); got != view {
		at := 0
		for at < min(len(got), len(view)) && got[at] == view[at] {
			at++
		}
		p.t.Errorf("%s: the view is another one:\n%.400s\nwant\n%.400s", what, got[max(0, at-80):], view[max(0, at-80):])
	}
	trees.Same(p.t, trees.Of(p.t, p.dir), tree)
}

// newStudio returns a project whose sessions follow their prompts exactly.
func newStudio(t *testing.T) *project {
	t.Helper()
	p := newProject(t)
	p.config(`{"agents": {"off": true}}`) // without their tools, less makes a summary worth its price
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	srv := wayOf(t, "anthropic").serve(p, modelserver.Func(scribe))
	t.Cleanup(func() {
		for _, v := range srv.Violations() {
			t.Errorf("the provider would not take a request: %v", v)
		}
	})
	return p
}

// backup keeps the project and its data, and returns what brings both back, to the same times and modes.
func (p *project) backup() (restore func()) {
	p.t.Helper()
	kept := p.t.TempDir()
	do := func(name string, args ...string) {
		p.t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			p.t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	do("cp", "-a", p.dir, p.data, kept)
	return func() {
		p.t.Helper()
		do("rm", "-rf", p.dir, p.data)
		do("cp", "-a", filepath.Join(kept, filepath.Base(p.dir)), filepath.Join(kept, filepath.Base(p.data)), filepath.Dir(p.dir))
	}
}

// The program is killed before writes that it makes while it takes back files, the conversation, or both: nothing is lost, the next
// try ends what was begun, and redo brings all of it back.
func TestKilledWhileItTakesBack(t *testing.T) {
	for i, c := range []struct {
		name string
		args []string
	}{
		{"undo", []string{"undo"}},
		{"undo --files", []string{"undo", "--files"}},
		{"undo --conversation", []string{"undo", "--conversation"}},
		{"undo --both", []string{"undo", "--both"}},
		{"sessions rewind", []string{"sessions", "rewind"}},
		{"redo", []string{"redo"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newStudio(t)
			id := p.works("", "mkdir d; echo one >a; echo one >d/b; echo one >c; "+longOutput)
			first, firstTree := p.view(id), trees.Of(t, p.dir)
			p.works(id, "echo two >a; rm c; mv d/b d/e; "+longOutput)
			p.works(id, longOutput)
			p.works(id, "echo and on")
			p.must("sessions", "compact", id, "--model", wayOf(t, "anthropic").ref())
			p.works(id, "echo three >>a; rm -r d; echo three >f")
			old, oldTree := p.view(id), trees.Of(t, p.dir)
			to := string(runsOf(p.journal())[1])
			args := append(slices.Clone(c.args), id, "--to", to)
			if c.name == "redo" {
				p.must("undo", id, "--to", to)
				args = []string{"redo", id}
				first, firstTree, old, oldTree = old, oldTree, first, firstTree
			}
			switch {
			case slices.Contains(args, "--files"):
				first = old
			case slices.Contains(args, "--conversation"):
				firstTree = oldTree
			}
			before := p.journals()
			restore := p.backup()
			at := 1
			for ; ; at++ {
				if !sample.Takes(at+i, 6, 6) {
					continue
				}
				lived, r := p.dies(at, "", args...)
				p.whole(before)
				if lived && r.code != 0 {
					t.Fatalf("exit code %d: %s", r.code, r.stderr)
				}
				done := func() bool { return p.view(id) == first && maps.Equal(trees.Of(t, p.dir), firstTree) }
				if !done() { // else it was killed behind the last of its effects
					p.must(args...)
				}
				p.sees(fmt.Sprintf("killed at write %d", at), id, first, firstTree)
				back := []string{"redo", id}
				if c.name == "redo" {
					back = []string{"undo", id, "--to", to}
				}
				if p.must(back...); !lived && done() { // it has finished what was not said to be done
					p.must(back...)
				}
				p.sees(fmt.Sprintf("killed at write %d, and back", at), id, old, oldTree)
				p.works(id, "echo after")
				if lived || t.Failed() {
					break
				}
				restore()
			}
			if t.Logf("it lives when it is to die at write %d", at); at < 4 {
				t.Errorf("only %d writes", at-1)
			}
		})
	}
}

// runsOf is the entries at which runs began.
func runsOf(journal []session.Event) []session.ID {
	var all []session.ID
	for _, e := range journal {
		if _, ok := e.Body.(session.RunStarted); ok {
			all = append(all, e.ID)
		}
	}
	return all
}

// The program is killed before every write that it makes while it forks a session: that one stays as it is, and a fork can be made.
func TestKilledWhileItForks(t *testing.T) {
	t.Parallel()
	p := newStudio(t)
	id := p.works("", "seq 200")
	p.works(id, "echo two")
	view, tree := p.view(id), trees.Of(t, p.dir)
	before := p.journals()
	restore := p.backup()
	at := 1
	for ; ; at++ {
		if !sample.Takes(at, 2, 3) {
			continue
		}
		lived, r := p.dies(at, "", "sessions", "fork", id)
		p.whole(before)
		for made := range p.journals() { // a fork that has no title yet is one
			p.sees(fmt.Sprintf("killed at write %d", at), string(made), view, tree)
		}
		if !lived {
			r = p.tenon("sessions", "fork", id)
		}
		fork := strings.TrimSpace(r.stdout)
		p.sees("the fork", fork, view, tree)
		p.works(fork, "echo three")
		p.works(id, "echo other three")
		if lived || t.Failed() {
			break
		}
		restore()
	}
	if t.Logf("it lives when it is to die at write %d", at); at < 4 {
		t.Errorf("only %d writes", at-1)
	}
}

// The program is killed before writes that it makes while it imports a session: the session is there as a whole, or not at all.
func TestKilledWhileItImports(t *testing.T) {
	t.Parallel()
	p := newStudio(t)
	id := p.works("", "seq 200")
	for i := range 4 {
		p.works(id, fmt.Sprintf("echo %d", i))
	}
	file := filepath.Join(p.home, "session.jsonl")
	p.write(file, p.must("sessions", "export", id))
	view, tree := p.view(id), trees.Of(t, p.dir)
	if err := os.RemoveAll(p.data); err != nil {
		t.Fatal(err)
	}
	n := 0
	for at := 1; ; at += 1 + at/8 {
		if n++; !sample.Takes(n, 2, 3) {
			continue
		}
		lived, r := p.dies(at, "", "sessions", "import", file)
		if lived && r.code != 0 {
			t.Fatalf("exit code %d: %s", r.code, r.stderr)
		}
		p.whole(nil)
		for made := range p.journals() {
			p.sees(fmt.Sprintf("killed at write %d", at), string(made), view, tree)
		}
		if !lived {
			p.must("sessions", "import", file)
		}
		all := p.journals()
		if len(all) != 1 {
			t.Errorf("killed at write %d: %d sessions", at, len(all))
		}
		for made := range all {
			p.sees("imported", string(made), view, tree)
			p.works(string(made), "echo on")
		}
		p.must("sessions", "check")
		if lived || t.Failed() {
			break
		}
		if err := os.RemoveAll(p.data); err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("it lives at try %d", n); n < 11 {
		t.Errorf("it lives at try %d", n)
	}
}
