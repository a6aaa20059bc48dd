package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxEdit is the size of the largest file that write compares and edit changes.
const maxEdit = 16 << 20

type writeArguments struct {
	Path    string  `json:"path" min:"1"`
	Content *string `json:"content,omitempty" jsonschema:"the whole content"`
}

func (s *set) write() tool.Tool {
	return tool.New("write", writeText,
		func(_ context.Context, args writeArguments) (tool.Effects, error) { return s.writes(args.Path) },
		func(ctx context.Context, args writeArguments, _ tool.Report) (tool.Result, error) {
			abs, err := s.ws.Resolve(args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			before, base, err := s.base(args.Path, abs)
			created := errors.Is(err, fs.ErrNotExist)
			switch {
			case err != nil && !created:
				return tool.Result{}, err
			case !created && args.Content == nil:
				return tool.Result{}, fmt.Errorf("%s exists and content is missing; give the whole content, \"\" to empty the file", args.Path)
			}
			content, notes := "", []string{}
			if args.Content == nil {
				notes = append(notes, "content was missing, so the file is empty")
			} else {
				content, notes = likeBefore(*args.Content, string(before))
			}
			if !created && content == string(before) {
				return tool.TextResult(args.Path + " has this content already; nothing was changed"), nil
			}
			if err := s.replace(ctx, args.Path, abs, base, []byte(content)); err != nil {
				return tool.Result{}, err
			}
			change := s.describe(abs, string(before), content, created)
			verb := "replaced"
			if created {
				verb = "created"
			}
			return changed(change, verb, notes), nil
		})
}

// base is the content and the version of a file that may be replaced. A large one is not compared: its content is empty.
func (s *set) base(name, abs string) ([]byte, *version, error) {
	before, err := s.ws.ReadFile(name, maxEdit)
	if _, large := errors.AsType[*workspace.TooLargeError](err); large {
		v, exists, err := s.current(name)
		if err == nil && exists {
			err = s.fresh(name, abs, v)
		}
		return nil, &v, err
	}
	if err != nil {
		return nil, nil, err
	}
	v := version(sha256.Sum256(before))
	return before, &v, s.fresh(name, abs, v)
}

// changed is the result of a change.
func changed(c Change, verb string, notes []string) tool.Result {
	text := fmt.Sprintf("%s %s: %d lines added, %d removed", verb, c.Path, c.Added, c.Removed)
	for _, note := range notes {
		text += "\n" + note
	}
	result := tool.TextResult(text)
	result.Details = c
	return result
}

// likeBefore gives new content the byte order mark and the line ends of what it replaces: they are not visible to a model.
func likeBefore(content, before string) (string, []string) {
	var notes []string
	f := parseFormat(before)
	if f.bom && !strings.HasPrefix(content, bom) {
		content = bom + content
		notes = append(notes, "the byte order mark of the file was kept")
	}
	if f.crlf && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
		notes = append(notes, "the CRLF line ends of the file were kept")
	}
	return content, notes
}

const bom = "\ufeff"

// format is what an editor keeps of a file without showing it.
type format struct {
	bom  bool
	crlf bool // every line ends so
}

func parseFormat(text string) format {
	n := strings.Count(text, "\r\n")
	return format{
		bom:  strings.HasPrefix(text, bom),
		crlf: n > 0 && n == strings.Count(text, "\n"),
	}
}

// strip takes the format from a text, apply puts it back.
func (f format) strip(text string) string {
	if f.bom {
		text = strings.TrimPrefix(text, bom)
	}
	if f.crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

func (f format) apply(text string) string {
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if f.bom {
		text = bom + text
	}
	return text
}
