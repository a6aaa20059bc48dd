package rules

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of the project.
const module = "github.com/tenon-agent/tenon"

// tree is what the rules look at: the Go code below a directory, and the files that git tracks there.
type tree struct {
	fsys    fs.FS
	rooms   []*room
	tracked []string // slash paths in order; nil when this is no git checkout
}

// room is a directory with Go files.
type room struct {
	dir   string // below the module, "." for its root
	files []*source
}

// source is a parsed Go file.
type source struct {
	path  string
	test  bool // its name ends in _test.go
	text  []byte
	fset  *token.FileSet
	ast   *ast.File
	lines int
}

// public reports whether people import the room: it is API, and promises hold for it.
func (r *room) public() bool { return isPublic(r.dir) && len(r.code()) > 0 }

func isPublic(dir string) bool {
	parts := strings.Split(dir, "/")
	return parts[0] != "cmd" && parts[0] != "examples" && !slices.Contains(parts, "internal")
}

// code returns the files that are not tests.
func (r *room) code() []*source {
	return slices.DeleteFunc(slices.Clone(r.files), func(f *source) bool { return f.test })
}

// forTests reports whether the room exists for tests, as its name says: llmtest, storetest.
func (r *room) forTests() bool { return strings.HasSuffix(r.dir, "test") }

// imports returns the paths that the file imports.
func (f *source) imports() []string {
	var paths []string
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// at returns where a node stands, for messages.
func (f *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// read parses every Go file of the module below fsys, for all systems, as the go command would find them.
func read(fsys fs.FS) (*tree, error) {
	t := &tree{fsys: fsys}
	rooms := map[string]*room{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(fsys, p):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go" || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		f, err := parse(fsys, p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since the directory was read
		}
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		if rooms[dir] == nil {
			rooms[dir] = &room{dir: dir}
		}
		rooms[dir].files = append(rooms[dir].files, f)
		return nil
	})
	for _, dir := range slices.Sorted(maps.Keys(rooms)) {
		t.rooms = append(t.rooms, rooms[dir])
	}
	return t, err
}

// foreign reports whether the go command would not look for packages of this module in dir.
func foreign(fsys fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	name := path.Base(dir)
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func parse(fsys fs.FS, p string) (*source, error) {
	text, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{
		path: p, test: strings.HasSuffix(p, "_test.go"), text: text, fset: fset, ast: file,
		lines: bytes.Count(text, []byte("\n")),
	}, nil
}

// all yields every file of every room.
func (t *tree) all(yield func(*room, *source) bool) {
	for _, r := range t.rooms {
		for _, f := range r.files {
			if !yield(r, f) {
				return
			}
		}
	}
}

// texts yields the tracked files that are text, with their content.
func (t *tree) texts(yield func(name string, text []byte) bool) {
	for _, name := range t.tracked {
		text, err := fs.ReadFile(t.fsys, name)
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			continue // a link to a directory, removed since, or not text
		}
		if !yield(name, text) {
			return
		}
	}
}

// project reads the tree that this test belongs to.
func project(t *testing.T) *tree {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(os.DirFS(root))
	if err != nil {
		t.Fatalf("reading the project: %v", err)
	}
	p.tracked, err = tracked(t, root)
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("the rules about tracked files need git: %v", err)
	case err != nil:
		t.Logf("not checked: the rules about tracked files, because this is no git checkout (%v)", err)
	}
	return p
}

// tracked asks git for the files of the checkout at root, without those that were deleted in it.
func tracked(t *testing.T, root string) ([]string, error) {
	// The index is looked at so that a cached test result ends when it changes.
	if _, err := os.Stat(filepath.Join(root, ".git", "index")); err != nil {
		t.Logf("no index: %v", err)
	}
	// The checkout may belong to another user, as it does in containers. Listing it is harmless.
	cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("git tracks no file here")
	}
	return names, nil
}
