package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// OutsideError refuses a path that leads out of the workspace.
type OutsideError struct {
	Path   string // as it was given
	Target string // where it leads; empty when that is not known
	Dir    string // the workspace
}

func (e *OutsideError) Error() string {
	if e.Target == "" || e.Target == e.Path {
		return fmt.Sprintf("%s is outside the workspace %s; use a path inside it", Quote(e.Path), Quote(e.Dir))
	}
	return fmt.Sprintf("%s leads to %s, outside the workspace %s; use a path inside it", Quote(e.Path), Quote(e.Target), Quote(e.Dir))
}

// HiddenError refuses a path that nobody may read or write.
type HiddenError struct {
	Path   string // as it was given
	Hidden string // the entry of the policy that it is, or lies in
}

func (e *HiddenError) Error() string {
	return fmt.Sprintf("%s is kept secret: %s may be neither read nor written here", Quote(e.Path), Quote(e.Hidden))
}

// ProtectedError refuses to change what may only be read.
type ProtectedError struct {
	Path      string // as it was given
	Protected string // the entry of the policy that it is, or lies in
}

func (e *ProtectedError) Error() string {
	return fmt.Sprintf("%s is protected: %s may be read, but not changed here", Quote(e.Path), Quote(e.Protected))
}

// SpecialError refuses what is neither a regular file nor a directory.
type SpecialError struct {
	Path string
	Kind string // such as "named pipe"
}

func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file; it is not opened", Quote(e.Path), e.Kind)
}

// DirectoryError refuses a directory where a file is wanted.
type DirectoryError struct{ Path string }

func (e *DirectoryError) Error() string { return Quote(e.Path) + " is a directory, not a file" }

// TooLargeError refuses to read a file beyond a limit.
type TooLargeError struct {
	Path        string
	Size, Limit int64 // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes; at most %d are read", Quote(e.Path), e.Size, e.Limit)
}

// regular returns an error unless mode is that of a regular file.
func regular(name string, mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &DirectoryError{name}
	}
	kind := "special file"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		kind = "named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	case mode&fs.ModeDevice != 0:
		kind = "device"
	case mode&fs.ModeSymlink != 0:
		kind = "link"
	}
	return &SpecialError{name, kind}
}

// tell puts the path as it was given, quoted, in the place of the one below the root, and gives an escape its type.
func (w *Workspace) tell(name string, err error) error {
	op, reason := "", error(nil)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		op, reason = e.Op, e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		op, reason = e.Op, e.Err
	} else {
		return err
	}
	// The os package has no name for this error.
	if reason.Error() == "path escapes from parent" {
		return &OutsideError{Path: name, Dir: w.dir}
	}
	return &fs.PathError{Op: strings.TrimSuffix(op, "at"), Path: Quote(name), Err: reason}
}
