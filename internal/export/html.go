package export

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed page.tmpl
	pageTemplates string
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
	p, err := newPage(bufio.NewWriterSize(text, 64<<10), over, o)
	if err != nil {
		return err
	}
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
	w    *bufio.Writer
	o    Options
	over *overview
	rich rich
	t    *template.Template
}

func newPage(w *bufio.Writer, over *overview, o Options) (*page, error) {
	p := &page{w: w, o: o, over: over, rich: newRich()}
	t, err := template.New("page").Funcs(template.FuncMap{
		"rich": func(text string) template.HTML { return template.HTML(p.rich.html(text)) }, // rich makes it harmless
		"time": timeWords, "usage": usageWords, "cost": costWords, "tokens": tokenWords, "counted": counted,
	}).Parse(pageTemplates)
	p.t = t
	return p, err
}

// policy is the page's Content-Security-Policy: its own style and script, pictures that are in it, and nothing else.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; img-src data:; style-src " + hash(pageCSS) + "; script-src " + hash(pageJS) +
		"; base-uri 'none'; form-action 'none'"
}

// begin writes all that comes before the first message. What is trusted, and only that, is written without a template.
func (p *page) begin() error {
	if err := p.t.ExecuteTemplate(p.w, "head", map[string]any{"Title": p.title(), "Policy": policy()}); err != nil {
		return err
	}
	for _, text := range []string{"<style>", pageCSS, "</style>\n</head>\n"} {
		if _, err := p.w.WriteString(text); err != nil {
			return err
		}
	}
	return p.t.ExecuteTemplate(p.w, "top", map[string]any{
		"Title": p.title(), "O": p.over, "Usage": p.over.Usage, "Took": p.took(),
		"Dead": slices.ContainsFunc(p.over.Turns, func(t turnRef) bool { return t.Dead }),
	})
}

func (p *page) title() string {
	return cmp.Or(firstLine(p.over.Title, 200), "Session "+string(p.over.ID))
}

func (p *page) took() string {
	if d := p.over.Last.Sub(p.over.First); d > 0 {
		return duration(d)
	}
	return ""
}

func (p *page) end() error {
	if err := p.t.ExecuteTemplate(p.w, "bottom", p.over); err != nil {
		return err
	}
	for _, text := range []string{"<script>", pageJS, "</script>\n</body>\n</html>\n"} {
		if _, err := p.w.WriteString(text); err != nil {
			return err
		}
	}
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
		return p.t.ExecuteTemplate(p.w, "mark", map[string]any{"Item": it, "Mark": m})
	}
	m := it.Message
	if m.Role == llm.RoleUser {
		return p.t.ExecuteTemplate(p.w, "user", map[string]any{
			"Item": it, "Who": speaker(m.Source), "Folded": m.Source == session.FromLoop, "Parts": p.parts(m.Content),
		})
	}
	v := answerView{Item: it, Model: cmp.Or(m.Model, "Model"), Usage: usageWords(m.Usage), Stop: stopWords(m.Stop), Todo: todoText(it.Todo)}
	for _, part := range m.Content {
		if t, ok := part.(llm.Thinking); ok {
			if strings.TrimSpace(t.Text) == "" {
				v.Hidden++
			} else {
				v.Thinking = append(v.Thinking, t.Text)
			}
		}
	}
	rest, intent := withoutIntent(m.Text())
	v.Text, v.Intent = rest, intent
	for _, c := range it.Calls {
		v.Calls = append(v.Calls, p.call(c))
	}
	return p.t.ExecuteTemplate(p.w, "answer", v)
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

// answerView is what the template of an answer needs.
type answerView struct {
	Item     *item
	Model    string
	Thinking []string
	Hidden   int // thinking that nobody may read
	Intent   string
	Text     string
	Calls    []callView
	Todo     string
	Usage    string
	Stop     string
}

// callView is what the template of a call needs.
type callView struct {
	*callItem
	Gist, Outcome, Took, Arguments string
	Diffs                          []fileDiff
	Added, Removed                 int
	Result                         folded
	Parts                          []partView
	Failed                         bool
	Cut                            bool // its arguments are not whole
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

func (p *page) call(c *callItem) callView {
	v := callView{callItem: c, Gist: c.gist(), Outcome: c.outcome(), Took: c.ran(), Diffs: c.diffs(p.over.Dir, p.o)}
	v.Arguments, v.Cut = cut(c.pretty(), maxShown/4)
	v.Failed = v.Outcome != ""
	for _, d := range v.Diffs {
		v.Added, v.Removed = v.Added+d.Added, v.Removed+d.Removed
	}
	if c.Result != nil {
		v.Result = fold(c.Result.Text())
		for _, part := range p.parts(c.Result.Content) {
			if part.Text == "" {
				v.Parts = append(v.Parts, part)
			}
		}
	}
	return v
}

// partView is a text, a picture, or a file that is named.
type partView struct {
	Text    string
	Picture template.URL
	Name    string
}

func (p *page) parts(content llm.Content) (out []partView) {
	for _, part := range content {
		switch c := part.(type) {
		case llm.Text:
			text, more := cut(c.Text, maxShown)
			if more {
				text += "\n\n… (cut; the whole is in the exports as JSON)"
			}
			out = append(out, partView{Text: text})
		case llm.Image:
			out = append(out, pictureView(c))
		case llm.Document:
			out = append(out, partView{Name: fmt.Sprintf("%s (%s, %d kB)", cmp.Or(c.Name, "document"), c.MIME, (len(c.Data)+1023)/1024)})
		case llm.UnknownPart:
			out = append(out, partView{Name: "a part of the type " + c.Type})
		}
	}
	return out
}

// pictureView is a picture of a kind in which nothing can hide.
func pictureView(c llm.Image) partView {
	known := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	if !slices.Contains(known, c.MIME) || len(c.Data) == 0 || len(c.Data) > maxPicture {
		return partView{Name: fmt.Sprintf("picture (%s, %d kB)", c.MIME, (len(c.Data)+1023)/1024)}
	}
	return partView{Picture: template.URL("data:" + c.MIME + ";base64," + base64.StdEncoding.EncodeToString(c.Data))} // of a known kind
}
