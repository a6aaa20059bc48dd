//go:build unix

package undo_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

func TestMain(m *testing.M) {
	syscall.Umask(0o022)
	fewerChecks()
	if what := os.Getenv("UNDO_TEST_CHILD"); what != "" {
		os.Exit(childMain(what))
	}
	goleak.VerifyTestMain(m)
}

// fewerChecks lets random tests, which start many processes here, take seconds unless they are asked for more.
func fewerChecks() {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		_ = flag.Set("rapid.checks", "10")
	}
}

// state is what a session has beside its project: the journal and the contents.
type state struct {
	store  index.Store
	writer session.Writer
	kept   contents.Store
	shared *workspace.Shared
}

// openState opens what a session has below base; an empty ID is a new session.
func openState(base string, id session.SessionID) (s state, err error) {
	ctx := context.Background()
	if s.store, err = sqlite.Open(filepath.Join(base, "sessions.db")); err != nil {
		return s, err
	}
	if id == "" {
		if id, err = s.store.Create(ctx, session.Created{Dir: filepath.Join(base, "project")}); err != nil {
			return s, err
		}
	}
	if s.writer, err = s.store.Open(ctx, id, session.Lease{Owner: "a test"}); err != nil {
		return s, err
	}
	s.kept = contents.NewDir(filepath.Join(base, "contents"), contents.Options{MaxFile: 1 << 20})
	s.shared = &workspace.Shared{Baselines: filepath.Join(base, "baselines")}
	return s, nil
}

func (s state) close() error { return errors.Join(s.writer.Close(), s.store.Close()) }

// bench is a session that works on a project.
type bench struct {
	state
	t    testing.TB
	base string // the project is below it, and all else that the session has
	dir  string
	ws   *workspace.Workspace
	run  session.RunID

	dying error // ends a change when the journal has it
}

func newBench(t testing.TB) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, base: base, dir: filepath.Join(base, "project")}
	b.must(os.Mkdir(b.dir, 0o755))
	b.open("")
	t.Cleanup(b.close)
	return b
}

// open opens everything; an empty ID is a new session.
func (b *bench) open(id session.SessionID) {
	b.t.Helper()
	var err error
	b.state, err = openState(b.base, id)
	b.must(err)
	b.ws, err = workspace.Open(b.dir, workspace.Options{
		Checkpoints: b.kept, Shared: b.shared, Session: string(b.writer.Session()), Outside: workspace.AllOutside,
		Changed: func(ctx context.Context, changes []workspace.Change) error {
			_, err := b.writer.Append(ctx, session.Stamp{Run: b.run}, undo.Record("call", changes))
			return errors.Join(err, b.dying)
		},
	})
	b.must(err)
}

func (b *bench) close() {
	b.must(errors.Join(b.ws.Close(), b.state.close()))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) append(bodies ...session.Body) session.Event {
	b.t.Helper()
	events, err := b.writer.Append(context.Background(), session.Stamp{Run: b.run}, bodies...)
	b.must(err)
	return events[len(events)-1]
}

// begin starts a run and returns its first entry, end ends it.
func (b *bench) begin(text string) session.Event {
	b.t.Helper()
	b.run = session.NewID()
	e := b.append(session.RunStarted{Run: b.run})
	b.append(session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	return e
}

func (b *bench) end() {
	b.t.Helper()
	b.append(session.RunEnded{Reason: session.ReasonDone})
	b.run = ""
}

// apply makes changes as file tools do, shell as commands do.
func (b *bench) apply(edits ...workspace.Edit) {
	b.t.Helper()
	b.must(b.ws.Apply(context.Background(), edits))
}

func (b *bench) shell(text string) {
	b.t.Helper()
	done, err := b.ws.Run(context.Background(), workspace.Command{Line: "set -e\n" + text})
	b.must(err)
	if done.ExitCode != 0 || done.Trouble != nil {
		b.t.Fatalf("%s\n%s %v", text, done.Head, done.Trouble)
	}
}

// byHand changes the project behind the session's back.
func (b *bench) byHand(text string) {
	b.t.Helper()
	cmd := exec.Command("sh", "-ec", text)
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

func (b *bench) history() *undo.History {
	b.t.Helper()
	h, err := undo.Read(context.Background(), b.store, b.writer.Session(), nil)
	b.must(err)
	return h
}

// undo and redo plan and carry out.
func (b *bench) undo(entry string, scope undo.Scope, force bool) (*undo.Plan, error) {
	b.t.Helper()
	p, err := b.history().Undo(entry, scope)
	if err != nil {
		return nil, err
	}
	return p, p.Apply(context.Background(), b.writer, b.kept, force)
}

func (b *bench) redo() (*undo.Plan, error) {
	b.t.Helper()
	p, err := b.history().Redo()
	if err != nil {
		return nil, err
	}
	return p, p.Apply(context.Background(), b.writer, b.kept, false)
}

// said is what people said in the current conversation.
func (b *bench) said() string {
	b.t.Helper()
	messages, err := view.Messages(context.Background(), view.Stored(b.store, b.writer.Session(), ""))
	b.must(err)
	var out []string
	for _, e := range messages {
		out = append(out, e.Body.(session.Message).Text())
	}
	return strings.Join(out, " ")
}

// tree is everything in the project.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	return trees.Of(b.t, b.dir)
}
