package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultLines = 2000     // lines of one read
	maxRead      = 50 << 10 // bytes of one read
	maxLine      = 2000     // bytes shown of one line
	maxScan      = 1 << 30  // bytes from which a file is not even counted
	maxMedia     = 32 << 20 // bytes of the largest picture or PDF that is looked into
	sniff        = 8 << 10  // bytes that tell binary data from text
)

type readArguments struct {
	Path   string `json:"path" min:"1"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1" min:"0"`
	Limit  int    `json:"limit,omitempty" jsonschema:"lines, default 2000" min:"1"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"a notebook as JSON"`
}

// Shown is the details of a read: which part of a file the model saw, and of which version.
type Shown struct {
	Path  string `json:"path"`
	First int    `json:"first,omitzero"` // numbers of lines, from 1; 0 when none was shown
	Last  int    `json:"last,omitzero"`
	Lines int    `json:"lines"`         // of the whole file
	Unit  string `json:"unit,omitzero"` // what is numbered and counted when it is not lines: "page" or "cell"
	Bytes int64  `json:"bytes"`
	Cut   bool   `json:"cut,omitzero"`   // not all of those lines was shown
	Hash  string `json:"hash,omitzero"`  // SHA-256 of the whole file, in hex
	Whole bool   `json:"whole,omitzero"` // with this read the model has seen all there is
}

func (s *Set) read() tool.Tool {
	return tool.New(nameRead, readText,
		func(_ context.Context, args readArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args readArguments, _ tool.Report) (tool.Result, error) {
			abs, err := s.ws.Resolve(args.Path) // first, so that what is read is what is remembered under this name
			if err != nil {
				return tool.Result{}, s.unreadable(ctx, args.Path, err)
			}
			args.Offset, args.Limit = max(args.Offset, 1), min(args.Limit, maxScan)
			l, err := s.look(ctx, abs, args)
			if err != nil {
				return tool.Result{}, s.unreadable(ctx, args.Path, err)
			}
			details := s.remember(abs, l)
			return tool.Result{Content: l.content, Details: details}, nil
		})
}

// looked is what a read found.
type looked struct {
	content llm.Content
	shown   Shown
	version version
}

// remember takes down what was shown.
func (s *Set) remember(abs string, l looked) Shown {
	part := span{l.shown.First, l.shown.Last}
	if l.shown.Unit != "" || l.shown.Cut {
		part = span{}
	}
	s.shown(abs, l.version, l.shown.Lines, part, l.shown.Whole)
	k, _ := s.knows(abs)
	l.shown.Path, l.shown.Hash, l.shown.Whole = s.ws.Rel(abs), l.version.String(), k.whole && k.version == l.version
	return l.shown
}

func (s *Set) unreadable(ctx context.Context, name string, err error) error {
	if _, ok := errors.AsType[*workspace.DirectoryError](err); ok {
		return fmt.Errorf("%w; see what is in it with list", err)
	}
	return s.missing(ctx, name, err)
}

// look reads a file by its kind.
func (s *Set) look(ctx context.Context, abs string, args readArguments) (looked, error) {
	f, err := s.ws.OpenFile(abs)
	if err != nil {
		return looked{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return looked{}, err
	}
	if info.Size() > maxScan {
		return looked{}, fmt.Errorf("%s has %d bytes, too many to read; look for parts with grep, or with head and tail in shell",
			workspace.Quote(args.Path), info.Size())
	}
	if info.Size() > maxMedia {
		return stream(ctx, f, info.Size(), args)
	}
	// It may grow while it is read.
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(f, maxMedia+1)); err != nil {
		return looked{}, err
	}
	if data.Len() > maxMedia {
		return looked{}, fmt.Errorf("%s grows while it is read; try again", workspace.Quote(args.Path))
	}
	return s.whole(ctx, data.Bytes(), args)
}

