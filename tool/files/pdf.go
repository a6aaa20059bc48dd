package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files/internal/pdf"
)

const (
	pdfPages    = 20               // of one read
	pdfTime     = 20 * time.Second // for one read
	maxDocument = 4 << 20          // bytes of a PDF file that the model receives unchanged
)

// lookAtPDF shows the text of pages. If the pages are images without text and the file is small enough, the model receives the file.
// It does not receive a damaged file, because a provider may refuse the whole conversation with it.
func (r reader) lookAtPDF(ctx context.Context, data []byte, args readArguments) (looked, error) {
	unseen := func(err error) (looked, error) {
		l := notShown("application/pdf", int64(len(data)), err)
		l.shown.Unit = "page"
		return l, nil
	}
	release, err := r.take(ctx)
	if err != nil {
		return looked{}, err
	}
	defer release()
	limited, cancel := context.WithTimeoutCause(ctx, pdfTime, errors.New("it takes too long"))
	defer cancel()
	f, err := pdf.Open(limited, data)
	switch {
	case ctx.Err() != nil:
		return looked{}, context.Cause(ctx)
	case err != nil:
		return unseen(err)
	}
	words := false
	l, err := pages(f.Pages(), tool.Limit(ctx, maxRead), args, func(i int) (string, error) {
		text, err := f.Page(limited, i)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			text += fmt.Sprintf("\n[the rest of the page is not shown: %v]", err)
		}
		words = words || strings.Trim(text, " \n\ufffd") != ""
		return fmt.Sprintf("[page %d]\n%s\n", i, text), nil
	})
	if err != nil || words || l.shown.First == 0 {
		return l, err
	}
	if len(data) > maxDocument {
		return unseen(errors.New("its pages are images without text"))
	}
	l.content = llm.Content{
		llm.Text{Text: fmt.Sprintf("[PDF of %s without text; the file itself follows]", tool.Count(f.Pages(), "page"))},
		llm.Document{MIME: "application/pdf", Name: args.Path, Data: data},
	}
	return l, nil
}

// pages shows the requested ones of n pages, up to most bytes.
func pages(n, most int, args readArguments, page func(i int) (string, error)) (looked, error) {
	l := looked{shown: Shown{Lines: n, Unit: "page"}}
	if args.Offset > n {
		l.content = textOf(fmt.Sprintf("[the file has %s; page %d is past its end]", tool.Count(n, "page"), args.Offset))
		return l, nil
	}
	var b strings.Builder
	last := min(n, args.Offset-1+cmp.Or(args.Limit, pdfPages))
	for i := args.Offset; i <= last; i++ {
		text, err := page(i)
		if err != nil {
			return l, err
		}
		bounded, lost := tool.Bound(text, most)
		if b.Len() > 0 && b.Len()+len(bounded) > most {
			break
		}
		l.shown.Cut = l.shown.Cut || lost > 0
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(bounded, "\n"))
		l.shown.First, l.shown.Last = args.Offset, i
	}
	note := fmt.Sprintf("pages %d-%d of %d", l.shown.First, l.shown.Last, n)
	if l.shown.Last < n {
		note += fmt.Sprintf("; continue with offset %d", l.shown.Last+1)
	}
	l.shown.Whole = l.shown.First == 1 && l.shown.Last == n && !l.shown.Cut
	l.content = textOf(b.String() + "[" + note + "]")
	return l, nil
}
