package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// placement is something that is mounted on a path: a tree that was cloned before the root became read only, or a cover.
type placement struct {
	path  string
	from  string // what shows there
	tree  int    // its clone
	cover string // otherwise: what lies over the path: "hidden" or "empty", in /dev, an empty "home", or a "file"
	text  string // of a file
	lock  bool   // read only
	holds bool   // of a cover: something shows in it

	mounted bool // of a cover that holds something: it is a mount of its own, and not part of another cover
}

const safe = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// mounts makes the tree of files that the command sees. Every tree that will be writable is cloned before all of the root is
// made read only; then the clones and the covers are put on their paths, parents first.
func (s *spec) mounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return wall("mounts", err)
	}
	if err := s.proc(); err != nil {
		return wall("/proc", err)
	}
	trees := s.plan()
	if err := clones(trees, false); err != nil {
		return wall("files", err)
	}
	below := s.openLayers()
	devices, err := cloneDevices()
	if err != nil {
		return wall("/dev", err)
	}
	if err := setAttr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, safe|unix.MOUNT_ATTR_RDONLY); err != nil {
		return wall("read-only root", err)
	}
	if err := clones(trees, true); err != nil { // they are read-only now, too
		return wall("files", err)
	}
	if err := makeDev(devices, s.Limits.Temporary); err != nil {
		return wall("/dev", err)
	}
	covered, err := s.coverShared()
	if err != nil {
		return wall("temporary files", err)
	}
	for i := range trees {
		p := &trees[i]
		if err := p.put(); err != nil {
			return wall("files", fmt.Errorf("%s: %w", p.path, err))
		}
		if p.mounted {
			covered = append(covered, p.path)
		}
	}
	s.putLayers(below)
	for _, dir := range append(covered, "/dev") {
		if err := setAttr(unix.AT_FDCWD, dir, 0, unix.MOUNT_ATTR_RDONLY); err != nil {
			return wall("files", fmt.Errorf("%s: %w", dir, err))
		}
	}
	return nil
}

// proc shows the processes inside only. Where the kernel can, their number is bounded by the numbers that there are, which
// holds for root too; the other bound does not.
func (s *spec) proc() error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err != nil {
		return err
	}
	if n := s.Limits.Processes; n > 0 {
		_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(max(n, 301))), 0)
	}
	return nil
}

// plan is the placements for all paths of the policy, parents first.
func (s *view) plan() []placement {
	var all []placement
	for _, list := range []struct {
		paths []string
		lock  bool
	}{{s.Writes, false}, {s.Pins, false}, {s.Keeps, true}} {
		for _, path := range list.paths {
			all = append(all, placement{path: path, from: path, lock: list.lock})
		}
	}
	for _, v := range s.Views {
		all = append(all, placement{path: v.Path, from: v.Private})
		for _, name := range v.Live {
			all = append(all, placement{path: filepath.Join(v.Place, name), from: filepath.Join(v.Path, name)})
		}
		for _, name := range v.Fixed {
			all = append(all, placement{path: filepath.Join(v.Path, name), from: filepath.Join(v.Path, name), lock: true})
		}
	}
	for _, w := range s.Shows {
		all = append(all, placement{path: w.Path, from: w.From, lock: true})
	}
	for _, path := range s.Homes {
		all = append(all, placement{path: path, cover: "home"})
	}
	for _, f := range s.Files {
		all = append(all, placement{path: f.Path, cover: "file", text: f.Text})
	}
	for _, path := range s.Temps {
		all = append(all, placement{path: path, from: s.Temp})
	}
	for _, path := range s.Hides {
		all = append(all, placement{path: path, cover: "hidden"})
	}
	for _, path := range s.Empties {
		all = append(all, placement{path: path, cover: "empty"})
	}
	slices.SortStableFunc(all, func(a, b placement) int {
		return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
	})
	for i := range all {
		all[i].holds = slices.ContainsFunc(all[i+1:], func(p placement) bool { return p.cover == "" && paths.Inside(all[i].path, p.path) })
	}
	return all
}

// clones takes the trees of a plan that are locked, or those that are not.
func clones(plan []placement, lock bool) error {
	for i := range plan {
		p := &plan[i]
		if p.cover != "" || p.lock != lock {
			continue
		}
		tree, err := clone(p.from)
		if err == nil && !lock {
			err = setAttr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, safe)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.from, err)
		}
		p.tree = tree
	}
	return nil
}

// clone copies a tree of mounts, to be put in another place. No part of the path may be a link: it was resolved before, and one
// that is there now was put there since.
func clone(path string) (int, error) {
	fd, err := openPath(path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
}

func openPath(path string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS}
	return unix.Openat2(unix.AT_FDCWD, path, &how)
}

func setAttr(fd int, path string, flags uint, attr uint64) error {
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: attr})
}

