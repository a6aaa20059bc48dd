//go:build !linux

package workspace

import (
	"cmp"
	"errors"
	"io"
	"os"
)

// top is the tree that a walk goes through.
type top struct{ tree }

func openTop(t tree) (*top, error) { return &top{t}, nil }

func (*top) close() {}

func (t *top) openDir(rel string) (*os.File, error) { return t.tree.openDir(cmp.Or(rel, ".")) }

func (*top) openFile(string) (io.ReadCloser, int64, error) { return nil, 0, errors.ErrUnsupported }
