package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool/files/internal/pdf"
)

const (
	pdfPages    = 20               // of one read
	pdfTime     = 20 * time.Second // for one read
	maxDocument = 4 << 20          // bytes of a PDF that is given to the model as it is
)

// lookAtPDF shows the text of pages. A file that has none, because its pages are pictures, goes to the model as it is when it is
// small enough; one that cannot be taken apart does not, for a provider may refuse a whole conversation because of it.
func (s *Set) lookAtPDF(ctx context.Context, data []byte, args readArguments) (looked, error) {
	unseen := func(err error) (looked, error) {
		l := looked{shown: Shown{Unit: "page", Whole: true}}
		l.content = textOf(fmt.Sprintf("[binary file, application/pdf, %d bytes, not shown: %v]", len(data), err))
		return l, nil
	}
	select {
	case s.heavy <- struct{}{}:
		defer func() { <-s.heavy }()
	case <-ctx.Done():
		return looked{}, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeoutCause(ctx, pdfTime, errors.New("it takes too long"))
	defer cancel()
	f, err := pdf.Open(limited, data)
	if err != nil && ctx.Err() == nil {
		return unseen(err)
	}
	if err != nil {
		return looked{}, context.Cause(ctx)
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
		return unseen(errors.New("its pages have no text, they are pictures"))
	}
	l.content = llm.Content{
		llm.Text{Text: fmt.Sprintf("[PDF of %s without text; the file itself follows]", count(f.Pages(), "page"))},
		llm.Document{MIME: "application/pdf", Name: args.Path, Data: data},
	}
	return l, nil
}
