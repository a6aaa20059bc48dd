package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// defaultProcesses is how many processes and threads a command has at most, unless the policy says otherwise.
const defaultProcesses = 4096

// bounded recognises in a line of output, in small letters, that a command came to one of its limits.
func (c *Confined) bounded(low string) (Blocked, bool) {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	l := c.policy.Limits
	switch {
	case has("cannot fork") || has("resource temporarily unavailable", "eagain") && has("fork", "thread", "process", "clone", "spawn"):
		return Blocked{What: System, Why: fmt.Sprintf("a command has at most %d processes and threads at a time", cmp.Or(l.Processes, defaultProcesses))}, true
	case has("no space left on device", "enospc"):
		return Blocked{What: System, Why: "all temporary files of a command, and its caches without a directory, have a quarter of the machine's memory; or the disk is full"}, true
	case l.Memory > 0 && has("cannot allocate", "out of memory", "memoryerror", "bad_alloc", "memory exhausted"):
		return Blocked{What: System, Why: fmt.Sprintf("each process of a command has at most %d MiB of memory", l.Memory>>20)}, true
	}
	return Blocked{}, false
}
