//go:build !linux

package workspace

import "os"

// events are not known here: looks visit all directories.
type events struct{}

func (*events) watch(*os.File, string) bool { return false }

func (*events) take(func(dir string)) bool { return true }

func (*events) close() {}

func (*events) kept() {}
