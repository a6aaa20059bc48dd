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
	Path   string // as given
	Target string // where it leads; empty when that is not known
	Dir    string // the workspace
}

// Error implements [error].
func (e *OutsideError) Error() string {
	if e.Target == "" || e.Target == e.Path {
		return fmt.Sprintf("%s is outside the workspace %s; use a path inside it", Quote(e.Path), Quote(e.Dir))
	}
	return fmt.Sprintf("%s leads to %s, outside the workspace %s; use a path inside it", Quote(e.Path), Quote(e.Target), Quote(e.Dir))
}

// Code returns "workspace.outside".
func (e *OutsideError) Code() string { return "workspace.outside" }

// HiddenError refuses a path that is hidden.
type HiddenError struct {
	Path   string // as given
	Hidden string // the entry of the policy that it is, or lies in
}

// Error implements [error].
func (e *HiddenError) Error() string {
	return fmt.Sprintf("%s is kept secret: %s can be neither read nor written here", Quote(e.Path), Quote(e.Hidden))
}

// Code returns "workspace.hidden".
func (e *HiddenError) Code() string { return "workspace.hidden" }

// ProtectedError refuses to change a file or directory that may only be read.
type ProtectedError struct {
	Path      string // as given
	Protected string // the entry of the policy that it is, or lies in
}

// Error implements [error].
func (e *ProtectedError) Error() string {
	return fmt.Sprintf("%s is protected: %s can be read, but not changed here", Quote(e.Path), Quote(e.Protected))
}

// Code returns "workspace.protected".
func (e *ProtectedError) Code() string { return "workspace.protected" }

// SpecialError refuses an entry that is neither a regular file nor a directory.
type SpecialError struct {
	Path string
	Kind string // such as "named pipe"
}

// Error implements [error].
func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file; it is not opened", Quote(e.Path), e.Kind)
}

// Code returns "workspace.special".
func (e *SpecialError) Code() string { return "workspace.special" }

// DirectoryError refuses a directory where a file is wanted.
type DirectoryError struct{ Path string }

// Error implements [error].
func (e *DirectoryError) Error() string { return Quote(e.Path) + " is a directory, not a file" }

// Code returns "workspace.directory".
func (e *DirectoryError) Code() string { return "workspace.directory" }

// TooLargeError refuses to read a file beyond a limit.
type TooLargeError struct {
	Path        string
	Size, Limit int64 // bytes
}

// Error implements [error].
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes; at most %d are read", Quote(e.Path), e.Size, e.Limit)
}

// Code returns "workspace.too_large".
func (e *TooLargeError) Code() string { return "workspace.too_large" }

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

// tell names the path as given, quoted, instead of the one below the root, and gives an escape its type.
func (b *boundary) tell(name string, err error) error {
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
		return &OutsideError{Path: name, Dir: b.dir}
	}
	return &fs.PathError{Op: strings.TrimSuffix(op, "at"), Path: Quote(name), Err: reason}
}
