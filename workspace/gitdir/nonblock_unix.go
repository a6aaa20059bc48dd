//go:build unix

package gitdir

import "syscall"

// nonblock lets an open of a pipe return at once.
const nonblock = syscall.O_NONBLOCK
