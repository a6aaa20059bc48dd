package files

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

type editArguments struct {
	Path string `json:"path" min:"1"`
	replacement
}

type replacement struct {
	OldText    string `json:"old_text" min:"1"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

func (s *Set) edit() tool.Tool {
	return changer(s, nameEdit, editText,
		func(_ context.Context, args editArguments) (tool.Effects, error) { return s.writes(args.Path) },
		func(ctx context.Context, args editArguments) (plan, error) {
			return s.planEdits(ctx, args.Path, []replacement{args.replacement})
		}, one)
}

type multiEditArguments struct {
	Path  string        `json:"path" min:"1"`
	Edits []replacement `json:"edits" min:"1" max:"100"`
}

func (s *Set) multiEdit() tool.Tool {
	return changer(s, nameMultiEdit, multiEditText,
		func(_ context.Context, args multiEditArguments) (tool.Effects, error) { return s.writes(args.Path) },
		func(ctx context.Context, args multiEditArguments) (plan, error) {
			return s.planEdits(ctx, args.Path, args.Edits)
		}, one)
}

// planEdits plans to make edits of one file, each in what the one before has made.
func (s *Set) planEdits(ctx context.Context, name string, edits []replacement) (plan, error) {
	f, err := s.open(ctx, name)
	if err != nil {
		return plan{}, err
	}
	var p plan
	text := f.text
	for i, e := range edits {
		after, notes, err := substitute(text, e.OldText, e.NewText, e.ReplaceAll)
		of := ""
		if len(edits) > 1 {
			of = fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
		}
		if err != nil {
			err = fmt.Errorf("%s: %s%w", workspace.Quote(name), of, err)
			if i > 0 && strings.Contains(f.text, e.OldText) && !strings.Contains(text, e.OldText) {
				err = fmt.Errorf("%w; it was there before the edits that come first: name what they leave, or make one edit of them", err)
			}
			if len(edits) > 1 {
				err = fmt.Errorf("%w; none of the edits was made", err)
			}
			return plan{}, err
		}
		for _, note := range notes {
			p.notes = append(p.notes, of+note)
		}
		text = after
	}
	if text == f.text {
		return plan{notes: []string{workspace.Quote(name) + " comes out as it was; nothing was changed"}}, nil
	}
	one, err := s.replaced(f, text)
	if err != nil {
		return plan{}, err
	}
	p.steps = []step{one}
	return p, nil
}

// substitute puts new in the place of old in the content of a file. The notes say what was done beyond the letter of the wish.
func substitute(content, old, new string, all bool) (after string, notes []string, err error) {
	f := parseFormat(content)
	text := f.strip(content)
	if f.crlf || !strings.Contains(text, "\r") {
		if strings.Contains(old, "\r\n") && !f.crlf {
			notes = append(notes, "CRLF in the texts was taken for the line ends of the file")
		}
		old, new = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(new, "\r\n", "\n")
	}
	if rest := strings.TrimPrefix(old, bom); rest != "" {
		old = rest
	}
	if old == new {
		return "", nil, errors.New("old_text and new_text are the same; nothing to do")
	}
	switch n := occurrences(text, old); {
	case n == 1 || n > 1 && all:
		if n = strings.Count(text, old); n > 1 {
			notes = append(notes, fmt.Sprintf("%d occurrences were replaced", n))
		}
		return f.apply(strings.ReplaceAll(text, old, new)), notes, nil
	case n > 1:
		return "", nil, fmt.Errorf("old_text occurs %d times, at lines %s; take in more of the lines around the one you mean, or set replace_all",
			n, linesOf(text, old))
	}
	for _, level := range levels {
		found := level.find(text, old, new)
		switch {
		case len(found) == 1:
			m := found[0]
			notes = append(notes, fmt.Sprintf("old_text was found at line %d only up to %s; it was replaced there", lineAt(text, m.start), level.name))
			return f.apply(text[:m.start] + m.new + text[m.end:]), notes, nil
		case len(found) > 1:
			var at []string
			for _, m := range found[:min(len(found), maxPlaces)] {
				at = append(at, fmt.Sprint(lineAt(text, m.start)))
			}
			return "", nil, fmt.Errorf("old_text does not occur exactly; up to %s it occurs %d times, at lines %s; copy the text of the one you mean exactly",
				level.name, len(found), strings.Join(at, ", "))
		}
	}
	return "", nil, notFound("old_text", text, old, new)
}

// maxPlaces is how many line numbers an error tells.
const maxPlaces = 20

// places are the offsets at which a text occurs, also where it overlaps itself, as an empty line does in a row of them.
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

// occurrences counts them, up to a limit those that overlap, where only these make more than one.
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
