package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
)

// State is what lies at a path: a regular file, a directory or a link.
type State struct {
	Hash string      // SHA-256 of a file's content, in hex; empty when it is not known
	Size int64       // bytes of a file
	Mode fs.FileMode // with the type
	Link string      // where a link leads
	Lost string      // why the content is not in the checkpoint store; empty when it is, or when there is none
}

// Change is one file, directory or link before and after.
type Change struct {
	Path          string // absolute
	Before, After *State // nil: there was none, there will be none
	Done          bool   // it has happened already: a command did it
	Unsure        string // why it may be somebody else's, of what [Recover] finds; empty when it is not
}

// Edit is a part of what [Workspace.Apply] does.
type Edit struct {
	Path  string
	Data  []byte       // the new content of Path; nil, with neither From nor State: Path is removed
	From  string       // a file or a link that is moved to Path, where nothing may be; its content is replaced by Data unless that is nil
	State *State       // what Path will be, exactly, its content from the checkpoint store
	Exact bool         // Path is no link and goes through none; it is refused otherwise
	Check func() error // called right before the change; its error stops all of it
}

// WriteFile puts data in the place of a file, whole or not at all: it is written beside it, made durable and renamed. The
// mode of an existing file is kept, a link's target is replaced and not the link, missing directories are made.
//
// Unless it is nil, check is called right before the replacement, while nothing else of this workspace changes files; its
// error stops it, and the file stays as it was.
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

// Apply makes all of the edits or none. First all new content is written to temporary files and all checks are called; then
// Changed of the options is told, once; then everything is put in its place by renaming. When that fails half-way, what was done is taken back.
// No two edits may be about one path.
//
// Errors: those of [Workspace.Resolve], a [*ProtectedError], a [*DirectoryError] or [*SpecialError] for what is no file, [fs.ErrExist]
// for a target that is taken, and whatever a check or Changed returned. When ctx ends before the first rename, nothing is done.
func (w *Workspace) Apply(ctx context.Context, edits []Edit) error {
	t := transaction{Workspace: w, ctx: ctx}
	defer t.clean()
	if err := t.prepare(edits); err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	if err := t.look(); err != nil {
		return err
	}
	if err := t.announce(); err != nil {
		return err
	}
	return t.do()
}

// State is what lies at a path now, nil for nothing; when name is a link, it is about the link. The path must not go through other
// links: what lies behind one is something else.
func (w *Workspace) State(name string) (*State, error) {
	abs, err := w.absolute(name)
	if err != nil {
		return nil, err
	}
	at, err := w.locate(name)
	if err != nil {
		return nil, err
	}
	if at != abs {
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
