package permission

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/workspace/gitdir"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// mostNames bounds the files of which Tenon looks at the names for one command.
const mostNames = 100_000

var errOdd = errors.New("odd")

// look looks at the files whose names a command reads as words. Odd says that a name may be more than the name of a file in the
// workspace, and the need is that of the command then.
func (e *environment) look(c *command.Command) (n need, odd bool) {
	left := mostNames
	n = need{own: true}
	stop := func(k kind, text string) error {
		n.kind, n.text = k, text
		return errOdd
	}
	name := func(shown string) error {
		all := words(shown)
		switch {
		case len(all) > 1 && strings.ContainsAny(shown, quotes):
			return stop(unknownCommand, "a name of a file has quotes and spaces: "+shown)
		case strings.HasPrefix(shown, "-"), strings.Contains(shown, "/-"):
			return stop(unknownCommand, "a name of a file may be an option: "+shown)
		}
		for i, word := range all {
			if i > 0 && strings.ContainsAny(word, "*?[") {
				return stop(unknownCommand, "a name of a file has a pattern: "+shown)
			}
			if misleads(word, i == 0 && strings.HasPrefix(shown, "/")) {
				return stop(unknownCommand, "a name of a file may be an option or lead elsewhere: "+shown)
			}
			if i == 0 {
				continue
			}
			if at, k := e.behind(c.Dir + "/" + word); k != readInside {
				return stop(k, "reads "+at+", as a name of a file says: "+shown)
			}
		}
		return nil
	}
	link := func(at string, d fs.DirEntry) error {
		if d != nil && d.Type()&fs.ModeSymlink != 0 {
			if to, k := e.behind(at); k != readInside {
				return stop(k, "reads "+to+" through the link "+at)
			}
		}
		return nil
	}
	visit := func(at string, d fs.DirEntry, err error) error {
		shown, inside := strings.CutPrefix(at, c.Dir+"/")
		switch left--; {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || left < 0:
			return stop(unknownCommand, "the names of the files below "+at+" cannot be determined")
		case !inside && at == c.Dir:
			return nil
		}
		if err := name(shown); err != nil {
			return err
		}
		return link(at, d)
	}
	for _, listed := range c.Names {
		if path.Base(listed) == ".git" {
			tracked, err := trackedBelow(path.Dir(listed))
			if err != nil {
				_ = stop(unknownCommand, "the names of the files that git tracks cannot be determined")
			}
			if err != nil || slices.ContainsFunc(tracked, func(shown string) bool { return name(shown) != nil }) {
				return n, true
			}
			continue
		}
		starts := []string{listed}
		if strings.ContainsAny(listed, "*?[") {
			if starts = []string{literal(listed)}; !strings.Contains(listed, "[") {
				starts, _ = filepath.Glob(listed) // a valid pattern
			}
		}
		for _, start := range starts {
			real := e.resolver.Guess(start).Path
			if !contains(e.roots, real) {
				_ = stop(unknownCommand, "takes the names of files below "+start+" for words")
				return n, true
			}
			if info, err := os.Lstat(start); err == nil && visit(start, fs.FileInfoToDirEntry(info), nil) != nil {
				return n, true
			}
			if filepath.WalkDir(real, visit) != nil {
				return n, true
			}
		}
	}
	for _, start := range c.ReadPaths {
		if !c.Follows || start == "" {
			continue
		}
		if strings.ContainsAny(start, "*?[") {
			start = literal(start)
		}
		real := e.resolver.Guess(start).Path
		if !contains(e.roots, real) { // that is a need of its own
			continue
		}
		if filepath.WalkDir(real, func(at string, d fs.DirEntry, err error) error {
			if left--; left < 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
				return stop(readSomewhere, "the links below "+start+" cannot be determined")
			}
			return link(at, d)
		}) != nil {
			return n, true
		}
	}
	return n, false
}

// largestIndex bounds the size of an index that Tenon reads for one command.
const largestIndex = 64 << 20

// trackedBelow returns the paths that git tracks in the repository of a directory, none if it is in no repository.
func trackedBelow(dir string) ([]string, error) {
	for ; ; dir = path.Dir(dir) {
		at := path.Join(dir, ".git")
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != path.Dir(dir):
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, err
		case !info.IsDir(): // of a worktree or a submodule
			text, err := gitdir.Read(at, largestIndex)
			to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !ok {
				return nil, errOdd
			}
			if at = to; !filepath.IsAbs(to) {
				at = path.Join(dir, to)
			}
		}
		at = path.Join(at, "index")
		data, err := gitdir.Read(at, largestIndex)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, errOdd
		}
		return gitdir.Tracked(data)
	}
}

// behind returns the path that a name leads to, and the kind of reading it.
func (e *environment) behind(name string) (string, kind) {
	at := e.resolver.Guess(filepath.FromSlash(name)).Path
	if paths.Magic(at) {
		return at, readSomewhere
	}
	return at, e.placed(at, false)
}

// quotes are the characters that xargs removes.
const quotes = `"'\`

// words takes a name apart as shells and xargs do at most.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r <= ' ' || unicode.IsSpace(r) || r == unicode.ReplacementChar })
}

// misleads reports whether a word of a name may be something else than the name of a file in the directory.
func misleads(word string, absolute bool) bool {
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(quotes, r) {
			return -1
		}
		return r
	}, word)
	parts := strings.Split(bare, "/")
	return strings.HasPrefix(bare, "/") && !absolute || slices.ContainsFunc(parts, func(p string) bool {
		return p == ".." || len(p) > 1 && p[0] == '-'
	})
}

// imports reports whether python may import a module from a directory in place of one of its own.
func imports(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(entries, func(d fs.DirEntry) bool {
		switch ext := filepath.Ext(d.Name()); {
		case ext == ".py" || ext == ".pyc" || ext == ".pyd" || ext == ".so":
			return true
		case d.Type().IsRegular():
			return false
		}
		inner, err := filepath.Glob(filepath.Join(dir, d.Name(), "__init__.*"))
		return err != nil || len(inner) > 0
	})
}
