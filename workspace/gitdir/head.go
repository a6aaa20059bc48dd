package gitdir

import (
	"os"
	"path/filepath"
	"strings"
)

// Head returns the branch of a working tree by its root, or the commit if no branch is checked out. It reads two small files and starts no
// process. Both are empty if there is no repository. They are what the files have: a repository of a stranger can have any text there.
func Head(root string) (branch, commit string) {
	git := filepath.Join(root, ".git")
	if link, ok := strings.CutPrefix(firstLine(git), "gitdir: "); ok { // a worktree or a submodule
		if git = link; !filepath.IsAbs(link) {
			git = filepath.Join(root, link)
		}
	}
	head := firstLine(filepath.Join(git, "HEAD"))
	if name, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return name, ""
	}
	return "", head
}

// firstLine returns the first line of a small regular file, or nothing.
func firstLine(name string) string {
	const limit = 4 << 10
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(first)
}
