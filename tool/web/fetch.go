package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

const (
	maxPage  = 4 << 20  // bytes read of a page
	maxImage = 3 << 20  // bytes of an image for a model
	maxPart  = 50 << 10 // bytes of text in one result
	maxError = 2 << 10  // bytes of the page that comes with an error
)

const acceptPage = "text/html, text/markdown, text/plain, application/json, image/*;q=0.8, */*;q=0.5"

type fetchArguments struct {
	URL    string `json:"url" jsonschema:"http or https address"`
	Raw    bool   `json:"raw,omitempty" jsonschema:"show HTML unchanged"`
	Offset int    `json:"offset,omitempty" jsonschema:"first byte of the text to show, default 0"`
}

// Fetched is the details of a fetch.
type Fetched struct {
	URL     string `json:"url"`           // after redirects
	Status  int    `json:"status"`        // of HTTP
	MIME    string `json:"mime,omitzero"` // media type
	Charset string `json:"charset,omitzero"`
	Title   string `json:"title,omitzero"`
	Bytes   int    `json:"bytes"`          // read
	More    bool   `json:"more,omitzero"`  // the page is longer
	First   int    `json:"first,omitzero"` // the shown bytes of the text, from First to before Last
	Last    int    `json:"last,omitzero"`
	Text    int    `json:"text,omitzero"` // bytes of the whole text
}

// page is an answer that a model can read in parts.
type page struct {
	Fetched
	text  string
	image []byte
	note  string // in place of a text
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
			p := s.pages.get(key)
			if p == nil || args.Offset <= 0 {
				ctx, cancel := within(ctx, s.fetchTime)
				defer cancel()
				if p, err = s.page(ctx, t, args.Raw); err != nil {
					return tool.Result{}, err
				}
				if p.Status < 300 && len(p.text) > tool.Limit(ctx, maxPart) {
					s.pages.put(key, p)
				}
			}
			result := p.result(max(args.Offset, 0), tool.Limit(ctx, maxPart))
			result.Brief = fmt.Sprintf("%d, %s", p.Status, tool.Count(p.Bytes, "byte"))
			return result, nil
		}, tool.WithTitle(func(args fetchArguments) string { return args.URL }))
}

// page gets a page and makes it readable for a model.
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

// broken returns the reason why a body is incomplete.
func broken(ctx context.Context, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection ended too early")
	}
	return reason(ctx, err)
}

// read sets the text, image or note of a page.
func (p *page) read(ctx context.Context, body []byte, label string, raw bool, answer *http.Response) error {
	size := fmt.Sprintf("%d bytes", p.Bytes)
	if p.More {
		size = fmt.Sprintf("more than %d bytes", maxPage)
	}
	if isImage(p.MIME) && http.DetectContentType(body) == p.MIME {
		if p.More || p.Bytes > maxImage {
			p.note = fmt.Sprintf("[image, %s, %s, too large to show; save it with download]", p.MIME, size)
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
			p.note = fmt.Sprintf("[the page has no text in its %s; scripts may create it; raw shows the source]", size)
		} else if title != "" && !strings.HasPrefix(converted, "# ") {
			p.text = "Title: " + title + "\n\n" + converted
		}
	default:
		p.Charset, p.text = charset, text
	}
	p.Text = len(p.text)
	return nil
}

// isImage reports whether models accept images of this media type.
func isImage(kind string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
}

func (p *page) result(offset, most int) tool.Result {
	shown := p.Fetched
	switch {
	case p.Status < 200 || p.Status > 299:
		text := fmt.Sprintf("[%s: %d %s]", p.URL, p.Status, http.StatusText(p.Status))
		if said, _ := tool.Bound(p.text, maxError); said != "" {
			text = strings.TrimSpace(said) + "\n" + text
		}
		result := tool.TextResult(text).With("", shown)
		result.IsError = true
		return result
	case p.image != nil:
		text := fmt.Sprintf("[%s; %s, %d bytes]", p.URL, p.MIME, p.Bytes)
		return tool.Result{Content: llm.Content{llm.Image{MIME: p.MIME, Data: p.image}, llm.Text{Text: text}}, Details: shown}
	case p.note != "":
		return tool.TextResult(p.note).With("", shown)
	case offset >= len(p.text):
		return tool.TextResult(fmt.Sprintf("[the text has %d bytes; offset %d is past its end]", len(p.text), offset)).With("", shown)
	}
	shown.First, shown.Last = tool.Part(p.text, offset, most)
	notes := []string{p.URL}
	if shown.First > 0 || shown.Last < len(p.text) {
		notes = append(notes, fmt.Sprintf("bytes %d-%d of %d", shown.First, shown.Last, len(p.text)))
	}
	switch {
	case shown.Last < len(p.text):
		notes = append(notes, fmt.Sprintf("continue with offset %d", shown.Last))
	case p.More:
		notes = append(notes, fmt.Sprintf("only the first %d bytes were read; save all with download", maxPage))
	}
	text := p.text[shown.First:shown.Last]
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return tool.TextResult(text+"["+strings.Join(notes, "; ")+"]").With("", shown)
}

// maxPages is how many long pages a set keeps, so that their parts fit together and need one request. Then it forgets them.
const maxPages = 4

type pageKey struct {
	url string
	raw bool
}

// pages is the last long pages.
type pages struct {
	mu   sync.Mutex
	kept map[pageKey]*page
}

func (p *pages) get(key pageKey) *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept[key]
}

func (p *pages) put(key pageKey, one *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) == maxPages {
		p.kept = map[pageKey]*page{}
	}
	p.kept[key] = one
}
