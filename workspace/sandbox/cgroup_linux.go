package sandbox

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// group is the control group of one command. Its limits hold for all processes of the command together, and temporary files in memory count.
type group struct {
	dir   string
	procs *os.File // a process that writes 0 to it enters the group
}

const groupPrefix = "tenon-"

// lookGroups returns the control group of this process if it may make others with limits for memory and processes next to it: a group with
// processes cannot limit groups in it. Empty: it may not.
func lookGroups() string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	_, own, ok := strings.Cut("\n"+string(text), "\n0::")
	own, _, _ = strings.Cut(own, "\n")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if !ok || err != nil || strings.HasPrefix(own, "/..") {
		return ""
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if !strings.Contains(line, " - cgroup2 ") || len(fields) < 5 {
			continue
		}
		rest, inside := strings.CutPrefix(own, strings.TrimSuffix(fields[3], "/"))
		if inside && strings.Trim(rest, "/") != "" {
			return usableGroups(filepath.Join(fields[4], rest))
		}
	}
	return ""
}

// usableGroups returns a group, if this process may make others next to it and enter them.
func usableGroups(own string) string {
	parent := filepath.Dir(own)
	have, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	controllers := strings.Fields(string(have))
	if err != nil || !slices.Contains(controllers, "memory") || !slices.Contains(controllers, "pids") ||
		unix.Access(parent, unix.W_OK) != nil || unix.Access(filepath.Join(parent, "cgroup.procs"), unix.W_OK) != nil {
		return ""
	}
	return own
}

// group makes a group for the command next to that of this process, whose own limits hold in it, too; nil: none can be made.
func (c *Confined) group() *group {
	own, limits := c.policy.look().Groups, c.policy.Limits
	if own == "" {
		return nil
	}
	narrow := func(name string, most int64) string {
		text, _ := os.ReadFile(filepath.Join(own, name))
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n < most {
			most = n
		}
		return strconv.FormatInt(most, 10)
	}
	most := cmp.Or(limits.Together, machine()/4*3)
	g, err := makeGroup(filepath.Dir(own), [][2]string{
		{"memory.max", narrow("memory.max", most)},
		{"memory.oom.group", "1"},
		{"pids.max", narrow("pids.max", int64(cmp.Or(limits.Processes, defaultProcesses)))},
	})
	if err != nil {
		return nil
	}
	c.release = func() {
		if g.close() {
			c.made = append(c.made, Blocked{What: System, Why: fmt.Sprintf(
				"all processes and temporary files of a command have at most %d MiB of memory together; the kernel ended the command", most>>20)})
		}
	}
	return g
}

// makeGroup makes a group with limits, and removes those of processes that were killed.
func makeGroup(parent string, limits [][2]string) (*group, error) {
	left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range left {
		name, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if pid, err := strconv.Atoi(name); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = unix.Rmdir(dir) // not if it has processes
		}
	}
	dir, err := os.MkdirTemp(parent, fmt.Sprintf("%s%d-", groupPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	g := &group{dir: dir}
	for _, l := range limits {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, l[0]), []byte(l[1]), 0))
	}
	_ = os.WriteFile(filepath.Join(dir, "memory.swap.max"), []byte("0"), 0) // not every kernel has it
	if err == nil {
		g.procs, err = os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Rmdir(dir))
	}
	return g, nil
}

// close removes the group, and reports whether the memory in it came to its limit. If a process of it is still ending, the next group removes it.
func (g *group) close() (full bool) {
	events, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	_, kills, _ := bytes.Cut(events, []byte("\noom_kill "))
	_ = unix.Rmdir(g.dir)
	g.procs.Close()
	return len(kills) > 0 && kills[0] != '0'
}
