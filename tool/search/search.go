package search

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// New returns the tools glob and grep for a workspace.
func New(ws *workspace.Workspace) []tool.Tool {
	s := set{ws}
	return []tool.Tool{s.glob(), s.grep()}
}

type set struct{ ws *workspace.Workspace }

func (s set) reads(name string) (tool.Effects, error) {
	abs, err := s.ws.Resolve(cmp.Or(name, "."))
	return tool.Effects{Reads: []tool.Path{tool.Tree(abs)}, Idempotent: true}, err
}

func title(pattern, path string) string {
	if path == "" || path == "." {
		return pattern
	}
	return pattern + " in " + path
}

// start returns the directory or file where a search begins, from the root.
func (s set) start(ctx context.Context, name string) (string, error) {
	name = cmp.Or(name, ".")
	if _, err := s.ws.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", tool.NotFound(ctx, s.ws, name, workspace.Quote)
	} else if err != nil {
		return "", err
	}
	abs, err := s.ws.Resolve(name)
	return s.ws.Rel(abs), err
}

type nameFilter struct {
	pattern string
	anyDir  bool // the pattern matches names in all directories
}

func newNameFilter(ws *workspace.Workspace, pattern string) (nameFilter, error) {
	pattern = strings.TrimPrefix(filepath.ToSlash(pattern), "./")
	if rest, ok := strings.CutPrefix(pattern, filepath.ToSlash(ws.Dir())+"/"); ok {
		pattern = rest
	}
	pattern = strings.TrimSuffix(pattern, "/")
	if !doublestar.ValidatePattern(pattern) {
		return nameFilter{}, tool.Codef("tool.arguments", "the pattern %q is not valid: a bracket or brace is not closed, or it ends in a backslash", pattern)
	}
	return nameFilter{pattern, !strings.Contains(pattern, "/")}, nil
}

// match reports whether a path from the root, below start, matches.
func (f nameFilter) match(start, name string) bool {
	switch {
	case f.anyDir:
		name = path.Base(name)
	case start != ".":
		if f.pattern == name || doublestar.MatchUnvalidated(f.pattern, name) {
			return true // some models repeat the path in the pattern
		}
		name = strings.TrimPrefix(name, start+"/")
	}
	return doublestar.MatchUnvalidated(f.pattern, name)
}

// maxUnseen is how many skipped files and directories a result names.
const maxUnseen = 3

// unseen is the note about skipped files and directories.
func unseen(some []string, all int) string {
	text := "not searched: " + strings.Join(some, ", ")
	if all > len(some) {
		text += fmt.Sprintf(" and %d more", all-len(some))
	}
	return text
}

func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

//go:embed glob.md
var globText string

//go:embed grep.md
var grepText string
