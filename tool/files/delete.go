package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxDelete is from how many files and directories on a call goes into no further directory.
const maxDelete = 1000

type deleteArguments struct {
	Paths     []string `json:"paths" min:"1" max:"100"`
	Recursive bool     `json:"recursive,omitempty"`
}

func (s *Set) delete() tool.Tool {
	return changer(s, nameDelete, deleteText,
		func(_ context.Context, args deleteArguments) (tool.Effects, error) {
			var e tool.Effects
			for _, name := range args.Paths {
				abs, err := s.ws.Locate(name)
				if err != nil {
					return e, err
				}
				e.Writes = append(e.Writes, tool.Path{Name: abs, Tree: args.Recursive})
			}
			return e, nil
		},
		func(ctx context.Context, args deleteArguments) (plan, error) {
			var p plan
			for _, name := range args.Paths {
				if err := s.planDelete(ctx, &p, name, args.Recursive); err != nil {
					return plan{}, err
				}
			}
			return p, nil
		}, many)
}

func (s *Set) planDelete(ctx context.Context, p *plan, name string, recursive bool) error {
	abs, info, err := s.entry(ctx, name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		one, err := s.removal(name, abs, info.Mode())
		if err == nil {
			p.remove(one)
		}
		return err
	}
	for e, err := range s.ws.Walk(ctx, abs, workspace.WalkOptions{Ignored: true}) {
		switch {
		case err != nil:
			return err
		case !recursive:
			return fmt.Errorf("%s is not empty; set recursive to delete it with all that is in it", workspace.Quote(name))
		case len(p.steps) >= maxDelete:
			return fmt.Errorf("with %s more than %d files would be deleted at once; delete parts of it, or use shell", workspace.Quote(name), maxDelete)
		}
		one, err := s.inside(e)
		if err != nil {
			return err
		}
		p.remove(one)
	}
	p.remove(s.gone(abs, "deleted directory", fs.ModeDir))
	return nil
}

// inside is the step that removes what lies in a directory that is deleted. It need not have been read, but what was read must not
// have changed.
func (s *Set) inside(e workspace.Entry) (step, error) {
	abs := filepath.FromSlash(e.Path)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(s.ws.Dir(), abs)
	}
	switch {
	case e.Type.IsDir():
		return s.gone(abs, "deleted directory", fs.ModeDir), nil
	case e.Type&fs.ModeSymlink != 0:
		return s.gone(abs, "deleted link", fs.ModeSymlink), nil
	}
	if _, known := s.knows(abs); known {
		return s.removal(e.Path, abs, e.Type)
	}
	v, _, err := s.current(abs) // when it has gone, that is found out before anything is removed
	one := s.gone(abs, "deleted", 0)
	one.base = &v
	return one, err
}

// remove adds a removal, once.
func (p *plan) remove(one step) {
	same := func(other step) bool { return other.Edit.Path == one.Edit.Path }
	if !slices.ContainsFunc(p.steps, same) {
		p.steps = append(p.steps, one)
	}
}

// entry is what lies at a path itself, be it a link.
func (s *Set) entry(ctx context.Context, name string) (string, fs.FileInfo, error) {
	abs, err := s.ws.Locate(name)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Lstat(abs) // what counts is found again when it goes
	if err != nil {
		return "", nil, s.missing(ctx, name, fmt.Errorf("%s: %w", workspace.Quote(name), errors.Unwrap(err)))
	}
	return abs, info, nil
}

// removal is the step that removes a link, or a file that the model has seen.
func (s *Set) removal(name, abs string, mode fs.FileMode) (step, error) {
	if mode&fs.ModeSymlink != 0 {
		return s.gone(abs, "deleted link", fs.ModeSymlink), nil
	}
	data, err := s.ws.ReadFile(abs, maxEdit)
	v := version(sha256.Sum256(data))
	if _, large := errors.AsType[*workspace.TooLargeError](err); large {
		v, _, err = s.current(abs)
	}
	if err != nil {
		return step{}, err
	}
	if err := s.fresh(name, abs, v); err != nil {
		return step{}, err
	}
	one := s.gone(abs, "deleted", 0)
	one.base = &v
	text, _ := decodeText(data)
	c := s.describe(abs, text, "", false, true)
	one.Change.Diff, one.Change.Removed = c.Diff, c.Removed
	return one, nil
}

// gone is the step that removes what lies at a path.
func (s *Set) gone(abs, verb string, kind fs.FileMode) step {
	return step{Edit: workspace.Edit{Path: abs, Exact: true}, Change: Change{Path: s.ws.Rel(abs), Deleted: true}, verb: verb, kind: kind}
}
