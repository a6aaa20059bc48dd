//go:build unix

package undo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// call begins a call as the loop does: what the workspace tells next is its doing.
func (b *bench) call() {
	b.t.Helper()
	b.append(session.CallStarted{Call: "call", Tool: "shell", Arguments: json.RawMessage(`{}`)})
}

// beside is another session of the same directory.
func (b *bench) beside() *bench {
	b.t.Helper()
	other := &bench{t: b.t, base: b.base, dir: b.dir}
	ctx := context.Background()
	id, err := b.store.Create(ctx, session.Created{Dir: b.dir})
	b.must(err)
	other.state = b.state
	other.writer, err = b.store.Open(ctx, id, session.Lease{Owner: "a test beside it"})
	b.must(err)
	other.ws, err = workspace.Open(b.dir, workspace.Options{
		Changed: func(ctx context.Context, changes []workspace.Change) error {
			_, err := other.writer.Append(ctx, session.Stamp{Run: other.run}, undo.Record("call", changes))
			return err
		},
		Checkpoints: b.kept,
	})
	b.must(err)
	return other
}

// What another session has told of while a command ran is not taken back with what the command did, unless by force.
func TestAnotherSessionBesideACommand(t *testing.T) {
	for name, work := range map[string]func(other *bench){
		"tool":    func(other *bench) { other.apply(workspace.Edit{Path: "theirs", Data: []byte("2\n")}) },
		"command": func(other *bench) { other.shell("echo 2 >theirs") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.byHand("echo 1 >theirs")
			other := b.beside()
			b.begin("mine")
			b.call()
			begun, ended := make(chan struct{}), make(chan error, 1)
			command := workspace.Command{
				Line:   "echo; until [ -e ../go ]; do sleep 0.01; done; echo mine >mine",
				Report: func([]byte) { close(begun) }, // it writes once
			}
			go func() {
				_, err := b.ws.Run(t.Context(), command)
				ended <- err
			}()
			<-begun
			other.begin("theirs")
			other.call()
			work(other)
			other.end()
			b.byHand("touch ../go")
			b.must(<-ended)
			b.end()
			leftAlone(t, b, other)
			b.must(errors.Join(other.ws.Close(), other.writer.Close()))
		})
	}
}

// leftAlone undoes in a session beside which another one has changed a file.
func leftAlone(t *testing.T, b, other *bench) {
	t.Helper()
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	for _, f := range p.Files {
		theirs := strings.HasSuffix(f.Path, "theirs")
		if f.Unsure != theirs || theirs && !strings.Contains(f.Problem, string(other.writer.Session())) {
			t.Errorf("%+v", f)
		}
	}
	if p, err := other.history().Undo("", undo.Both); err != nil || len(p.Files) != 1 || p.Files[0].Unsure {
		t.Errorf("of the other session: %+v, %v", p, err)
	}
	diffs, err := b.history().Diff(b.t.Context(), "", b.kept)
	if err != nil || len(diffs) != 2 || diffs[0].Note != "" || !strings.Contains(diffs[1].Note, "while the command ran") {
		t.Errorf("differences %+v, %v", diffs, err)
	}
	for _, step := range []struct {
		force  bool
		theirs string
	}{{false, "2"}, {true, "1"}} {
		if _, err := b.undo("", undo.Both, step.force); err != nil {
			t.Fatal(err)
		}
		if tree := b.tree(); tree["mine"] != "" || !strings.Contains(tree["theirs"], step.theirs) {
			t.Errorf("force %v: %v", step.force, tree)
		}
		if _, err := b.redo(); err != nil {
			t.Fatal(err)
		}
	}
}
