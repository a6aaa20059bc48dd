package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// settings are those of every git command: no programs, no conversions, and nothing that depends on the person's configuration.
var settings = []string{
	"core.hooksPath=" + os.DevNull, "core.attributesFile=" + os.DevNull, "core.excludesFile=" + os.DevNull, "core.fsmonitor=false",
	"core.untrackedCache=false", "core.autocrlf=false", "core.safecrlf=false", "core.quotePath=false", "core.fileMode=true", "core.symlinks=true",
	"core.bare=false", "core.precomposeUnicode=false", "gc.auto=0", "maintenance.auto=false", "protocol.allow=never",
	"submodule.recurse=false", "advice.addEmbeddedRepo=false", "user.name=Tenon", "user.email=tenon@localhost",
}

// attributes take precedence over the .gitattributes of the project: files are bytes.
const attributes = "* -text -eol -filter -ident -working-tree-encoding -merge -diff\n"

// Error reports that git failed.
type Error struct {
	Args   []string
	Stderr string // its last line
	Err    error
}

func (e *Error) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "cannot copy the project: git is not installed"
	}
	return fmt.Sprintf("git %s failed: %s", strings.Join(e.Args, " "), firstOf(e.Stderr, e.Err.Error()))
}

func (e *Error) Unwrap() error { return e.Err }

// Code returns "worktree.git".
func (e *Error) Code() string { return "worktree.git" }

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// git is a private git directory, used with some files and an index.
type git struct {
	dir   string // the git directory
	files string // the files that it looks at; empty: none
	index string // empty: none
}

// run runs git and returns its output.
func (g git) run(ctx context.Context, input io.Reader, args ...string) ([]byte, error) {
	all := make([]string, 0, 2*len(settings)+len(args))
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir, cmd.Stdin, cmd.SysProcAttr = firstOf(g.files, g.dir), input, ending()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "LC_ALL=C", "GIT_DIR=" + g.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.Getenv("TMPDIR"),
	}
	if g.files != "" {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+g.files)
	}
	if g.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+g.index)
	}
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		lines := strings.Split(strings.TrimSpace(problem.String()), "\n")
		return out.Bytes(), &Error{Args: args, Stderr: strings.ToValidUTF8(lines[len(lines)-1], "\uFFFD"), Err: err}
	}
	return out.Bytes(), nil
}

// line runs git and returns its output without the line break.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// create makes the git directory. It borrows the objects of another repository, whose git directory is common; empty: of none.
func (g git) create(ctx context.Context, common string) error {
	format := "sha1"
	if config, err := os.ReadFile(filepath.Join(common, "config")); common != "" && err == nil && bytes.Contains(bytes.ToLower(config), []byte("sha256")) {
		format = "sha256"
	}
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return err
	}
	if _, err := (git{dir: g.dir}).run(ctx, nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format, g.dir); err != nil {
		return err
	}
	files := map[string]string{"info/attributes": attributes}
	if common != "" {
		files["objects/info/alternates"] = filepath.Join(common, "objects") + "\n"
		if exclude, err := os.ReadFile(filepath.Join(common, "info", "exclude")); err == nil {
			files["info/exclude"] = string(exclude)
		}
	}
	return writeAll(g.dir, files)
}

// writeAll writes small files below a directory.
func writeAll(dir string, files map[string]string) error {
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// snapshot writes the files as they are now as a tree, without ignored ones, and returns its hash.
func (g git) snapshot(ctx context.Context) (tree string, err error) {
	if _, err := g.run(ctx, nil, "add", "--all", "--", "."); err != nil {
		return "", err
	}
	return g.line(ctx, "write-tree")
}

// blob returns a content. Its size is bounded by that of the files that were added.
func (g git) blob(ctx context.Context, hash string) ([]byte, error) {
	return g.run(ctx, nil, "cat-file", "blob", hash)
}
