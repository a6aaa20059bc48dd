package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// A session records what it changes, so that a person can take it back.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// first
	// restored
}

func example(ctx context.Context) (err error) {
	base, err := os.MkdirTemp("", "undo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	dir, err := filepath.EvalSymlinks(base)
	if err != nil {
		return err
	}
	store := memory.New()
	id, err := store.Create(ctx, session.Created{Dir: dir})
	if err != nil {
		return err
	}
	w, err := store.Open(ctx, id, session.Lease{})
	if err != nil {
		return err
	}
	kept := contents.NewDir(filepath.Join(dir, ".contents"), contents.Options{})
	ws, err := workspace.Open(dir, workspace.Options{
		Checkpoints: kept, Session: string(id),
		Changed: func(ctx context.Context, changes []workspace.Change) error {
			_, err := w.Append(ctx, session.Stamp{Run: "r"}, undo.Record("", changes))
			return err
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ws.Close(), w.Close()) }()

	if _, err := w.Append(ctx, session.Stamp{Run: "r"}, session.RunStarted{Run: "r"}); err != nil {
		return err
	}
	if err := ws.WriteFile(ctx, "notes.txt", []byte("first\n"), nil); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "notes.txt"))
	if err != nil {
		return err
	}
	fmt.Print(string(data))

	history, err := undo.Read(ctx, store, id, nil)
	if err != nil {
		return err
	}
	plan, err := history.Undo("", undo.Both)
	if err != nil {
		return err
	}
	if err := plan.Apply(ctx, w, kept, false); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); errors.Is(err, os.ErrNotExist) {
		fmt.Println("restored")
	}
	return nil
}
