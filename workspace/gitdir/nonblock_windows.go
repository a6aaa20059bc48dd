package gitdir

import (
	"errors"
	"os"
)

const nonblock = 0

// hold fails: there are no views here.
func hold(string) (*os.File, error) { return nil, errors.ErrUnsupported }
