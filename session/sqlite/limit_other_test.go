//go:build !unix

package sqlite

import "errors"

func limitFiles(uint64) error { return errors.ErrUnsupported }
