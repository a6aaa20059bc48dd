package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// State is a regular file, a directory or a link at a path.
type State struct {
	Hash string      // SHA-256 of a file's content, in hex; empty if it is not known
	Size int64       // bytes of a file
	Mode fs.FileMode // with the type
	Link string      // target of a link
	Lost string      // the reason why Checkpoints of the options does not have the content; empty if it has, or if there is no store
}

// Change is one file, directory or link before and after.
type Change struct {
	Path          string // absolute
	Before, After *State // nil: there was none, there will be none
	Done          bool   // it has happened already: a command made it
	Unsure        string // the reason why another session, a person or a program may have made it; empty: the session did
}

// Edit is a part of what [Workspace.Apply] does.
type Edit struct {
	Path  string
	Data  []byte       // the new content of Path; nil, with neither From nor State: Path is removed
	From  string       // a file or a link that is moved to Path, where nothing may be; Data replaces its content, unless it is nil
	State *State       // the exact new state of Path, with its content from Checkpoints of the options
	Exact bool         // Path is not a link and goes through none; otherwise it is refused
	Check func() error // is called right before the change; its error stops all edits
}

// WriteFile replaces the content of a file, whole or not at all: it writes a temporary file, makes it durable and renames it. It keeps the
// mode of an existing file, follows a link, and makes missing directories.
//
// Unless it is nil, check is called right before the replacement, while no tool of the directory changes files. Its error stops the
// replacement.
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte, check func() error) error {
	if data == nil {
		data = []byte{}
	}
	return w.Apply(ctx, []Edit{{Path: name, Data: data, Check: check}})
}

// Remove removes a file, a link (not its target) or an empty directory. For check see [Workspace.WriteFile].
func (w *Workspace) Remove(ctx context.Context, name string, check func() error) error {
	return w.Apply(ctx, []Edit{{Path: name, Check: check}})
}

// Rename moves a file or a link (not its target) to a name that is not taken; missing directories are made. For check see
// [Workspace.WriteFile].
func (w *Workspace) Rename(ctx context.Context, from, to string, check func() error) error {
	return w.Apply(ctx, []Edit{{Path: to, From: from, Check: check}})
}

// Apply makes all of the edits or none. It writes all new content to temporary files, calls all checks, calls Changed of the options once, and
// then renames the files. If a step fails, Apply reverts the steps before it. No two edits may be about one path.
//
// Errors: those of [Workspace.Resolve], a [*ProtectedError], a [*DirectoryError] or [*SpecialError] if a path is not a file, [fs.ErrExist]
// for a target that is taken, and the errors of checks and Changed. If ctx ends before the first rename, Apply does nothing.
func (w *Workspace) Apply(ctx context.Context, edits []Edit) error {
	t := transaction{editor: &w.edits, ctx: ctx}
	defer t.clean()
	if err := t.prepare(edits); err != nil {
		return err
	}
	t.shared.writing.Lock()
	defer t.shared.writing.Unlock()
	if err := t.look(); err != nil {
		return err
	}
	if err := t.announce(); err != nil {
		return err
	}
	return (&commit{transaction: &t}).do()
}

// State returns the state of a path now, nil for nothing. If name is a link, it is the state of the link. The path must not go through other
// links.
func (w *Workspace) State(name string) (*State, error) {
	abs, err := w.absolute(name)
	if err != nil {
		return nil, err
	}
	at, err := w.locate(name)
	if err != nil {
		return nil, err
	}
	if at != filepath.Clean(abs) {
		return nil, fmt.Errorf("%s leads to %s now", Quote(name), Quote(at))
	}
	p, err := w.judge(name, at, reading)
	if err != nil {
		return nil, err
	}
	defer p.close()
	s, err := p.lstat()
	if err != nil {
		return nil, w.tell(name, err)
	}
	if s == nil || !s.Mode.IsRegular() {
		return s, nil
	}
	f, err := p.openRegular()
	if err != nil {
		return nil, w.tell(name, err)
	}
	defer f.Close()
	hash := sha256.New()
	if s.Size, err = io.Copy(hash, f); err != nil {
		return nil, w.tell(name, err)
	}
	s.Hash = hex.EncodeToString(hash.Sum(nil))
	return s, nil
}
