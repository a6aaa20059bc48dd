package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

// Permission asks about the calls of a question.
type Permission struct {
	waiting
	calls  []*call
	at     int  // the call in focus; for several calls, len(calls) and the next are "allow all" and "deny all"
	detail bool // it shows one call
	writes writing
	field  field
	wrong  string // why the text is no answer
	x, y   int
}

// NewPermission returns the dialog of a question that has calls. typing says that the prompt has text.
func NewPermission(q request.Question, typing bool, o *Options) *Permission {
	p := &Permission{}
	p.waiting = newWaiting(p, "Permission", q, typing, o)
	p.part = p.visible
	for _, c := range q.Calls {
		p.calls = append(p.calls, newCall(c, o))
	}
	p.detail = len(p.calls) == 1
	p.field = newField(o, true, false)
	return p
}

func (p *Permission) visible() (at, count int, text *pager) {
	if !p.detail || len(p.calls) == 0 {
		return -1, len(p.calls), nil
	}
	return p.at, len(p.calls), p.calls[p.at].view
}

func (p *Permission) Hints() []Hint {
	o := p.o
	switch {
	case p.writes != nothing:
		return []Hint{o.hint(keys.Submit, "send"), o.hint(keys.Newline, "new line"), o.hint(keys.Cancel, "back")}
	case !p.open():
		return nil
	case !p.detail:
		return []Hint{o.hint(keys.Accept, "look"), o.hint(keys.AllowKey, "allow"), o.hint(keys.DenyKey, "deny"), o.hint(keys.Cancel, "later")}
	}
	back := "later"
	if len(p.calls) > 1 {
		back = "all calls"
	}
	return []Hint{
		o.hint(keys.Accept, "choose"), o.hint(keys.AllowKey, "once"), o.hint(keys.DenyKey, "deny"), o.hint(keys.Edit, "edit"),
		o.hint(keys.Details, "whole text"), o.hint(keys.Cancel, back),
	}
}

func (p *Permission) Cursor() (x, y int, ok bool) { return p.x, p.y, p.writes != nothing }

func (p *Permission) Update(msg tea.Msg) tea.Cmd {
	if cmd, done := p.waits(msg); done || len(p.calls) == 0 {
		return cmd
	}
	o, n := p.o, len(p.calls)
	focused := p.detail || p.at < n // a call
	switch {
	case p.writes != nothing:
		return p.write(msg)
	case focused && o.is(msg, keys.AllowKey):
		return p.decide(ask.Answer{Allow: true})
	case focused && o.is(msg, keys.DenyKey):
		return p.decide(ask.Answer{})
	case p.detail && n > 1 && o.is(msg, keys.Cancel):
		p.detail = false
	case o.is(msg, keys.Cancel):
		return closing(p, nil)
	case p.detail:
		return p.one(msg)
	case o.is(msg, keys.Up):
		p.at = max(p.at-1, 0)
	case o.is(msg, keys.Down):
		p.at = min(p.at+1, n+1)
	case focused && o.is(msg, keys.Accept, keys.Details):
		p.detail = true
	case o.is(msg, keys.Accept):
		for _, c := range p.calls {
			c.answer = &ask.Answer{Allow: p.at == n}
		}
		return p.send()
	}
	return nil
}

// one handles messages for one call.
func (p *Permission) one(msg tea.Msg) tea.Cmd {
	o, c := p.o, p.calls[p.at]
	switch {
	case o.is(msg, keys.Up):
		c.at = max(c.at-1, 0)
	case o.is(msg, keys.Down):
		c.at = min(c.at+1, len(c.choices)-1)
	case o.is(msg, keys.Accept):
		ch := c.choices[c.at]
		if ch.write == nothing {
			return p.decide(ch.answer)
		}
		p.begin(ch.write)
	case o.is(msg, keys.Edit):
		p.begin(arguments)
	case o.is(msg, keys.Always): // it only moves there, so that the person reads the rule before it counts
		if i := slices.IndexFunc(c.choices, func(ch choice) bool { return ch.answer.Always }); i >= 0 {
			c.at = i
		}
	default:
		c.view.update(msg)
	}
	return nil
}

// begin lets the person write.
func (p *Permission) begin(w writing) {
	p.writes, p.wrong = w, ""
	p.field.Set("")
	if w == arguments {
		text, _ := p.calls[p.at].editable()
		p.field.Set(text)
	}
}

// write handles messages while the person writes.
func (p *Permission) write(msg tea.Msg) tea.Cmd {
	switch {
	case p.o.is(msg, keys.Cancel):
		p.writes = nothing
	case p.o.is(msg, keys.Submit):
		return p.written(p.field.Text())
	case p.field.Update(msg):
		p.wrong = ""
	}
	return nil
}

func (p *Permission) written(text string) tea.Cmd {
	answer := ask.Answer{Reason: strings.TrimSpace(text)}
	if p.writes == arguments {
		args, err := p.calls[p.at].edited(text)
		if err != nil {
			p.wrong = err.Error()
			return nil
		}
		answer = ask.Answer{Allow: true, Arguments: args}
	}
	p.writes = nothing
	return p.decide(answer)
}

