package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

type patchArguments struct {
	Patch string `json:"patch" min:"1"`
}

func (s *Set) patch() tool.Tool {
	return changer(s, namePatch, patchText, s.patchEffects, s.planPatch, many)
}

// patchEffects are all the files of a patch: both ends of a move too.
func (s *Set) patchEffects(_ context.Context, args patchArguments) (tool.Effects, error) {
	var e tool.Effects
	sections, _, err := parsePatch(args.Patch)
	if err != nil {
		return e, err
	}
	for _, one := range sections {
		names := []string{one.path}
		if one.to != "" {
			names = append(names, one.to)
		}
		for _, name := range names {
			find := s.ws.Resolve
			if one.kind == "delete" || one.to != "" {
				find = s.ws.Locate
			}
			abs, err := find(name)
			if err != nil {
				return e, err
			}
			e.Writes = append(e.Writes, tool.File(abs))
		}
	}
	return e, nil
}

// planPatch plans all of a patch from one look at the files. The error tells of all problems.
func (s *Set) planPatch(ctx context.Context, args patchArguments) (plan, error) {
	sections, notes, err := parsePatch(args.Patch)
	if err != nil {
		return plan{}, err
	}
	p := plan{notes: notes}
	var problems []error
	for _, one := range s.merge(sections) {
		if err := s.planSection(ctx, &p, one); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return plan{}, fmt.Errorf("%w\nnothing of the patch was applied", errors.Join(problems...))
	}
	return p, nil
}

// merge puts together what a patch says in several places about one file that it updates.
func (s *Set) merge(sections []section) []section {
	var out []section
	first := map[string]int{}
	for _, one := range sections {
		abs, err := s.ws.Resolve(one.path)
		i, again := first[abs]
		if err == nil && again && one.kind == "update" && out[i].kind == "update" && one.to == "" {
			out[i].hunks = append(out[i].hunks, one.hunks...)
			continue
		}
		if err == nil && !again {
			first[abs] = len(out)
		}
		out = append(out, one)
	}
	return out
}

func (s *Set) planSection(ctx context.Context, p *plan, one section) error {
	switch one.kind {
	case "add":
		return s.planAdd(p, one)
	case "delete":
		abs, info, err := s.entry(ctx, one.path)
		if err != nil {
			return err
		}
		if info.IsDir() {
			return fmt.Errorf("%s is a directory; a patch deletes files only", workspace.Quote(one.path))
		}
		gone, err := s.removal(one.path, abs, info.Mode())
		if err != nil {
			return err
		}
		p.steps = append(p.steps, gone)
		return nil
	}
	return s.planUpdate(ctx, p, one)
}

// planAdd plans a new file. One that is there may be replaced as by write.
func (s *Set) planAdd(p *plan, one section) error {
	abs, err := s.ws.Resolve(one.path)
	if err != nil {
		return err
	}
	before, base, err := s.replaceable(one.path, abs)
	if err != nil {
		return err
	}
	more, err := s.overwrite(one.path, abs, before, base, one.content)
	p.steps, p.notes = append(p.steps, more.steps...), append(p.notes, more.notes...)
	return err
}

func (s *Set) planUpdate(ctx context.Context, p *plan, one section) error {
	f, err := s.open(ctx, one.path)
	if err != nil {
		return err
	}
	after, notes, err := applyHunks(f.text, one.hunks)
	if err != nil {
		return fmt.Errorf("%s: %w", workspace.Quote(one.path), err)
	}
	for _, note := range notes {
		p.notes = append(p.notes, workspace.Quote(one.path)+": "+note)
	}
	if after == f.text && one.to == "" {
		p.notes = append(p.notes, workspace.Quote(one.path)+" comes out as it was")
		return nil
	}
	changed, err := s.replaced(f, after)
	if err != nil {
		return err
	}
	if one.to != "" {
		if err := s.move(ctx, &changed, f, one); err != nil {
			return err
		}
	}
	p.steps = append(p.steps, changed)
	return nil
}

// move makes of a step that replaces a file one that puts it elsewhere.
func (s *Set) move(ctx context.Context, changed *step, f source, one section) error {
	from, err := s.ws.Locate(one.path)
	if err != nil {
		return err
	}
	if from != f.abs {
		return fmt.Errorf("%s is a link; a patch moves files only", workspace.Quote(one.path))
	}
	to, err := s.ws.Locate(one.to)
	if err != nil {
		return err
	}
	if _, err := s.ws.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is to be moved to %s, where something is already; delete that first", workspace.Quote(one.path), workspace.Quote(one.to))
	}
	if *changed.after == f.base {
		changed.Data = nil
	}
	changed.Edit.From, changed.Edit.Path = from, to
	changed.Change.From, changed.Change.Path = changed.Change.Path, s.ws.Rel(to)
	changed.verb = "moved"
	return nil
}
