//go:build unix

package undo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// child is a process, not started yet, that does something in a session so that it can be killed under it: "work" runs a command line,
// beside a job if there is one, "undo" takes back the last run, and "recover" recovers and is killed at the step that the argument names.
func (b *bench) child(id session.SessionID, what, argument string, job ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNDO_TEST_CHILD="+what, "UNDO_TEST_ARGUMENT="+argument, "UNDO_TEST_JOB="+strings.Join(job, "\n"),
		"UNDO_TEST_BASE="+b.base, "UNDO_TEST_SESSION="+string(id))
	cmd.Stderr = os.Stderr
	return cmd
}

// childMain is that process.
func childMain(what string) int {
	base, argument := os.Getenv("UNDO_TEST_BASE"), os.Getenv("UNDO_TEST_ARGUMENT")
	s, err := openState(base, session.SessionID(os.Getenv("UNDO_TEST_SESSION")))
	if err == nil {
		switch what {
		case "work":
			err = s.work(filepath.Join(base, "project"), argument, os.Getenv("UNDO_TEST_JOB"))
		case "undo":
			err = s.undo()
		case "recover":
			err = s.recover(argument)
		}
	}
	if err == nil {
		err = s.close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (s state) work(dir, line, job string) error {
	ctx, run := context.Background(), session.NewID()
	ws, err := workspace.Open(dir, workspace.Options{
		Checkpoints: s.kept, Shared: s.shared, Session: string(s.writer.Session()), Label: func(context.Context) string { return "killed" },
		Changed: func(ctx context.Context, changes []workspace.Change) error {
			_, err := s.writer.Append(ctx, session.Stamp{Run: run}, undo.Record("killed", changes))
			return err
		},
	})
	if err != nil {
		return err
	}
	if _, err := s.writer.Append(ctx, session.Stamp{Run: run}, session.RunStarted{Run: run}, session.Message{Message: llm.UserText("work"), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
		session.CallStarted{Call: "killed", Tool: "shell", Arguments: json.RawMessage(`{}`)}); err != nil {
		return err
	}
	if job != "" {
		j, err := ws.Start(ctx, workspace.Command{Line: job})
		if err != nil {
			return err
		}
		defer j.Kill(ctx)
		for j.Output(0, 10).Size == 0 {
			runtime.Gosched()
		}
		if err := ws.Apply(ctx, []workspace.Edit{{Path: "by-tool", Data: []byte("tool")}}); err != nil {
			return err
		}
	}
	_, err = ws.Run(ctx, workspace.Command{Line: line})
	return errors.Join(err, ws.Close())
}

func (s state) undo() error {
	ctx := context.Background()
	h, err := undo.Read(ctx, s.store, s.writer.Session(), nil)
	if err != nil {
		return err
	}
	p, err := h.Undo("", undo.Both)
	if err != nil {
		return err
	}
	return p.Apply(ctx, s.writer, s.kept, false)
}

// recover is killed before or after it reads or writes the journal.
func (s state) recover(steps string) error {
	n, err := strconv.Atoi(steps)
	if err != nil {
		return err
	}
	step := func() {
		if n--; n == 0 {
			self, _ := os.FindProcess(os.Getpid()) // it is there
			_ = self.Kill()
			select {}
		}
	}
	return undo.Recover(context.Background(), steppingStore{s.store, step}, steppingWriter{s.writer, step}, s.shared.Baselines, s.kept)
}

type steppingStore struct {
	index.Store
	step func()
}

func (s steppingStore) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	s.step()
	return s.Store.Read(ctx, id, after, kinds...)
}

type steppingWriter struct {
	session.Writer
	step func()
}

func (w steppingWriter) Append(ctx context.Context, stamp session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	w.step()
	events, err := w.Writer.Append(ctx, stamp, bodies...)
	w.step()
	return events, err
}