// decide decides about the call in focus, and sends the answers if it was the last one. Otherwise the focus moves to the next undecided call.
func (p *Permission) decide(a ask.Answer) tea.Cmd {
	p.calls[p.at].answer = &a
	for i := range p.calls {
		if next := (p.at + 1 + i) % len(p.calls); p.calls[next].answer == nil {
			p.at = next
			return nil
		}
	}
	return p.send()
}

func (p *Permission) send() tea.Cmd {
	out := Answered{Dialog: p, Question: p.id}
	for _, c := range p.calls {
		out.Answers = append(out.Answers, *c.answer)
	}
	return closing(p, out)
}

func (p *Permission) Lines(width, height int) []string {
	switch {
	case len(p.calls) == 0:
		return nil
	case p.detail:
		return clip(p.callLines(p.calls[p.at], width, height), width, height)
	}
	return clip(p.listLines(width, height), width, height)
}

// listLines draws the list of several calls.
func (p *Permission) listLines(width, height int) []string {
	t := p.o.Theme
	var rows []string
	for i, c := range p.calls {
		rows = append(rows, p.line(i == p.at, pad(c.verdict(), 13)+flat(c.brief()), "", width, false))
	}
	rows = append(rows, p.line(p.at == len(p.calls), "Allow all", "", width, false), p.line(p.at > len(p.calls), "Deny all", "", width, true))
	lines := append(p.hold(width), t.Bold.Paint(fit("The model wants to make these calls:", width)))
	if p.at < len(p.calls) {
		lines = append(lines, painted(t.Dim, cut(wrap(p.calls[p.at].why(), width), 2))...)
	}
	return append(rowsIn(lines, height, len(rows)), around(rows, p.at, max(height-len(lines), min(height, len(rows))))...)
}

// rowsIn cuts the lines above rows, if the rows need the place.
func rowsIn(lines []string, height, rows int) []string {
	return lines[:max(min(len(lines), height-rows), 0)]
}

// around returns the rows around one of them.
func around(rows []string, at, height int) []string {
	if height <= 0 {
		return nil
	}
	top := window(0, at, len(rows), height)
	return rows[top:min(top+height, len(rows))]
}

// callLines draws one call: above the text that runs, below it the choices.
func (p *Permission) callLines(c *call, width, height int) []string {
	t := p.o.Theme
	style := t.Bold
	if c.effects.Unconfined {
		style = t.Warn
	}
	heading, _ := c.heading()
	above := painted(style, fold(flat(heading), width))
	above = append(above, painted(t.Dim, cut(wrap(c.why(), width), mostWhy))...)
	above = append(above, p.hold(width)...)
	below := p.below(c, width, height)
	if len(below) >= height {
		return below[:height]
	}
	above = above[:min(len(above), max(height-len(below)-3, 0))]
	room := height - len(above) - len(below)
	text := c.view.draw(width, room)
	if p.writes != nothing {
		p.y += len(above) + len(text)
	}
	return append(append(above, text...), below...)
}

// below draws the choices, or the text that the person writes.
func (p *Permission) below(c *call, width, height int) []string {
	t := p.o.Theme
	if p.writes != nothing {
		return p.writeLines(width, height)
	}
	var rows, about []string
	for i, ch := range c.choices {
		rows = append(rows, p.line(i == c.at, ch.words, exact(ch.rules), width, ch.danger))
	}
	ch := c.choices[c.at]
	if rules := exact(ch.rules); ansi.StringWidth(rules)+rulesAt+2 > width {
		about = painted(t.Code, cut(fold(rules, width), mostRules)) // the row does not show them all
	}
	if ch.about != "" && height > len(rows)+4 {
		about = append(about, painted(t.Dim, cut(wrap(flat(ch.about), width), 3))...)
	}
	most := max(height-2-len(about), min(height, 1))
	return append(around(rows, c.at, most), about...)
}

func (p *Permission) line(focused bool, words, rules string, width int, danger bool) string {
	return choiceLine(p.o, focused && p.open(), words, rules, width, danger)
}

// writeLines draws the field.
func (p *Permission) writeLines(width, height int) []string {
	t := p.o.Theme
	label := "The reason, for the model:"
	if p.writes == arguments {
		label = "The new arguments, as JSON:"
		if _, command := p.calls[p.at].editable(); command {
			label = "The command to run instead:"
		}
	}
	lines := []string{t.Accent.Paint(fit(label, width))}
	if p.wrong != "" {
		lines = append(lines, painted(t.Bad, cut(wrap(p.wrong, width), 2))...)
	}
	text := p.field.draw(width, height/2-len(lines), "", "")
	p.x, p.y, _ = p.field.Cursor()
	p.y += len(lines)
	return append(lines, text...)
}

// exact returns rules with every character.
func exact(rules []string) string {
	return strings.ReplaceAll(plainly(strings.Join(rules, "  ")), "\n", "<U+000A>")
}

// flat is a harmless text on one line in which nothing is invisible.
func flat(text string) string { return plainly(term.OneLine(text)) }
