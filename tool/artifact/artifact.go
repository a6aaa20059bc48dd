package artifact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxSize  = 1 << 20  // bytes of one artifact
	maxTotal = 32 << 20 // of all
	maxFiles = 200
	maxPart  = 50 << 10 // bytes of one read
	maxName  = 100      // bytes of a name
)

type arguments struct {
	Name    string `json:"name,omitempty"`
	Content string `json:"content,omitempty"`
	Offset  int    `json:"offset,omitempty"`
}

// Kept is the details of a call.
type Kept struct {
	Name  string `json:"name,omitzero"` // none for a list
	File  string `json:"file,omitzero"` // where it is, absolute
	Bytes int    `json:"bytes"`         // of the artifact, or of all
	Saved bool   `json:"saved,omitzero"`
	Files int    `json:"files,omitzero"` // of a list
}

// New returns the tool artifact. dir is where the artifacts of a session are, an absolute path; it is made when the first is
// saved, for the person alone. No two calls write at the same time.
func New(dir string) tool.Tool {
	s := &store{dir: filepath.Clean(dir)}
	return tool.New("artifact", artifactText, s.effects,
		func(_ context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			switch {
			case args.Content != "":
				return s.save(args.Name, args.Content)
			case args.Name != "":
				return s.read(args.Name, args.Offset)
			}
			return s.list()
		})
}

func (s *store) effects(_ context.Context, args arguments) (tool.Effects, error) {
	if args.Name == "" && args.Content == "" {
		return tool.Effects{Reads: []tool.Path{tool.Tree(s.dir)}, Idempotent: true}, nil
	}
	if err := checkName(args.Name); err != nil {
		return tool.Effects{}, err
	}
	file := []tool.Path{tool.File(filepath.Join(s.dir, args.Name))}
	if args.Content == "" {
		return tool.Effects{Reads: file, Idempotent: true}, nil
	}
	if len(args.Content) > maxSize {
		return tool.Effects{}, fmt.Errorf("the content has %d bytes, more than %d; save it in parts", len(args.Content), maxSize)
	}
	return tool.Effects{Writes: file, Idempotent: true}, nil
}

// checkName refuses names that a file system may understand in its own way.
func checkName(name string) error {
	const extra = "-_.+ "
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(extra, r)
	}
	switch {
	case name == "":
		return errors.New("give the content a name")
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes, more than %d", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return fmt.Errorf("the name %q is not plain; take letters, digits, and %q", name, extra)
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, " ") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("the name %q begins or ends with a dot or a space", name)
	}
	if !filepath.IsLocal(name) { // such as NUL or COM1 on Windows
		return fmt.Errorf("the name %q means something else on this system", name)
	}
	return nil
}

func (s *store) save(name, content string) (tool.Result, error) {
	replaced, err := s.write(name, content)
	if err != nil {
		return tool.Result{}, fmt.Errorf("artifact %s: %w", name, err)
	}
	verb := "saved"
	if replaced {
		verb = "replaced"
	}
	result := tool.TextResult(fmt.Sprintf("%s %s: %d bytes", verb, name, len(content)))
	result.Details = Kept{Name: name, File: filepath.Join(s.dir, name), Bytes: len(content), Saved: true}
	return result, nil
}

func (s *store) read(name string, offset int) (tool.Result, error) {
	data, err := s.load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Result{}, fmt.Errorf("there is no artifact %s; call it without a name for a list", name)
	case err != nil:
		return tool.Result{}, fmt.Errorf("artifact %s: %w", name, err)
	case tool.Binary(data):
		return tool.Result{}, fmt.Errorf("artifact %s is not text any more", name)
	}
	data = strings.ToValidUTF8(data, "\ufffd")
	first, last := part(data, offset)
	text := data[first:last]
	if first > 0 || last < len(data) {
		note := fmt.Sprintf("bytes %d-%d of %d", first, last, len(data))
		if last < len(data) {
			note += fmt.Sprintf("; go on with offset %d", last)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "[" + note + "]"
	}
	result := tool.TextResult(text)
	result.Details = Kept{Name: name, File: filepath.Join(s.dir, name), Bytes: len(data)}
	return result, nil
}

// part is where a part of a text begins and ends, in whole lines where they are short enough and whole runes always.
func part(text string, offset int) (first, last int) {
	for first = min(max(offset, 0), len(text)); first < len(text) && !utf8.RuneStart(text[first]); {
		first++
	}
	last = min(first+maxPart, len(text))
	for last > first && last < len(text) && !utf8.RuneStart(text[last]) {
		last--
	}
	if i := strings.LastIndexByte(text[first:last], '\n') + 1; last < len(text) && i > maxPart/2 {
		last = first + i
	}
	return first, last
}

func (s *store) list() (tool.Result, error) {
	all, err := s.all()
	if err != nil {
		return tool.Result{}, fmt.Errorf("artifact: %w", err)
	}
	var b strings.Builder
	details := Kept{Files: len(all)}
	for _, f := range all {
		details.Bytes += int(f.size)
		fmt.Fprintf(&b, "%s (%d bytes)\n", f.name, f.size)
	}
	if len(all) == 0 {
		b.WriteString("[no artifacts yet]")
	}
	result := tool.TextResult(strings.TrimSuffix(b.String(), "\n"))
	result.Details = details
	return result, nil
}

//go:embed artifact.md
var artifactText string
