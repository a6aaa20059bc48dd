package gitdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
)

// aside is the directory, in a git directory, for files that the guard moved. Git does not look there.
const aside = "tenon-disarmed"

// disarm makes a git directory control git no more than before: it moves new files to the directory aside, and restores the old ones. It
// returns the names of the files, and those that it moved.
func (r reader) disarm(root *os.Root, at string, before, after contents, skip func(name string) bool) (what, moved []string, err error) {
	names := map[string]bool{}
	for _, files := range []map[string]file{before.files, after.files} {
		for name := range files {
			names[name] = true
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, was := before.files[name]
		now, is := after.files[name]
		if skip(name) || old.steers == now.steers {
			continue
		}
		if is {
			place, err := putAside(root, name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			moved = append(moved, place)
		}
		switch {
		case now.steers == "":
			what = append(what, name+", from which the guard removed settings")
		case strings.HasPrefix(name, "config"):
			what = append(what, name+": "+shorten(now.names))
		default:
			what = append(what, shorten(now.names))
		}
		if text := r.clean(now, at); is && old.steers == "" && text != nil && strings.HasPrefix(name, "config") {
			err = put(root, name, file{mode: now.mode, data: text})
		} else if was {
			err = put(root, name, old)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot restore %s: %w", name, err))
			err = nil
		}
	}
	return what, moved, errors.Join(errs...)
}

// shorten bounds a text that a command has chosen.
func shorten(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// putAside moves a file to the directory aside, and returns its path there.
func putAside(root *os.Root, name string) (string, error) {
	dir := aside
	for n := 2; ; n++ {
		if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if info, err := root.Lstat(dir); err != nil || info.IsDir() {
			break
		}
		dir = fmt.Sprintf("%s-%d", aside, n) // another file is in the way
	}
	place := path.Join(dir, strings.ReplaceAll(name, "/", "-"))
	for n := 2; ; n++ {
		if _, err := root.Lstat(place); err != nil {
			break
		}
		place = path.Join(dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(name, "/", "-"), n))
	}
	return place, root.Rename(name, place)
}

// put restores a file.
func put(root *os.Root, name string, f file) error {
	if f.lost {
		return errors.New("it was too large to be kept")
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if f.mode.Type() == fs.ModeSymlink {
		return root.Symlink(string(f.data), name)
	}
	made, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode.Perm())
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(f.data).WriteTo(made)
	return errors.Join(err, made.Chmod(f.mode.Perm()), made.Close())
}
