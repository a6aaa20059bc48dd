package role

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// The limits of the search.
const (
	maxFile  = 64 << 10 // bytes of one file
	maxFiles = 200      // of one folder
	maxDepth = 4        // directories below a folder
)

// Folder is a directory with a Markdown file for each role, also in directories below it.
type Folder struct {
	Dir    string // absolute
	Within string // directory that contains its files after links are resolved; empty: any
}

// Found is the roles of folders.
type Found struct {
	Roles    []Role  // sorted by name
	Problems []error // invalid files, each with its name
}

// Find returns the built-in roles and those in folders. Of two roles with the same name the one in the later folder counts. A missing folder
// has none.
func Find(folders []Folder) Found {
	byName := make(map[string]Role)
	for _, r := range BuiltIn() {
		byName[r.Name] = r
	}
	var f Found
	for _, folder := range folders {
		for _, name := range folder.files() {
			r, err := folder.read(name)
			if err != nil {
				f.Problems = append(f.Problems, fmt.Errorf("%s: %w", name, err))
				continue
			}
			byName[r.Name] = r
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.Roles = append(f.Roles, byName[name])
	}
	return f
}

// files returns the Markdown files of the folder, sorted. Unreadable directories have none.
func (f Folder) files() (all []string) {
	_ = filepath.WalkDir(f.Dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && strings.Count(strings.TrimPrefix(name, f.Dir), string(filepath.Separator)) > maxDepth:
			return fs.SkipDir
		case !d.IsDir() && strings.EqualFold(filepath.Ext(name), ".md") && !strings.HasPrefix(d.Name(), "."):
			all = append(all, name)
		}
		if len(all) == maxFiles {
			return fs.SkipAll
		}
		return nil
	})
	return all
}

// read reads one file, which may be a link, but not to a place outside of Within.
func (f Folder) read(name string) (Role, error) {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return Role{}, err
	}
	if f.Within != "" && !paths.Inside(f.Within, resolved) {
		return Role{}, fmt.Errorf("it is outside %s", f.Within)
	}
	file, err := os.OpenFile(resolved, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Role{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return Role{}, err
	case !info.Mode().IsRegular():
		return Role{}, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return Role{}, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return Role{}, err
	}
	r, err := Parse(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), strings.ToValidUTF8(string(data), "\ufffd"))
	r.File = name
	return r, err
}
