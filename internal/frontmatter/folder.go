package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The limits of a [Folder].
const (
	maxFile  = 64 << 10 // bytes of one file
	maxFiles = 500
	maxDepth = 4 // directories below the folder
)

// Folder is a directory with Markdown files, also in directories below it.
type Folder struct {
	Dir    string // absolute
	Within string // directory that contains its files after links are resolved; empty: any
}

// Files returns the Markdown files of the folder, sorted. A missing folder and unreadable directories have none.
func (f Folder) Files() (all []string) {
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

// Read returns the text of one file, which may be a link, but not to a place outside of Within.
func (f Folder) Read(name string) (string, error) {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if f.Within != "" {
		if rel, err := filepath.Rel(f.Within, resolved); err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("it is outside %s", f.Within)
		}
	}
	file, err := os.OpenFile(resolved, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	return strings.ToValidUTF8(string(data), "\ufffd"), err
}
