package role

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/frontmatter"
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
		for _, name := range frontmatter.Folder(folder).Files() {
			r, err := read(frontmatter.Folder(folder), name)
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

func read(f frontmatter.Folder, name string) (Role, error) {
	text, err := f.Read(name)
	if err != nil {
		return Role{}, err
	}
	r, err := Parse(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), text)
	r.File = name
	return r, err
}
