package permission

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// pathPattern is a pattern of files in gitignore style. One that fits a directory fits all below it.
type pathPattern struct {
	glob   string // with slashes; from the workspace, from the home directory or absolute
	home   bool
	abs    bool
	below  bool   // only paths below it: the pattern ended in a slash
	prefix string // the directory of all paths that match, "" if there is none
}

func parsePath(s string) (pathPattern, error) {
	var p pathPattern
	s = filepath.ToSlash(s)
	if s == "" || strings.HasPrefix(s, "!") {
		return p, errors.New("not a path pattern; use src/**, *.md, ~/notes or /etc/hosts")
	}
	if rest, ok := strings.CutSuffix(s, "/"); ok && rest != "" {
		s, p.below = rest, true
	}
	switch {
	case s == "~" || strings.HasPrefix(s, "~/"):
		p.home, s = true, strings.TrimPrefix(s[1:], "/")
	case strings.HasPrefix(s, "/") || filepath.IsAbs(filepath.FromSlash(s)):
		p.abs = true
	case strings.HasPrefix(s, "./"):
		s = s[2:]
	case !strings.Contains(s, "/") && s != "**" && s != ".":
		s = "**/" + s
	}
	if s = path.Clean(s); s == ".." || strings.HasPrefix(s, "../") {
		return p, errors.New("it leads out of the workspace; use an absolute path, or one that starts with ~/")
	}
	if !doublestar.ValidatePattern(s) {
		return p, errors.New("missing closing bracket in the pattern")
	}
	p.glob = s
	dir, rest := doublestar.SplitPattern(s)
	if p.prefix = dir; rest == "" || dir == "." {
		p.prefix = ""
	}
	if !hasMeta(s) {
		p.prefix = s
	}
	return p, nil
}

func hasMeta(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// bases are the directories that the pattern starts from; "" is that of absolute patterns.
func (p pathPattern) bases(roots []string, home string) []string {
	switch {
	case p.abs:
		return []string{""}
	case p.home && home == "":
		return nil
	case p.home:
		return []string{home}
	}
	return roots
}

// relative returns a path as the pattern sees it.
func relative(base, name string) (string, bool) {
	if base == "" {
		return filepath.ToSlash(paths.Key(name)), true
	}
	rel, ok := paths.Rel(base, name)
	return filepath.ToSlash(paths.Key(rel)), ok
}

// covers reports whether the pattern fits a path with all that may be below it.
func (p pathPattern) covers(name string, roots []string, home string) bool {
	for _, base := range p.bases(roots, home) {
		rel, ok := relative(base, name)
		if !ok {
			continue
		}
		if p.below {
			rel = path.Dir(rel)
		}
		if p.fits(rel) {
			return true
		}
	}
	return false
}

func (p pathPattern) fits(rel string) bool {
	glob := paths.Key(p.glob)
	if glob == "." || glob == "**" {
		return true
	}
	ok, err := doublestar.Match(strings.TrimSuffix(glob, "/")+"/**", rel)
	return ok && err == nil
}

// hits reports whether an ask or deny rule with the pattern matches a path. A tree includes all paths below it.
func (p pathPattern) hits(name string, tree bool, roots []string, home string) certainty {
	if p.below && tree {
		p.below = false
	}
	if p.covers(name, roots, home) {
		return yes
	}
	if !tree {
		return no
	}
	if all, ok := strings.CutSuffix(p.glob, "/**"); ok {
		whole := p
		if whole.glob = all; whole.covers(name, roots, home) {
			return yes
		}
	}
	for _, base := range p.bases(roots, home) {
		start := filepath.Join(base, filepath.FromSlash(p.prefix))
		if base == "" && p.prefix == "" {
			start = string(filepath.Separator)
		}
		inner, outer := paths.Inside(name, start), paths.Inside(start, name)
		if inner || outer && p.glob != p.prefix {
			return maybe
		}
	}
	return no
}

// apart reports whether no file that a pattern of the shell names is one that this pattern means: *.go and *.pem. Where a name may
// be that of a directory it is not known.
func (p pathPattern) apart(pattern string) bool {
	dir, last := path.Split(pattern)
	own, anywhere := strings.CutPrefix(p.glob, "**/")
	if !anywhere || strings.Contains(own, "/") || strings.ContainsAny(dir, "*?[") {
		return false
	}
	end := last[strings.LastIndexAny(last, "*?]")+1:]
	if !strings.Contains(end, ".") {
		return false
	}
	if !hasMeta(own) {
		ok, err := path.Match(last, own)
		return !ok && err == nil
	}
	ours := own[strings.LastIndexAny(own, `*?]}\`)+1:]
	return !strings.HasSuffix(end, ours) && !strings.HasSuffix(ours, end)
}
