package workspace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// ruleStack is the ignore files that hold for a place in the tree.
type ruleStack struct {
	prefix string  // the path from the top of the repository to the root of the workspace; "" when they are the same
	rules  []rules // those that win last
}

// rules are the patterns of one directory.
type rules struct {
	dir  string // from the top of the repository, "" for the top
	list []rule // those that win last
}

// with is the stack with the rules of a directory of the workspace on top. It does not change s, which others read.
func (s ruleStack) with(rel string, list []rule) ruleStack {
	if len(list) > 0 {
		s.rules = append(slices.Clip(s.rules), rules{path.Join(s.prefix, rel), list})
	}
	return s
}

// ignore reports whether a path of the workspace is excluded; its parents are not.
func (s *ruleStack) ignore(rel string, isDir bool) bool {
	if s.prefix != "" {
		rel = s.prefix + "/" + rel
	}
	return ignored(s.rules, rel, isDir)
}

// ignored judges a path from the top of the repository, by the rules of the deepest directory first.
func ignored(all []rules, name string, isDir bool) bool {
	for _, set := range slices.Backward(all) {
		rel := name
		if set.dir != "" {
			rel = name[len(set.dir)+1:]
		}
		for _, r := range slices.Backward(set.list) {
			if r.match(rel, isDir) {
				return !r.negated
			}
		}
	}
	return false
}

// rulesIn reads the ignore files of a directory. Those of .ignore win.
func (t tree) rulesIn(rel string, entries []fs.DirEntry) []rule {
	var list []rule
	for _, name := range []string{".gitignore", ".ignore"} {
		if i, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int {
			return strings.Compare(e.Name(), name)
		}); ok && entries[i].Type().IsRegular() {
			list = append(list, t.readRules(path.Join(rel, name))...)
		}
	}
	return list
}

// readRules reads one ignore file. One that is not there, or that cannot be read, excludes nothing.
func (t tree) readRules(rel string) []rule {
	f, err := place{tree: t, rel: filepath.FromSlash(rel), abs: rel}.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := readAll(f, rel, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return parseRules(string(data))
}

// rulesAbove are the rules that hold for what lies in a directory of the workspace: those of the directories above it, up to
// the top of the repository, and of its exclude file. Who walks what is ignored wants to see it: then only what is below counts.
func (t tree) rulesAbove(rel string) ruleStack { return t.rulesWith(rel, readOutside(t.excludeFile())) }

// excludeFile is where a person's own rules for the repository stand.
func (t tree) excludeFile() string { return filepath.Join(t.top(), ".git", "info", "exclude") }

// rulesWith is rulesAbove with the rules of the exclude file given.
func (t tree) rulesWith(rel string, exclude []rule) ruleStack {
	top := t.top()
	prefix, ok := paths.Rel(top, t.dir)
	if !ok || prefix == "." {
		prefix = ""
	}
	stack := ruleStack{prefix: filepath.ToSlash(prefix)}
	if len(exclude) > 0 {
		stack.rules = append(stack.rules, rules{"", exclude})
	}
	whole := path.Join(stack.prefix, rel)
	for dir := ""; dir != whole; {
		here := filepath.Join(top, filepath.FromSlash(dir))
		var list []rule
		if below, ok := paths.Rel(t.dir, here); ok {
			below = filepath.ToSlash(below)
			list = append(t.readRules(path.Join(below, ".gitignore")), t.readRules(path.Join(below, ".ignore"))...)
		} else {
			list = readOutside(filepath.Join(here, ".gitignore"))
		}
		if len(list) > 0 {
			stack.rules = append(stack.rules, rules{dir, list})
		}
		part, _, _ := strings.Cut(strings.TrimPrefix(whole[len(dir):], "/"), "/")
		if dir = path.Join(dir, part); ignored(stack.rules, dir, true) {
			return ruleStack{prefix: stack.prefix}
		}
	}
	return stack
}

// top is the directory of the repository that the workspace lies in, or the workspace where there is none.
func (t tree) top() string {
	if _, err := t.root.Lstat(".git"); err == nil {
		return t.dir
	}
	for dir := t.dir; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return t.dir
}

// readOutside reads rules above the root: they are only matched with, never shown.
func readOutside(name string) []rule {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return parseRules(string(data))
}
