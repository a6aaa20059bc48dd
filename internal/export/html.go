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
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

var (
	//go:embed page.css
	pageCSS markup.Trusted
	//go:embed page.js
	pageJS markup.Trusted
)

const (
	maxShown   = 200 << 10 // of a text of a tool, in bytes; the whole is in the other formats
	fewLines   = 24        // of a result that are seen at once
	maxPicture = 8 << 20   // bytes of a picture
)

// HTML writes one page that needs nothing else: no request leaves it, which its policy enforces.
func HTML(ctx context.Context, w io.Writer, store session.Store, s session.Summary, o Options) error {
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

// valid is a writer of text: bytes that are none are replaced.
func valid(w io.Writer) *transform.Writer { return transform.NewWriter(w, runes.ReplaceIllFormed()) }

// page is a page that is being written.
type page struct {
	w    *markup.Writer
	o    Options
	over *overview
	rich rich
}

// policy is the page's Content-Security-Policy: its own style and script, pictures that are in it, and nothing else.
func policy() string {
	hash := func(text markup.Trusted) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageCSS) + "; script-src " + hash(pageJS) +
		"; base-uri 'none'; form-action 'none'"
}

// begin writes all that comes before the first message.
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

// end writes all that comes after the last message.
func (p *page) end() error {
	p.w.Close() // main
	p.w.Close() // div
	p.w.Write(p.foot(), markup.Script(pageJS))
	p.w.Close() // body
	p.w.Close() // html
	return p.w.Flush()
}

// item writes a message, or what stands between messages.
func (p *page) item(it *item) error {
	if it.Between != nil {
		m, ok := p.over.between(it.Between)
		if !ok {
			return nil
		}
		m.Plain, _ = cut(m.Plain, maxShown)
		p.w.Write(p.mark(it, m))
	} else if it.Message.Role == llm.RoleUser {
		p.w.Write(p.user(it))
	} else {
		p.w.Write(p.answer(it))
	}
	return p.w.Err()
}

func speaker(s session.Source) string {
	switch s {
	case session.FromLoop:
		return "Program"
	case session.FromSteering:
		return "You, meanwhile"
	case session.FromFollowUp:
		return "You, next"
	case session.FromRevert:
		return "Lesson"
	}
	return "You"
}

func stopWords(s llm.StopReason) string {
	switch s {
	case llm.StopLength:
		return "cut at the output limit"
	case llm.StopRefused:
		return "declined"
	case llm.StopAborted:
		return "broken off"
	}
	return ""
}

// folded is a text of which only the beginning is seen at once.
type folded struct {
	Head, Rest string
	More       int  // lines in Rest
	Cut        bool // there is more than is shown
}

func fold(text string) folded {
	var f folded
	text = strings.TrimRight(text, "\n")
	text, f.Cut = cut(text, maxShown)
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= fewLines+6 {
		f.Head = text
		return f
	}
	f.Head, f.Rest, f.More = strings.Join(lines[:fewLines], ""), strings.Join(lines[fewLines:], ""), len(lines)-fewLines
	return f
}

// cut returns at most limit bytes of a text, and whether there are more.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return strings.ToValidUTF8(text, "\uFFFD"), false
	}
	return strings.ToValidUTF8(text[:limit], ""), true
}
