package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// maxAttached is the largest text file that can be attached, in bytes. A larger one hardly fits any context window.
const maxAttached = 1 << 20

// Attach reads a file that a person attaches to a prompt: an image for the model, scaled down if it is large; the text of a PDF file, or the file if it
// has no text; or a text, enclosed so that it does not pass for the words of the person. The file can be anywhere: a person named it.
//
// Errors: those of [os.Open], and one that says why a model cannot see the file.
func Attach(ctx context.Context, name string) (llm.Content, error) {
	data, err := attached(name)
	if err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	kind := http.DetectContentType(data)
	r := reader{heavy: make(chan struct{}, 1)}
	var l looked
	switch {
	case strings.HasPrefix(kind, "image/"):
		l, err = r.lookInto(ctx, data, readArguments{Path: base, Offset: 1})
	case kind == "application/pdf":
		l, err = r.lookAtPDF(ctx, data, readArguments{Path: base, Offset: 1})
	case tool.Binary(string(data)):
		return nil, fmt.Errorf("a model cannot see this kind of file (%s)", kind)
	case len(data) > maxAttached:
		return nil, fmt.Errorf("it has more than %d bytes; put it into the project and name it in the prompt", maxAttached)
	default:
		text, _ := decodeText(data)
		text = strings.ReplaceAll(text, "</file", "< /file")
		return textOf(fmt.Sprintf("\n\n<file name=%q>\n%s\n</file>", base, strings.TrimRight(text, "\r\n"))), nil
	}
	if err != nil {
		return nil, err
	}
	if len(l.content) == 1 && l.shown.First == 0 { // neither an image nor pages
		return nil, errors.New(strings.Trim(l.content.Text(), "[]"))
	}
	return append(textOf(fmt.Sprintf("\n\n<file name=%q/>\n", base)), l.content...), nil
}

// attached reads a regular file.
func attached(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxMedia:
		return nil, fmt.Errorf("it has more than %d MiB", maxMedia>>20)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMedia))
}
