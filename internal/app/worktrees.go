package app

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// worktreesName is the directory in the data directory with the private parts of the worktrees. Their files are in a directory next to the data
// directory, because no command may reach the data directory.
const worktreesName = "worktrees"

// Worktrees returns the worktrees of sub-agents and parallel runs.
func (a *App) Worktrees() worktree.Store {
	return worktree.Store{Private: filepath.Join(a.Dir, worktreesName), Files: a.Dir + "-" + worktreesName}
}

// Within returns the bounds and the policy of work in a worktree of a project: those of the project, for the copies of its files, and with these
// hosts. The further roots of the project are only readable, because a worktree has no copies of them.
func Within(s *Setup, w *worktree.Worktree, p Permissions, hosts []string) (Bounds, *permission.Policy, error) {
	from, to := filepath.Join(w.Root, filepath.FromSlash(w.Sub)), w.Dir()
	own, c := *s, *s.Config
	roots := s.paths(from, c.Roots)
	c.Roots = nil
	for _, list := range []*[]string{&c.Sandbox.Hidden, &c.Sandbox.Protected, &p.Ask, &p.Deny} {
		*list = slices.Clone(*list)
		for _, text := range *list {
			if there := strings.ReplaceAll(text, from, to); there != text {
				*list = append(*list, there)
			}
		}
	}
	for _, list := range []*[]config.Rule{&c.Permissions.Ask, &c.Permissions.Deny} {
		*list = slices.Clone(*list)
		for _, r := range *list {
			if there := strings.ReplaceAll(r.Text, from, to); there != r.Text {
				r.Text = there
				*list = append(*list, r)
			}
		}
	}
	c.Permissions.Examples, c.Own = nil, nil // they name files of the project, where they were checked
	own.Config = &c
	b := own.Bounds(to).reaching(hosts)
	b.Readable = append(b.Readable, roots...)
	if b.Sandbox != nil {
		b.Sandbox.Readable = slices.Concat(b.Sandbox.Readable, roots, w.Objects())
		b.Sandbox.Caches = s.caches(from) // the project is the same
	}
	policy, err := own.Policy(b, p)
	return b, policy, err
}

// copied returns lists of allow rules that also hold for the copies of files in a worktree; nil: there is none.
func copied(lists [][]permission.Rule, w *worktree.Worktree) [][]permission.Rule {
	if w == nil {
		return lists
	}
	from, to, out := filepath.Join(w.Root, filepath.FromSlash(w.Sub)), w.Dir(), slices.Clone(lists)
	for i, rules := range out {
		for _, r := range rules {
			if there, err := permission.ParseRule(permission.Allow, permission.Session, strings.ReplaceAll(r.Text(), from, to)); err == nil && there.Text() != r.Text() {
				out[i] = append(slices.Clip(out[i]), there)
			}
		}
	}
	return out
}
