package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

type patchArguments struct {
	Patch string `json:"patch" jsonschema:"the whole patch, from Begin Patch to End Patch" min:"1"`
}

func (a patchArguments) title() string {
	var names []string
	sections, _, _ := parsePatch(a.Patch) // the effects return the error
	for _, one := range sections {
		names = append(names, one.path)
	}
	return strings.Join(names, " ")
}

func (e editor) patchTool() tool.Tool {
	return changer(e, namePatch, patchText, e.patchEffects, e.planPatch, patchArguments.title)
}

// patchEffects is all files of a patch, including the target of a move.
func (e editor) patchEffects(_ context.Context, args patchArguments) (tool.Effects, error) {
	var out tool.Effects
	sections, _, err := parsePatch(args.Patch)
	if err != nil {
		return out, err
	}
	for _, one := range sections {
		find := e.ws.Resolve
		if one.kind == "delete" || one.to != "" {
			find = e.ws.Locate
		}
		for _, name := range []string{one.path, one.to} {
			if name == "" {
				continue
			}
			abs, err := find(name)
			if err != nil {
				return out, err
			}
			out.Writes = append(out.Writes, tool.File(abs))
		}
	}
	return out, nil
}

// planPatch plans a whole patch from one look at the files. The error lists all problems.
func (e editor) planPatch(ctx context.Context, args patchArguments) (plan, error) {
	sections, notes, err := parsePatch(args.Patch)
	if err != nil {
		return plan{}, err
	}
	p := plan{notes: notes}
	var problems []error
	for _, one := range e.merge(sections) {
		var more plan
		switch one.kind {
		case "add":
			more, _, err = e.overwrite(one.path, one.content)
		case "delete":
			more, err = e.planRemoval(ctx, one)
		default:
			more, err = e.planUpdate(ctx, one)
		}
		if err != nil {
			problems = append(problems, err)
		}
		p.steps, p.notes = append(p.steps, more.steps...), append(p.notes, more.notes...)
	}
	if len(problems) > 0 {
		return plan{}, fmt.Errorf("%w\nno part of the patch was applied", errors.Join(problems...))
	}
	return p, nil
}

// merge joins sections that update the same file.
func (e editor) merge(sections []section) []section {
	var out []section
	first := map[string]int{}
	for _, one := range sections {
		abs, err := e.ws.Resolve(one.path)
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

func (e editor) planRemoval(ctx context.Context, one section) (plan, error) {
	abs, info, err := e.entry(ctx, one.path)
	if err != nil {
		return plan{}, err
	}
	if info.IsDir() {
		return plan{}, tool.Codef("workspace.directory", "%s is a directory; a patch deletes only files", workspace.Quote(one.path))
	}
	gone, err := e.removal(one.path, abs, info.Mode(), true)
	return plan{steps: []step{gone}}, err
}

func (e editor) planUpdate(ctx context.Context, one section) (plan, error) {
	f, err := e.open(ctx, one.path)
	if err != nil {
		return plan{}, err
	}
	name := workspace.Quote(one.path)
	after, exact, notes, err := applyHunks(f.text, one.hunks)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if err := f.proven(e.memory, exact, err); err != nil {
		return plan{}, err
	}
	var p plan
	for _, note := range notes {
		p.notes = append(p.notes, name+": "+note)
	}
	if after == f.text && one.to == "" {
		p.notes = append(p.notes, "the patch leaves "+name+" as it was")
		return p, nil
	}
	changed, err := e.replaced(f, after)
	if err == nil && one.to != "" {
		err = e.move(&changed, f, one)
	}
	p.steps = []step{changed}
	return p, err
}

// move turns a step that replaces a file into one that also moves it.
func (e editor) move(changed *step, f source, one section) error {
	from, err := e.ws.Locate(one.path)
	if err != nil {
		return err
	}
	if from != f.abs {
		return tool.Codef("workspace.special", "%s is a link; a patch moves only files", workspace.Quote(one.path))
	}
	to, err := e.ws.Locate(one.to)
	if err != nil {
		return err
	}
	if _, err := e.ws.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return tool.Codef("tool.exists", "cannot move %s: %s exists; delete it first", workspace.Quote(one.path), workspace.Quote(one.to))
	}
	if *changed.after == f.base {
		changed.Data = nil
	}
	changed.Edit.From, changed.Edit.Path = from, to
	changed.diff.From, changed.diff.Path = changed.diff.Path, e.ws.Rel(to)
	changed.verb = "moved"
	return nil
}
