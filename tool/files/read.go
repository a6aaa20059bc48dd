package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultLines = 2000     // lines of one read
	maxRead      = 50 << 10 // bytes of one read
	maxLine      = 2000     // bytes shown of one line
	maxScan      = 1 << 30  // bytes of the largest file that read opens
	maxMedia     = 32 << 20 // bytes of the largest image or PDF file that read decodes
	sniff        = 8 << 10  // bytes that decide whether a file is binary
)

type readArguments struct {
	Path   string `json:"path" jsonschema:"file, relative to the root or absolute" min:"1"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1; default 1" min:"0"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines, default 2000" min:"1"`
}

// Shown is the details of a read: the part of a file that the model saw, and its version. [Set.Recall] reads it.
type Shown struct {
	Path  string `json:"path"`
	First int    `json:"first,omitzero"` // line numbers, from 1; 0: no line was shown
	Last  int    `json:"last,omitzero"`
	Lines int    `json:"lines"`         // of the whole file
	Unit  string `json:"unit,omitzero"` // "page" if the numbers do not count lines
	Bytes int64  `json:"bytes"`
	Cut   bool   `json:"cut,omitzero"`   // some of the lines are incomplete
	Hash  string `json:"hash,omitzero"`  // SHA-256 of the whole file, in hex
	Whole bool   `json:"whole,omitzero"` // with this read the model knows the whole file
}

// title is the path with the requested lines: "main.go:1-20".
func (a readArguments) title() string {
	first := max(a.Offset, 1)
	switch {
	case a.Limit > 0:
		return fmt.Sprintf("%s:%d-%d", a.Path, first, first+min(a.Limit, maxScan)-1)
	case first > 1:
		return fmt.Sprintf("%s:%d-", a.Path, first)
	}
	return a.Path
}

func (s Shown) brief() string {
	unit := cmp.Or(s.Unit, "line")
	if s.First > 0 && s.Last-s.First+1 < s.Lines {
		return fmt.Sprintf("%ss %d to %d of %d", unit, s.First, s.Last, s.Lines)
	}
	if s.Lines == 0 && s.Bytes > 0 {
		return tool.Count(s.Bytes, "byte")
	}
	return tool.Count(s.Lines, unit)
}

// reader shows files and remembers what it showed.
type reader struct {
	*memory
	heavy chan struct{}
}

func (r reader) tool() tool.Tool {
	return tool.New(nameRead, readText,
		func(_ context.Context, args readArguments) (tool.Effects, error) {
			abs, err := r.ws.Resolve(args.Path)
			return tool.Effects{Reads: []tool.Path{tool.File(abs)}, Idempotent: true}, err
		},
		func(ctx context.Context, args readArguments, _ tool.Report) (tool.Result, error) {
			abs, err := r.ws.Resolve(args.Path) // once, so that the memory and the read use the same file
			if err != nil {
				return tool.Result{}, r.explain(ctx, args.Path, err)
			}
			args.Offset, args.Limit = max(args.Offset, 1), min(args.Limit, maxScan)
			l, err := r.look(ctx, abs, args)
			if err != nil {
				return tool.Result{}, r.explain(ctx, args.Path, err)
			}
			s := l.shown
			known, _ := r.knows(abs)
			s.Whole = known.with(l.version, s).whole
			tool.WhenUsed(ctx, func() { r.shown(abs, l.version, s) })
			s.Path, s.Hash = r.ws.Rel(abs), l.version.String()
			return tool.Result{Content: l.content, Brief: s.brief(), Details: s}, nil
		}, tool.WithTitle(readArguments.title))
}

type looked struct {
	content llm.Content
	shown   Shown
	version version
}

func (r reader) look(ctx context.Context, abs string, args readArguments) (looked, error) {
	f, err := r.ws.OpenFile(abs)
	if err != nil {
		return looked{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return looked{}, err
	}
	if info.Size() > maxScan {
		return looked{}, tool.Codef("tool.too_large", "%s has %d bytes, too many to read; search it with grep, or use head and tail in shell",
			workspace.Quote(args.Path), info.Size())
	}
	if info.Size() > maxMedia {
		return stream(ctx, f, info.Size(), args)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(f, maxMedia+1)); err != nil {
		return looked{}, err
	}
	if data.Len() > maxMedia {
		return looked{}, tool.Codef("tool.changed", "%s grows while it is read; try again", workspace.Quote(args.Path))
	}
	l, err := r.lookInto(ctx, data.Bytes(), args)
	l.version, l.shown.Bytes = sha256.Sum256(data.Bytes()), int64(data.Len())
	return l, err
}

func (r reader) lookInto(ctx context.Context, data []byte, args readArguments) (looked, error) {
	switch kind := http.DetectContentType(data[:min(len(data), 512)]); {
	case strings.HasPrefix(kind, "image/") && kind != "image/x-icon" && kind != "image/bmp":
		return r.lookAtImage(ctx, data, kind)
	case kind == "application/pdf":
		return r.lookAtPDF(ctx, data, args)
	}
	if len(data) > maxEdit {
		return stream(ctx, bytes.NewReader(data), int64(len(data)), args)
	}
	text, c := decodeText(data)
	return newPage(strings.NewReader(text), int64(len(text)), args, c.name).read(ctx)
}

// stream shows a part of a file that is too large for memory.
func stream(ctx context.Context, in io.Reader, size int64, args readArguments) (looked, error) {
	hash := sha256.New()
	l, err := newPage(io.TeeReader(in, hash), size, args, "").read(ctx)
	l.version = version(hash.Sum(nil))
	return l, err
}

// take waits for the right to decode an image or a PDF file. The caller calls release.
func (r reader) take(ctx context.Context) (release func(), err error) {
	select {
	case r.heavy <- struct{}{}:
		return func() { <-r.heavy }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func textOf(text string) llm.Content { return llm.Content{llm.Text{Text: text}} }

// notShown is the outcome for a file that has no content for a model, with the reason.
func notShown(kind string, size int64, why error) looked {
	text := fmt.Sprintf("[binary file, %s, %d bytes, not shown", kind, size)
	if why != nil {
		text += ": " + why.Error()
	}
	return looked{content: textOf(text + "]"), shown: Shown{Whole: true, Bytes: size}}
}
