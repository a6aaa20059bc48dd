package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// packed is the file with references that have no file in refs. Git replaces it, so that a command has a copy; refs is live. A command that packs
// references removes their files from refs: until they are back, programs outside miss them.
const packed = "packed-refs"

// locked makes the lock file of a file, as git does.
func locked(root *os.Root, name string) (held *os.File, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return nil, err
	}
	for range 100 {
		if held, err = root.OpenFile(name+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
			break
		}
		time.Sleep(10 * time.Millisecond) // git outside has it
	}
	return held, err
}

// save writes a text to a lock file and puts it in its place.
func save(root *os.Root, name string, held *os.File, text string) error {
	_, err := held.WriteString(text)
	if err = errors.Join(err, held.Chmod(0o644), held.Close()); err != nil {
		return errors.Join(err, root.Remove(name+".lock"))
	}
	return root.Rename(name+".lock", name)
}

// references returns the values of packed references by name.
func references(text []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if m := reference().FindStringSubmatch(line); m != nil && filepath.IsLocal(m[2]) && !strings.Contains(m[2], "..") && !strings.HasSuffix(m[2], ".lock") {
			all[m[2]] = m[1]
		}
	}
	return all
}

func reference() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}) (refs/[^\x00-\x20\x7f]+)\n?$`)
}

// bringPacked brings back what a command changed in the packed references: those that it packed get a file in refs again, and those that it
// removed go from the real ones.
func (v *View) bringPacked(private *os.Root) error {
	var before map[string]string
	if v.packed != nil {
		text, err := readAll(v.packed)
		if err != nil {
			return err
		}
		before = references(text)
	}
	text, err := readIndex(private, packed)
	if err != nil {
		return err
	}
	now := references(text)
	err = unpack(v.root, before, now)
	maps.DeleteFunc(before, func(name, _ string) bool { return now[name] != "" })
	if len(before) == 0 {
		return err
	}
	held, failed := locked(v.root, packed)
	if failed != nil {
		return errors.Join(err, failed)
	}
	text, failed = readIndex(v.root, packed)
	if failed != nil {
		return errors.Join(err, failed, held.Close(), v.root.Remove(packed+".lock"))
	}
	var rest strings.Builder
	dropped := false
	for line := range strings.Lines(string(text)) {
		if line[0] != '^' { // the commit of the tag before it
			m := reference().FindStringSubmatch(line)
			dropped = m != nil && before[m[2]] == m[1]
		}
		if !dropped {
			rest.WriteString(line)
		}
	}
	return errors.Join(err, save(v.root, packed, held, rest.String()))
}

// unpack makes the files of references that are packed with other values than before, and have none.
func unpack(root *os.Root, before, now map[string]string) (err error) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, exists := root.Lstat(name); before[name] == now[name] || exists == nil {
			continue
		}
		held, failed := locked(root, name)
		if failed == nil {
			failed = save(root, name, held, now[name]+"\n")
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("cannot bring back the reference %s: %w", name, failed))
		}
	}
	return err
}

// prefix begins the names of the directories with private ones.
const prefix = "tenon-git-"

// sweep removes the private directories of processes that were killed: nothing holds them any more. References that a command had packed come back.
// It leaves the directories of other repositories than mine to the processes that work there: commands can write references in mine in any case,
// so that no one gains anything with a directory that looks like a private one.
func sweep(mine map[string]bool) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < time.Minute { // a new one may not be held yet
			continue
		}
		base, err := hold(dir)
		if err != nil {
			continue
		}
		if restore(dir, mine) == nil {
			_ = removeTree(dir)
		}
		base.Close()
	}
}

// restore makes the files of references that are packed in a private directory and nowhere else.
func restore(dir string, mine map[string]bool) error {
	base, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer base.Close()
	at, err := readIndex(base, "path")
	switch {
	case err != nil || len(at) == 0:
		return nil // it was not made to the end
	case !mine[string(at)]:
		return fs.ErrPermission
	}
	root, err := os.OpenRoot(string(at))
	if err != nil {
		return nil // it is gone
	}
	defer root.Close()
	private, err := os.OpenRoot(filepath.Join(dir, "git"))
	if err != nil {
		return nil
	}
	defer private.Close()
	now, err := readIndex(private, packed)
	if err != nil {
		return nil
	}
	real, _ := readIndex(root, packed)
	return unpack(root, references(real), references(now))
}