// place puts a tree on a path.
func place(tree int, path string) error {
	defer unix.Close(tree)
	target, err := openPath(path)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return unix.MoveMount(tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// put puts it on its path. In a place that is covered, the way there is made first.
func (p *placement) put() error {
	info, err := os.Lstat(p.path)
	switch {
	case p.cover == "home":
		p.mounted = true
		return errors.Join(os.MkdirAll(p.path, 0o755), unix.Mount("home", p.path, "tmpfs", safeMount, "mode=755,size=4m"))
	case p.cover == "file":
		return errors.Join(os.MkdirAll(filepath.Dir(p.path), 0o755), os.WriteFile(p.path, []byte(p.text), 0o444))
	case p.cover != "":
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
			return nil // hidden already, with what it lies in
		case err != nil:
			return err
		}
		if info.IsDir() && p.holds {
			p.mounted = true
			return unix.Mount("hidden", p.path, "tmpfs", safeMount, "mode=711,size=1m")
		}
		name := "/dev/." + p.cover
		if p.cover == "hidden" && info.IsDir() {
			name += ".d"
		}
		p.tree, err = clone(name)
		if err != nil {
			return err
		}
		if err := setAttr(p.tree, "", unix.AT_EMPTY_PATH, safe|unix.MOUNT_ATTR_RDONLY); err != nil {
			return err
		}
		return place(p.tree, p.path)
	}
	if errors.Is(err, os.ErrNotExist) {
		if err := p.point(); err != nil {
			return err
		}
	}
	return place(p.tree, p.path)
}

// point makes something to mount on.
func (p *placement) point() error {
	if err := os.MkdirAll(filepath.Dir(p.path), 0o755); err != nil {
		return err
	}
	var info unix.Stat_t
	if err := unix.Fstat(p.tree, &info); err != nil {
		return err
	}
	err := error(nil)
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = os.Mkdir(p.path, 0o755)
	} else {
		err = os.WriteFile(p.path, nil, 0o644)
	}
	if errors.Is(err, os.ErrExist) { // another command of the session made it in the scratch directory
		err = nil
	}
	return err
}

var deviceNames = []string{"null", "zero", "full", "random", "urandom", "tty"}

func cloneDevices() (map[string]int, error) {
	trees := map[string]int{}
	for _, name := range deviceNames {
		tree, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if errors.Is(err, os.ErrNotExist) && name != "null" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		trees[name] = tree
	}
	return trees, nil
}

// makeDev makes a small /dev: no disks, no terminals of others, no memory. It also holds the covers, and all temporary files, which have one
// size together.
func makeDev(devices map[string]int, size int64) error {
	if err := unix.Mount("dev", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=755,size=1m"); err != nil {
		return err
	}
	for name, tree := range devices {
		if err := os.WriteFile("/dev/"+name, nil, 0o600); err != nil {
			return err
		}
		if err := place(tree, "/dev/"+name); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir("/dev/shm", 0o755), os.Mkdir(temporary, 0o700)); err != nil {
		return err
	}
	if err := unix.Mount("tmp", temporary, "tmpfs", safeMount, fmt.Sprintf("mode=700,size=%d", size)); err != nil {
		return err
	}
	if err := shareTemporary("/dev/shm"); err != nil {
		return err
	}
	// Terminals of its own, for programs that talk to others through one.
	if os.Mkdir("/dev/pts", 0o755) == nil && os.Symlink("pts/ptmx", "/dev/ptmx") == nil {
		_ = unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	}
	if err := os.Mkdir("/dev/.hidden.d", 0); err != nil {
		return err
	}
	if err := os.WriteFile("/dev/.hidden", nil, 0); err != nil {
		return err
	}
	return os.WriteFile("/dev/.empty", nil, 0o444)
}

// temporary is the file system of all temporary files. It stays, because taking it away costs more than all other mounts together; no command may
// write there by this name.
const temporary = "/dev/.temporary"

// shareTemporary puts a directory for temporary files in its place.
func shareTemporary(dir string) error {
	from := filepath.Join(temporary, strings.ReplaceAll(dir, "/", "-"))
	if err := errors.Join(os.Mkdir(from, 0o700), os.Chmod(from, 0o777|os.ModeSticky)); err != nil {
		return err
	}
	tree, err := clone(from)
	if err != nil {
		return err
	}
	return place(tree, dir)
}

const safeMount = unix.MS_NOSUID | unix.MS_NODEV

// shared is the places to cover that programs share with the rest of the machine.
func (s *view) shared() (dirs []string) {
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		path, err := filepath.EvalSymlinks(dir)
		if err != nil || path != dir || slices.Contains(s.Temps, dir) {
			continue // such as /var/tmp as a link to /tmp
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// runLinks is links in /run by which the programs of NixOS are found.
func runLinks() map[string]string {
	links := map[string]string{}
	for _, name := range []string{"/run/current-system", "/run/booted-system", "/run/opengl-driver"} {
		if target, err := os.Readlink(name); err == nil {
			links[name] = target
		}
	}
	return links
}

// coverShared covers what programs share with the rest of the machine: temporary files, and /run, where the sockets of daemons
// are. It returns those that are to be made read only when all is in its place.
func (s *spec) coverShared() (covered []string, err error) {
	links, keep := runLinks(), map[string]int{}
	for _, name := range runNames(s.Open) {
		if tree, err := clone(name); err == nil {
			keep[name] = tree
		}
	}
	for _, dir := range s.shared() {
		if dir == "/run" {
			err = unix.Mount("run", dir, "tmpfs", safeMount, "mode=755,size=4m")
			covered = append(covered, dir)
		} else {
			err = shareTemporary(dir)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, name); err != nil {
			return nil, err
		}
	}
	for name, tree := range keep {
		p := placement{path: name, tree: tree, lock: true}
		if err := p.put(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return covered, nil
}

// runNames is what else programs need of /run: where names are looked up.
func runNames(open bool) []string {
	path, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if !open || err != nil || !paths.Inside("/run", path) {
		return nil
	}
	return []string{path}
}
