package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Bubblewrap is another way to the same walls, for a machine that refuses namespaces to us and grants them to it: because it is
// setuid, or because the machine's rules name it. It makes the namespaces and the mounts. The helper then starts inside as the
// first process, looks whether everything is as the policy says, and puts up the rest as it always does.

// bubblewrapPlaces returns the paths of bubblewrap. PATH does not count, because a command could have made a file in it.
func bubblewrapPlaces() []string {
	return []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/wrappers/bin/bwrap", "/run/current-system/sw/bin/bwrap"}
}

// findBubblewrap returns the first of these that only root can have put there. If there is none, the error has the reason.
func findBubblewrap(places []string) (string, error) {
	refusal := fmt.Errorf("bubblewrap: %w", fs.ErrNotExist)
	for _, place := range places {
		path, err := filepath.EvalSymlinks(place)
		if err != nil {
			continue
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(place))
		if err == nil {
			err = ofRoot(dir)
		}
		if err == nil {
			err = ofRoot(path)
		}
		if err == nil {
			return path, nil
		}
		refusal = fmt.Errorf("%s is not used: %w", place, err)
	}
	return "", refusal
}

// ofRoot refuses a path that a user other than root could have changed or replaced.
func ofRoot(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0 // others may add there, not replace
		if !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 && !sticky {
			return fmt.Errorf("%s can be changed by others than root", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// identity is which file something is.
type identity struct{ Dev, Ino uint64 }

func identify(fd int) (identity, error) {
	var info unix.Stat_t
	err := unix.Fstat(fd, &info)
	return identity{uint64(info.Dev), info.Ino}, err
}

// namespaceNames is those that must be new inside. The network's comes with them unless it is open.
var namespaceNames = [...]string{"mnt", "pid", "ipc", "uts"}

// witness notes what the helper is to find inside: which file each path is now, and in which namespaces it is not.
func (s *spec) witness() error {
	s.Seen, s.Outer = map[string]identity{}, map[string]string{}
	for _, p := range s.plan() {
		if p.cover != "" {
			continue
		}
		if info, err := os.Lstat(p.from); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &UnavailableError{
				Wall: p.from + " is protected and a link, which bubblewrap cannot keep as it is", Why: "this machine refuses us namespaces of our own",
				Do: "allow user namespaces, replace the link, or run outside by decision",
			}
		}
		fd, err := openPath(p.from)
		if err != nil {
			return &os.PathError{Op: "open", Path: p.from, Err: err}
		}
		s.Seen[p.from], err = identify(fd)
		unix.Close(fd)
		if err != nil {
			return &os.PathError{Op: "stat", Path: p.from, Err: err}
		}
	}
	for _, name := range append(namespaceNames[:], "net", "user") {
		link, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return err
		}
		s.Outer[name] = link
	}
	return nil
}

// deaf starts bubblewrap with the signals ignored that go to a group of processes: they are for the command, as it sees fit.
// The helper inside hears them again, but cannot write its score for the case that memory runs out.
const deaf = `trap "" HUP INT QUIT TERM USR1 USR2 TSTP; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$0" "$@"`

// borrow makes cmd, which starts the helper, start it by way of bubblewrap. It returns the files that it needs for that.
func (s *spec) borrow(cmd *exec.Cmd, number int) (opened []*os.File, err error) {
	exe, err := os.OpenFile("/proc/self/exe", unix.O_PATH, 0) // it need not show inside under any name
	if err != nil {
		return nil, err
	}
	opened = append(opened, exe)
	next := 3 + len(cmd.ExtraFiles)
	add := func(f *os.File) string {
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		next++
		return strconv.Itoa(next - 1)
	}
	program := "/proc/self/fd/" + add(exe)
	var failed error
	text := func(content string) string {
		fd, err := unix.MemfdCreate("bubblewrap", unix.MFD_CLOEXEC)
		if err != nil {
			failed = err
			return ""
		}
		f := os.NewFile(uintptr(fd), "bubblewrap")
		opened = append(opened, f)
		_, err = f.WriteString(content)
		_, sought := f.Seek(0, 0)
		failed = errors.Join(failed, err, sought)
		return add(f)
	}
	list := text(strings.Join(append(s.arguments(text), ""), "\x00"))
	if failed != nil {
		return opened, failed
	}
	cmd.Path = "/bin/sh"
	cmd.Args = []string{"sh", "-c", deaf, s.Bubblewrap, "--args", list, "--", program, helperName, strconv.Itoa(number)}
	return opened, nil
}

// arguments returns the plan as arguments of bubblewrap: nearly that of mounts, in the same order. text adds a file with a
// content and returns its number.
func (s *spec) arguments(text func(string) string) []string {
	// Without --new-session: it prevents keys in a shared terminal, which the filter refuses, and signals of the group must arrive. Without --die-with-parent: it goes by the thread that started it; the helper sees to it.
	args := []string{"--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--as-pid-1", "--cap-drop", "ALL"}
	if os.Geteuid() == 0 {
		args = append(args, "--cap-add", "CAP_SETPCAP") // with which the helper takes from root what makes it root, and then this
	}
	if !s.Open {
		args = append(args, "--unshare-net")
	}
	size := strconv.FormatInt(max(s.Limits.Temporary/3, 1<<20), 10) // each has its own, at most three for temporary files
	info, err := os.Stat(s.Bubblewrap)
	bounded := err == nil && info.Mode()&fs.ModeSetuid == 0 // a setuid one refuses sizes
	memory := func(mode, path string) {
		if args = append(args, "--perms", mode); bounded {
			args = append(args, "--size", size)
		}
		args = append(args, "--tmpfs", path)
	}
	args = append(args, "--ro-bind", "/", "/", "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
	memory("1777", "/dev/shm")
	plan, shared, last := s.plan(), s.shared(), []string{"/dev"}
	for _, dir := range shared {
		if dir == "/run" {
			memory("0755", dir)
			last = append(last, dir)
		} else {
			memory("1777", dir)
		}
	}
	for name, target := range runLinks() {
		args = append(args, "--symlink", target, name)
	}
	for _, name := range runNames(s.Open) {
		args = append(args, "--ro-bind", name, name)
	}
	for _, p := range plan {
		switch {
		case p.cover == "" && p.lock:
			args = append(args, "--ro-bind", p.from, p.path)
		case p.cover == "":
			args = append(args, "--bind", p.from, p.path)
		case p.cover == "home":
			memory("0755", p.path)
			last = append(last, p.path)
		case p.cover == "file":
			args = append(args, "--perms", "0444", "--ro-bind-data", text(p.text), p.path)
		case buried(p.path, plan, shared):
			// hidden already, with what it lies in
		case p.cover == "empty":
			args = append(args, "--ro-bind-data", text(""), p.path)
		case !isDir(p.path):
			args = append(args, "--ro-bind", os.DevNull, p.path) // a device that cannot be opened: the mount forbids it
		case p.holds:
			memory("0711", p.path)
			last = append(last, p.path)
		default:
			memory("0000", p.path)
			args = append(args, "--remount-ro", p.path)
		}
	}
	for _, path := range last {
		args = append(args, "--remount-ro", path)
	}
	return args
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// buried reports whether a path lies in something that is covered, where it does not show.
func buried(path string, plan []placement, shared []string) bool {
	depth, covered := -1, false
	note := func(place string, cover bool) {
		if paths.Inside(place, path) && len(place) >= depth {
			depth, covered = len(place), cover
		}
	}
	for _, dir := range slices.Concat(shared, []string{"/dev", "/proc"}) {
		note(dir, true)
	}
	for _, p := range plan {
		if p.path != path || p.cover == "" {
			note(p.path, p.cover != "")
		}
	}
	return covered
}
