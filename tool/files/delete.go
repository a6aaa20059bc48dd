package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxDelete is how many files and directories a call may delete before it refuses another directory.
const maxDelete = 1000

type deleteArguments struct {
	Paths     []string `json:"paths" jsonschema:"paths to delete, relative to the root or absolute" min:"1" max:"100"`
	Recursive bool     `json:"recursive,omitempty" jsonschema:"delete directories with their contents"`
}

func (e editor) deleteTool() tool.Tool {
	return changer(e, nameDelete, deleteText,
		func(_ context.Context, args deleteArguments) (tool.Effects, error) {
			var out tool.Effects
			for _, name := range args.Paths {
				abs, err := e.ws.Locate(name)
				if err != nil {
					return out, err
				}
				out.Writes = append(out.Writes, tool.Path{Name: abs, Tree: args.Recursive})
			}
			return out, nil
		},
		func(ctx context.Context, args deleteArguments) (plan, error) {
			var p plan
			for _, name := range args.Paths {
				if err := e.planDelete(ctx, &p, name, args.Recursive); err != nil {
					return plan{}, err
				}
			}
			return p, nil
		}, func(args deleteArguments) string { return strings.Join(args.Paths, " ") })
}

func (e editor) planDelete(ctx context.Context, p *plan, name string, recursive bool) error {
	abs, info, err := e.entry(ctx, name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		one, err := e.removal(name, abs, info.Mode(), true)
		p.remove(one)
		return err
	}
	for entry, err := range e.ws.Walk(ctx, abs, workspace.WalkOptions{Ignored: true}) {
		switch {
		case err != nil:
			return err
		case !recursive:
			return tool.Codef("tool.arguments", "%s is not empty; set recursive to delete it with all of its entries", workspace.Quote(name))
		case len(p.steps) >= maxDelete:
			return tool.Codef("tool.too_large", "with %s the call would delete more than %d files; delete parts of it, or use shell", workspace.Quote(name), maxDelete)
		}
		inside := filepath.FromSlash(entry.Path)
		if !filepath.IsAbs(inside) {
			inside = filepath.Join(e.ws.Dir(), inside)
		}
		// The model need not have read it, but it must not have changed since a read.
		_, known := e.knows(inside)
		one, err := e.removal(entry.Path, inside, entry.Type, known)
		if err != nil {
			return err
		}
		p.remove(one)
	}
	p.remove(e.gone(abs, "deleted directory", fs.ModeDir))
	return nil
}

// remove adds a removal, once.
func (p *plan) remove(one step) {
	same := func(other step) bool { return other.Edit.Path == one.Edit.Path }
	if !slices.ContainsFunc(p.steps, same) {
		p.steps = append(p.steps, one)
	}
}

// entry finds a path itself: a link, not its target.
func (e editor) entry(ctx context.Context, name string) (string, fs.FileInfo, error) {
	abs, err := e.ws.Locate(name)
	if err != nil {
		return "", nil, err
	}
	info, err := e.ws.Lstat(abs) // the workspace checks the path again when it removes it
	if err != nil {
		return "", nil, e.explain(ctx, name, fmt.Errorf("%s: %w", workspace.Quote(name), errors.Unwrap(err)))
	}
	return abs, info, nil
}

// removal is the step that removes a directory, a link, or a file. If read is set, the model must have read the file.
func (e editor) removal(name, abs string, mode fs.FileMode, read bool) (step, error) {
	switch {
	case mode.IsDir():
		return e.gone(abs, "deleted directory", fs.ModeDir), nil
	case mode&fs.ModeSymlink != 0:
		return e.gone(abs, "deleted link", fs.ModeSymlink), nil
	}
	one := e.gone(abs, "deleted", 0)
	if !read {
		v, _, err := e.current(abs) // if it has vanished, the check fails before anything is removed
		one.base = &v
		return one, err
	}
	data, v, err := e.load(abs)
	if err == nil {
		err = e.fresh(name, abs, v, false)
	}
	text, _ := decodeText(data)
	one.base, one.diff = &v, diffOf(one.diff.Path, text, "", false, true)
	return one, err
}
