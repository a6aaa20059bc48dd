package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// verify compares the work of bubblewrap with the policy, because its version is not known and files may have moved meanwhile: the namespaces
// are new, every planned path is the same file and mounted as planned, and no other reachable path is writable.
func (s *spec) verify() error {
	// This process must not outlive bubblewrap, which waits for it outside.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getpid() != 1 {
		return errors.New("it made no process namespace")
	}
	names := namespaceNames[:]
	if !s.Open {
		names = append(slices.Clone(names), "net")
	}
	for _, name := range names {
		link, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return err
		}
		if outer := s.Outer[name]; outer == "" || link == outer {
			return fmt.Errorf("it made no namespace of the kind %q", name)
		}
	}
	if link, err := os.Readlink("/proc/self/ns/user"); err == nil && link != s.Outer["user"] && s.Limits.Processes == 0 {
		s.Limits.Processes = 4096 // counted in there
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	mounts, err := parseMounts(string(text))
	if err != nil {
		return err
	}
	plan, shared := s.plan(), s.shared()
	for _, p := range plan {
		if p.cover != "" && buried(p.path, plan, shared) {
			continue
		}
		if err := p.verify(s.Seen[p.from]); err != nil {
			return fmt.Errorf("%s is not as planned: %w", p.path, err)
		}
	}
	for _, m := range mounts {
		if err := m.verify(plan, shared); err != nil {
			return fmt.Errorf("the mount on %s: %w", m.path, err)
		}
	}
	return nil
}

// verify looks at what lies on one planned path.
func (p *placement) verify(seen identity) error {
	fd, err := openPath(p.path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var info unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &info); err != nil {
		return err
	}
	if info.Attributes_mask&info.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return errors.New("nothing is mounted there")
	}
	kind := info.Mode & unix.S_IFMT
	switch {
	case p.cover == "":
		if now, err := identify(fd); err != nil || now != seen {
			return errors.Join(errors.New("it is another file than before"), err)
		}
	case p.cover == "home":
		var system unix.Statfs_t
		if err := unix.Fstatfs(fd, &system); err != nil || system.Type != unix.TMPFS_MAGIC || info.Mode&0o777 != 0o755 {
			return errors.Join(errors.New("it is not empty"), err)
		}
	case p.cover == "file":
		if kind != unix.S_IFREG || info.Size != uint64(len(p.text)) {
			return errors.New("it is another file")
		}
	case p.cover == "empty":
		if kind != unix.S_IFREG || info.Size != 0 {
			return errors.New("it is not empty")
		}
	case kind == unix.S_IFDIR:
		if mode := info.Mode & 0o777; mode != 0 && (mode != 0o711 || !p.holds) {
			return errors.New("it can be read")
		}
	case kind != unix.S_IFCHR || info.Rdev_major != 1 || info.Rdev_minor != 3:
		return errors.New("it is not hidden")
	}
	return nil
}

// mount is one line of the kernel's table.
type mount struct {
	id      int
	path    string
	options []string
}

// verify refuses a mount that can be reached and allows more than the policy does at its path.
func (m *mount) verify(plan []placement, shared []string) error {
	var info unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, m.path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &info)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == nil && info.Mask&unix.STATX_MNT_ID != 0 && info.Mnt_id != uint64(m.id) {
		return nil // something else lies over it
	}
	if err != nil {
		return err
	}
	writable, device := allowedAt(m.path, plan, shared)
	for _, want := range []struct {
		option string
		need   bool
	}{{"ro", !writable}, {"nosuid", true}, {"nodev", !device}} {
		if want.need && !slices.Contains(m.options, want.option) {
			return fmt.Errorf("it is not %s", want.option)
		}
	}
	return nil
}

// allowedAt says what a mount on a path may be: its nearest place decides.
func allowedAt(path string, plan []placement, shared []string) (writable, device bool) {
	depth := -1
	note := func(place string, may bool) {
		if paths.Inside(place, path) && len(place) >= depth {
			depth, writable = len(place), may
		}
	}
	note("/", false)
	note("/dev", false)
	note("/proc", false)
	note("/dev/shm", true)
	note("/dev/pts", true)
	for _, dir := range shared {
		note(dir, dir != "/run")
	}
	for _, p := range plan {
		note(p.path, p.cover == "" && !p.lock)
	}
	name, ok := strings.CutPrefix(path, "/dev/")
	if ok && slices.Contains(append([]string{"pts", "console"}, deviceNames...), name) {
		return true, true
	}
	return writable, false
}

// parseMounts reads a table as in /proc/self/mountinfo.
func parseMounts(text string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			return nil, fmt.Errorf("the kernel's table of mounts has the line %q", line)
		}
		id, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, fmt.Errorf("the kernel's table of mounts has the line %q", line)
		}
		path := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		mounts = append(mounts, mount{id, path, strings.Split(fields[5], ",")})
	}
	return mounts, nil
}
