package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

const (
	maxPage  = 4 << 20  // bytes of a page that are read
	maxImage = 3 << 20  // bytes of an image that a model is shown
	maxPart  = 50 << 10 // bytes of text in one result
	maxError = 2 << 10  // bytes of a page that says why there is no page
)

const acceptPage = "text/html, text/markdown, text/plain, application/json, image/*;q=0.8, */*;q=0.5"

type fetchArguments struct {
	URL    string `json:"url"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"HTML as it is"`
	Offset int    `json:"offset,omitempty"`
}

// Fetched is the details of a fetch.
type Fetched struct {
	URL     string `json:"url"`           // where it came from in the end
	Status  int    `json:"status"`        // of HTTP
	MIME    string `json:"mime,omitzero"` // media type
	Charset string `json:"charset,omitzero"`
	Title   string `json:"title,omitzero"`
	Bytes   int    `json:"bytes"`          // that were read
	More    bool   `json:"more,omitzero"`  // it has more than were read
	First   int    `json:"first,omitzero"` // bytes of the text that were shown, from First to before Last
	Last    int    `json:"last,omitzero"`
	Text    int    `json:"text,omitzero"` // bytes of the whole text
}

// page is one answer, ready to be shown in parts.
type page struct {
	Fetched
	text  string
	image []byte
	note  string // instead of a text that cannot be shown
}

func (s *set) fetch() tool.Tool {
	return tool.New("fetch", fetchText,
		func(_ context.Context, args fetchArguments) (tool.Effects, error) {
			t, err := s.client.target(args.URL)
			return tool.Effects{Hosts: []string{t.String()}, Idempotent: true}, err
		},
		func(ctx context.Context, args fetchArguments, _ tool.Report) (tool.Result, error) {
			t, err := s.client.target(args.URL)
			if err != nil {
				return tool.Result{}, err
			}
			key := pageKey{t.url.String(), args.Raw}
			if p, ok := s.pages.get(key); ok && args.Offset > 0 {
				return p.result(args.Offset), nil
			}
			ctx, cancel := within(ctx, s.fetchTime)
			defer cancel()
			p, err := s.page(ctx, t, args.Raw)
			if err != nil {
				return tool.Result{}, err
			}
			if p.Status < 300 && len(p.text) > maxPart {
				s.pages.put(key, p)
			}
			return p.result(args.Offset), nil
		})
}

// page gets a page and makes text of it.
func (s *set) page(ctx context.Context, t target, raw bool) (*page, error) {
	answer, err := s.client.get(ctx, t, acceptPage)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPage+1))
	if err != nil {
		return nil, fmt.Errorf("%s: the answer broke off after %d bytes: %w", t.url, len(body), broken(ctx, err))
	}
	p := &page{Fetched: Fetched{URL: answer.Request.URL.String(), Status: answer.StatusCode}}
	if len(body) > maxPage {
		body, p.More = body[:maxPage], true
	}
	p.Bytes = len(body)
	var label string
	p.MIME, label = mediaType(answer.Header.Get("Content-Type"), body)
	return p, p.read(ctx, body, label, raw, answer)
}

// broken is why a body could not be read to its end.
func broken(ctx context.Context, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection ended too early")
	}
	return reason(ctx, err)
}

// read makes of a body what a model can be shown.
func (p *page) read(ctx context.Context, body []byte, label string, raw bool, answer *http.Response) error {
	size := fmt.Sprintf("%d bytes", p.Bytes)
	if p.More {
		size = fmt.Sprintf("more than %d bytes", maxPage)
	}
	if pictured(p.MIME) && http.DetectContentType(body) == p.MIME {
		if p.More || p.Bytes > maxImage {
			p.note = fmt.Sprintf("[image, %s, %s, too large to be shown; save it with download]", p.MIME, size)
			return nil
		}
		p.image = body
		return nil
	}
	text, charset := decode(body, p.MIME, label)
	switch {
	case p.Bytes == 0:
		p.note = "[the answer is empty]"
	case tool.Binary(text) || p.MIME == "application/pdf":
		p.note = fmt.Sprintf("[binary, %s, %s, not shown; save it with download]", p.MIME, size)
	case isHTML(p.MIME) && !raw:
		converted, title, err := markdown(ctx, text, answer.Request.URL)
		if err != nil {
			return fmt.Errorf("%s: %w", p.URL, err)
		}
		p.Charset, p.Title, p.text = charset, title, converted
		if strings.TrimSpace(converted) == "" {
			p.note = fmt.Sprintf("[the page has no text in its %s; it may be made by scripts; raw shows its source]", size)
		} else if title != "" && !strings.HasPrefix(converted, "# ") {
			p.text = "Title: " + title + "\n\n" + converted
		}
	default:
		p.Charset, p.text = charset, text
	}
	p.Text = len(p.text)
	return nil
}

// pictured reports whether models look at images of this kind.
func pictured(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// result shows a page from an offset.
func (p *page) result(offset int) tool.Result {
	shown := p.Fetched
	var notes []string
	if p.Status < 200 || p.Status > 299 {
		return p.failed()
	}
	notes = append(notes, p.URL)
	switch {
	case p.image != nil:
		text := fmt.Sprintf("[%s; %s, %d bytes]", p.URL, p.MIME, p.Bytes)
		return tool.Result{Content: llm.Content{llm.Image{MIME: p.MIME, Data: p.image}, llm.Text{Text: text}}, Details: shown}
	case p.note != "":
		result := tool.TextResult(p.note)
		result.Details = shown
		return result
	case offset >= len(p.text):
		result := tool.TextResult(fmt.Sprintf("[the text has %d bytes; there is nothing at offset %d]", len(p.text), offset))
		result.Details = shown
		return result
	}
	shown.First, shown.Last = part(p.text, max(offset, 0))
	if shown.First > 0 || shown.Last < len(p.text) {
		notes = append(notes, fmt.Sprintf("bytes %d-%d of %d", shown.First, shown.Last, len(p.text)))
	}
	switch {
	case shown.Last < len(p.text):
		notes = append(notes, fmt.Sprintf("go on with offset %d", shown.Last))
	case p.More:
		notes = append(notes, fmt.Sprintf("only the first %d bytes were read; save all with download", maxPage))
	}
	text := p.text[shown.First:shown.Last]
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	result := tool.TextResult(text + "[" + strings.Join(notes, "; ") + "]")
	result.Details = shown
	return result
}

// failed tells that the server has no page, and what it says about it.
func (p *page) failed() tool.Result {
	text := fmt.Sprintf("[%s: %d %s]", p.URL, p.Status, http.StatusText(p.Status))
	if p.text != "" {
		said, _ := tool.Bound(p.text, maxError)
		text = strings.TrimSpace(said) + "\n" + text
	}
	result := tool.TextResult(text)
	result.IsError = true
	result.Details = p.Fetched
	return result
}

// part is where a part of a text begins and ends: whole lines where they are short enough, whole runes always.
func part(text string, offset int) (first, last int) {
	for first = offset; first < len(text) && !utf8.RuneStart(text[first]); {
		first++
	}
	last = min(first+maxPart, len(text))
	if last == len(text) {
		return first, last
	}
	for last > first && !utf8.RuneStart(text[last]) {
		last--
	}
	if i := strings.LastIndexByte(text[first:last], '\n') + 1; i > maxPart/2 {
		last = first + i
	}
	return first, last
}