// whole shows a file whose content is at hand, and takes down its version.
func (s *Set) whole(ctx context.Context, data []byte, args readArguments) (looked, error) {
	l, err := s.lookInto(ctx, data, args)
	l.version, l.shown.Bytes = sha256.Sum256(data), int64(len(data))
	return l, err
}

// lookInto shows a content by its kind.
func (s *Set) lookInto(ctx context.Context, data []byte, args readArguments) (looked, error) {
	switch kind := http.DetectContentType(data[:min(len(data), 512)]); {
	case strings.HasPrefix(kind, "image/") && kind != "image/x-icon" && kind != "image/bmp":
		return s.lookAtImage(ctx, data, kind)
	case kind == "application/pdf":
		return s.lookAtPDF(ctx, data, args)
	case strings.EqualFold(filepath.Ext(args.Path), ".ipynb") && !args.Raw:
		if l, ok := lookAtNotebook(data, args); ok {
			return l, nil
		}
	}
	if len(data) > maxEdit {
		return stream(ctx, bytes.NewReader(data), int64(len(data)), args)
	}
	text, c := decodeText(data)
	p := newPage(strings.NewReader(text), int64(len(text)), args)
	p.coding = c.name
	if err := p.read(ctx); err != nil {
		return looked{}, fmt.Errorf("%s: %w", workspace.Quote(args.Path), err)
	}
	p.bytes = int64(len(data))
	return p.looked(), nil
}

// stream shows a part of a file that is too large to be held.
func stream(ctx context.Context, in io.Reader, size int64, args readArguments) (looked, error) {
	hash := sha256.New()
	p := newPage(io.TeeReader(in, hash), size, args)
	if err := p.read(ctx); err != nil {
		return looked{}, fmt.Errorf("%s: %w", workspace.Quote(args.Path), err)
	}
	l := p.looked()
	l.version = version(hash.Sum(nil))
	return l, nil
}

func newPage(in io.Reader, size int64, args readArguments) *page {
	p := &page{in: bufio.NewReaderSize(in, int(min(max(size+1, sniff), 64<<10))), first: args.Offset}
	p.last = p.first + cmp.Or(args.Limit, defaultLines) - 1
	return p
}

func (p *page) looked() looked {
	return looked{content: textOf(p.text()), shown: p.shown()}
}

func textOf(text string) llm.Content { return llm.Content{llm.Text{Text: text}} }

// parts shows some of the numbered parts of a file, as many as there is room for. The file is whole when none is missing and all
// of each can be shown.
func parts(unit string, n int, args readArguments, most int, whole bool, part func(i int) (string, error)) (looked, error) {
	l := looked{shown: Shown{Lines: n, Unit: unit}}
	if n > 0 && args.Offset > n {
		l.content = textOf(fmt.Sprintf("[the file has %s; %s %d is beyond its end]", count(n, unit), unit, args.Offset))
		return l, nil
	}
	var b strings.Builder
	last := min(n, args.Offset-1+cmp.Or(args.Limit, most))
	for i := args.Offset; i <= last; i++ {
		text, err := part(i)
		if err != nil {
			return l, err
		}
		bounded, lost := tool.Bound(text, maxRead)
		if b.Len() > 0 && b.Len()+len(bounded) > maxRead {
			break
		}
		l.shown.Cut = l.shown.Cut || lost > 0
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(bounded, "\n"))
		if l.shown.First == 0 {
			l.shown.First = i
		}
		l.shown.Last = i
	}
	note := fmt.Sprintf("%ss %d-%d of %d", unit, l.shown.First, l.shown.Last, n)
	if n == 0 {
		note = fmt.Sprintf("no %ss", unit)
	} else if l.shown.Last < n {
		note += fmt.Sprintf("; go on with offset %d", l.shown.Last+1)
	}
	l.shown.Whole = whole && l.shown.First == 1 && l.shown.Last == n && !l.shown.Cut
	l.content = textOf(b.String() + "[" + note + "]")
	return l, nil
}
