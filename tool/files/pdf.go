package files

import (
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
	l, err := parts("page", f.Pages(), args, pdfPages, true, func(i int) (string, error) {
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
