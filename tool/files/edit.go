package files

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

type editArguments struct {
	Path string `json:"path" jsonschema:"file, relative to the root or absolute" min:"1"`
	replacement
}

type replacement struct {
	OldText    string `json:"old_text" jsonschema:"text to replace, copied exactly" min:"1"`
	NewText    string `json:"new_text" jsonschema:"text to put there; empty to delete"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

func (e editor) editTool() tool.Tool {
	return changer(e, nameEdit, editText,
		func(_ context.Context, args editArguments) (tool.Effects, error) { return e.writes(args.Path) },
		func(ctx context.Context, args editArguments) (plan, error) {
			return e.planEdits(ctx, args.Path, []replacement{args.replacement})
		}, func(args editArguments) string { return args.Path })
}

type multiEditArguments struct {
	Path  string        `json:"path" jsonschema:"file, relative to the root or absolute" min:"1"`
	Edits []replacement `json:"edits" jsonschema:"edits in order" min:"1" max:"100"`
}

func (e editor) multiEditTool() tool.Tool {
	return changer(e, nameMultiEdit, multiEditText,
		func(_ context.Context, args multiEditArguments) (tool.Effects, error) { return e.writes(args.Path) },
		func(ctx context.Context, args multiEditArguments) (plan, error) {
			return e.planEdits(ctx, args.Path, args.Edits)
		}, func(args multiEditArguments) string { return args.Path })
}

// planEdits plans edits of one file. Each edit applies to the result of those before it.
func (e editor) planEdits(ctx context.Context, name string, edits []replacement) (plan, error) {
	f, err := e.open(ctx, name)
	if err != nil {
		return plan{}, err
	}
	var p plan
	text, proof := f.text, true
	for i, one := range edits {
		after, exact, notes, err := substitute(text, one.OldText, one.NewText, one.ReplaceAll)
		proof = proof && exact
		of := ""
		if len(edits) > 1 {
			of = fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
		}
		if err != nil {
			err = fmt.Errorf("%s: %s%w", workspace.Quote(name), of, err)
			if i > 0 && strings.Contains(f.text, one.OldText) && !strings.Contains(text, one.OldText) {
				err = fmt.Errorf("%w; an earlier edit of this call changed it: use the text that this edit leaves, or join the two edits", err)
			}
			if len(edits) > 1 {
				err = fmt.Errorf("%w; no edit was made", err)
			}
			return plan{}, f.proven(e.memory, false, err)
		}
		for _, note := range notes {
			p.notes = append(p.notes, of+note)
		}
		text = after
	}
	if err := f.proven(e.memory, proof, nil); err != nil {
		return plan{}, err
	}
	if text == f.text {
		return plan{notes: []string{"the edits leave " + workspace.Quote(name) + " as it was; nothing was changed"}}, nil
	}
	one, err := e.replaced(f, text)
	p.steps = []step{one}
	return p, err
}

// substitute replaces old with new in the content of a file. exact reports that old occurs exactly, apart from the line endings, and only once.
// The notes report an inexact match.
func substitute(content, old, new string, all bool) (after string, exact bool, notes []string, err error) {
	f := parseFormat(content)
	if f.mixed != "" && strings.Contains(old, "\r\n") {
		f.mixed = "" // the line endings are meant
	}
	text := f.strip(content)
	if f.crlf || f.mixed != "" || !strings.Contains(text, "\r") {
		if strings.Contains(old, "\r\n") && !f.crlf {
			notes = append(notes, "CRLF in the texts was read as the line ending of the file")
		}
		old, new = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(new, "\r\n", "\n")
	}
	if rest := strings.TrimPrefix(old, bom); rest != "" {
		old = rest
	}
	if old == new {
		return "", false, nil, tool.Codef("tool.arguments", "old_text and new_text are the same; nothing to do")
	}
	switch n := occurrences(text, old); {
	case n == 1 || n > 1 && all:
		if n = strings.Count(text, old); n > 1 {
			notes = append(notes, fmt.Sprintf("%d occurrences were replaced", n))
		}
		return f.apply(strings.ReplaceAll(text, old, new)), n == 1, notes, nil
	case n > 1:
		return "", false, nil, tool.Codef("tool.ambiguous", "old_text occurs %d times, at lines %s; include more of the lines around the one you mean, or set replace_all",
			n, linesOf(text, old))
	}
	for _, level := range levels {
		found := level.find(text, old, new)
		switch {
		case len(found) == 1:
			m := found[0]
			after := text[:m.start] + m.new + text[m.end:]
			first, n := lineAt(after, m.start), 0
			if m.new != "" {
				n = lineAt(after, m.start+len(strings.TrimSuffix(m.new, "\n"))) - first + 1
			}
			notes = append(notes, fmt.Sprintf("old_text fits line %d only without regard to %s", first, level.name)+
				made(splitLines(after)[first-1:], first, n))
			return f.apply(after), false, notes, nil
		case len(found) > 1:
			var at []string
			for _, m := range found[:min(len(found), maxPlaces)] {
				at = append(at, fmt.Sprint(lineAt(text, m.start)))
			}
			return "", false, nil, tool.Codef("tool.ambiguous", "old_text does not occur exactly; without regard to %s it occurs %d times, at lines %s; copy the text of the one you mean exactly",
				level.name, len(found), strings.Join(at, ", "))
		}
	}
	return "", false, nil, notFound("old_text", text, old, new)
}

// maxPlaces is how many line numbers an error lists.
const maxPlaces = 20

// places yields the offsets at which a text occurs, including occurrences that overlap.
func places(text, old string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; from++ {
			i := strings.Index(text[from:], old)
			if from += i; i < 0 || !yield(from) {
				return
			}
		}
	}
}

// occurrences counts the places of a text. It counts overlapping places only if there is one without overlap, and up to a limit.
func occurrences(text, old string) (n int) {
	if n = strings.Count(text, old); n != 1 {
		return n
	}
	n = 0
	for range places(text, old) {
		if n++; n == maxPlaces {
			break
		}
	}
	return n
}

// linesOf lists the lines at which a text occurs.
func linesOf(text, old string) string {
	var at []string
	line, from := 1, 0
	for i := range places(text, old) {
		if len(at) == maxPlaces {
			return strings.Join(at, ", ") + " and more"
		}
		line += strings.Count(text[from:i], "\n")
		at, from = append(at, fmt.Sprint(line)), i
	}
	return strings.Join(at, ", ")
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }
