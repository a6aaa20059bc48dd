package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

type editArguments struct {
	Path       string `json:"path" min:"1"`
	OldText    string `json:"old_text" min:"1"`
	NewText    string `json:"new_text"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

func (s *set) edit() tool.Tool {
	return tool.New("edit", editText,
		func(_ context.Context, args editArguments) (tool.Effects, error) { return s.writes(args.Path) },
		func(ctx context.Context, args editArguments, _ tool.Report) (tool.Result, error) {
			abs, err := s.ws.Resolve(args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			data, err := s.ws.ReadFile(args.Path, maxEdit)
			if err != nil {
				return tool.Result{}, s.unreadable(ctx, args.Path, err)
			}
			base := version(sha256.Sum256(data))
			if err := s.fresh(args.Path, abs, base); err != nil {
				return tool.Result{}, err
			}
			before := string(data)
			after, e, err := substitute(before, args.OldText, args.NewText, args.ReplaceAll)
			if err != nil {
				return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
			}
			if err := s.replace(ctx, args.Path, abs, &base, []byte(after)); err != nil {
				return tool.Result{}, err
			}
			return changed(s.describe(abs, before, after, false), "edited", e), nil
		})
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
	old = strings.TrimPrefix(old, bom)
	if old == new {
		return "", nil, errors.New("old_text and new_text are the same; nothing to do")
	}
	switch n := strings.Count(text, old); {
	case n == 1 || n > 1 && all:
		if n > 1 {
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
	return "", nil, notFound(text, old, new)
}

// maxPlaces is how many line numbers an error tells.
const maxPlaces = 20

// linesOf lists the lines at which a text occurs.
func linesOf(text, old string) string {
	var at []string
	line, from := 1, 0
	for {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return strings.Join(at, ", ")
		}
		if len(at) == maxPlaces {
			return strings.Join(at, ", ") + " and more"
		}
		line += strings.Count(text[from:from+i], "\n")
		at = append(at, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }
