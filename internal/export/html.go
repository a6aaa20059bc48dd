package export

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"strings"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

var (
	//go:embed page.css
	pageCSS markup.Trusted
	//go:embed page.js
	pageJS markup.Trusted
)

const (
	maxShown   = 200 << 10 // bytes of a text of a tool; the other formats have all of it
	fewLines   = 24        // lines of a result that are not folded
	maxPicture = 8 << 20   // bytes of a picture
)

// HTML writes one page that loads nothing; its policy forbids every request.
func HTML(ctx context.Context, w io.Writer, store index.Store, s index.Summary, o Options) error {
	over, err := look(ctx, store, s, o)
	if err != nil {
		return err
	}
	text := valid(w)
	p := &page{w: markup.NewWriter(text), o: o, over: over, rich: newRich()}
	if err := p.begin(); err != nil {
		return err
	}
	for it, err := range over.items(ctx, store) {
		if err != nil {
			return err
		}
		if err := p.item(it); err != nil {
			return err
		}
	}
	return cmp.Or(p.end(), text.Close())
}

func valid(w io.Writer) *transform.Writer { return transform.NewWriter(w, runes.ReplaceIllFormed()) }

type page struct {
	w    *markup.Writer
	o    Options
	over *overview
	rich rich
}

// policy returns the Content-Security-Policy of the page: its own style and script, embedded pictures, and nothing else.
func policy() string {
	hash := func(text markup.Trusted) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageCSS) + "; script-src " + hash(pageJS) +
		"; base-uri 'none'; form-action 'none'"
}

// begin writes everything before the first item.
func (p *page) begin() error {
	p.w.Write(markup.Trusted("<!doctype html>\n"))
	p.w.Open("html", markup.Set("lang", "en"))
	p.w.Write(p.head())
	p.w.Open("body", nil)
	p.w.Write(markup.El("a", markup.Class("skip").Set("href", "#main"), markup.Text("Skip to the conversation")), p.facts())
	p.w.Open("div", markup.Class("columns"))
	p.w.Write(p.contents())
	p.w.Open("main", markup.Set("id", "main").Set("tabindex", "-1"))
	return p.w.Err()
}

// end writes everything after the last item.
func (p *page) end() error {
	p.w.Close() // main
	p.w.Close() // div
	p.w.Write(p.foot(), markup.Script(pageJS))
	p.w.Close() // body
	p.w.Close() // html
	return p.w.Flush()
}

func (p *page) item(it item) error {
	switch it.Kind {
	case transcript.KindPrompt:
		p.w.Write(p.prompt(it))
	case transcript.KindAnswer, transcript.KindCommand:
		p.w.Write(p.answer(it))
	default:
		p.w.Write(p.note(it))
	}
	return p.w.Err()
}

// split returns the first lines of a text, the rest, and the number of lines in the rest. A short rest stays with the first lines.
func split(text string, most int) (head, rest string, more int) {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= most+6 {
		return strings.Join(lines, ""), "", 0
	}
	return strings.Join(lines[:most], ""), strings.Join(lines[most:], ""), len(lines) - most
}

// cut returns at most limit bytes of a text, and whether there are more.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD"), false
	}
	return strings.ToValidUTF8(text[:limit], ""), true
}
