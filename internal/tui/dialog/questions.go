package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

// Questions asks the questions of the model, one after another.
type Questions struct {
	waiting
	all  []*question
	at   int
	x, y int
}

// question is one question with the answer so far.
type question struct {
	ask.Question
	chosen []bool // of the options
	at     int    // the option in focus; len(Options): the field
	field  field
	text   *pager
}

// NewQuestions returns the dialog of a question that has questions of the model. typing says that the prompt has text.
func NewQuestions(q request.Question, typing bool, o *Options) *Questions {
	d := &Questions{}
	d.waiting = newWaiting(d, "Question", q, typing, o)
	d.part = d.visible
	for _, one := range q.Questions {
		v := &question{Question: one, chosen: make([]bool, len(one.Options)), field: newField(o, true, false)}
		v.at = max(slices.IndexFunc(one.Options, func(op ask.Option) bool { return op.Label == one.Default }), 0)
		v.text = newPager(o, func(width int) []string { return painted(o.Theme.Text, wrap(v.Text, width)) })
		d.all = append(d.all, v)
	}
	return d
}

func (d *Questions) visible() (at, count int, text *pager) {
	if len(d.all) == 0 {
		return 0, 0, nil
	}
	return d.at, len(d.all), d.all[d.at].text
}

func (d *Questions) Hints() []Hint {
	o := d.o
	if len(d.all) == 0 || !d.open() {
		return nil
	}
	hints := []Hint{o.hint(keys.Accept, "answer")}
	if d.all[d.at].Multiple {
		hints = append(hints, o.hint(keys.Check, "choose"))
	}
	back := "later"
	if d.at > 0 {
		back = "question before"
	}
	return append(hints, o.hint(keys.Newline, "new line"), o.hint(keys.Cancel, back))
}

func (d *Questions) Cursor() (x, y int, ok bool) {
	return d.x, d.y, len(d.all) > 0 && d.open() && d.all[d.at].writes()
}

// writes reports whether the field is in focus.
func (q *question) writes() bool { return q.at >= len(q.Options) }

func (d *Questions) Update(msg tea.Msg) tea.Cmd {
	if cmd, done := d.waits(msg); done || len(d.all) == 0 {
		return cmd
	}
	o, q := d.o, d.all[d.at]
	switch {
	case q.writes() && q.field.Update(msg):
	case o.is(msg, keys.Up):
		q.at = max(q.at-1, 0)
	case o.is(msg, keys.Down) && !q.writes():
		q.at++
	case o.is(msg, keys.Cancel) && d.at > 0:
		d.at--
	case o.is(msg, keys.Cancel):
		return closing(d, nil)
	case q.Multiple && !q.writes() && o.is(msg, keys.Check):
		q.chosen[q.at] = !q.chosen[q.at]
	case o.is(msg, keys.Accept):
		return d.next()
	case typing(msg): // the person begins an own answer
		q.at = len(q.Options)
		q.field.Update(msg)
	default:
		q.text.update(msg)
	}
	return nil
}

// next accepts the answer in focus and moves to the next question, or sends all answers.
func (d *Questions) next() tea.Cmd {
	q := d.all[d.at]
	if !q.Multiple {
		for i := range q.chosen {
			q.chosen[i] = i == q.at
		}
	}
	if d.at++; d.at < len(d.all) {
		return nil
	}
	d.at--
	out := Answered{Dialog: d, Question: d.id}
	for _, q := range d.all {
		out.Answers = append(out.Answers, ask.Answer{Choices: q.choices()})
	}
	return closing(d, out)
}

// choices returns the answer: chosen options, the person's own words, or the default.
func (q *question) choices() (choices []string) {
	for i, is := range q.chosen {
		if is {
			choices = append(choices, q.Options[i].Label)
		}
	}
	if text := strings.TrimSpace(q.field.Text()); text != "" && (q.Multiple || len(choices) == 0) {
		choices = append(choices, text)
	}
	if len(choices) == 0 && q.Default != "" {
		return []string{q.Default}
	}
	return choices
}

func (d *Questions) Lines(width, height int) []string {
	if len(d.all) == 0 {
		return nil
	}
	q := d.all[d.at]
	var rows []string
	starts := make([]int, len(q.Options)+1)
	for i, op := range q.Options {
		starts[i] = len(rows)
		rows = append(rows, d.option(q, i, op, width)...)
	}
	starts[len(q.Options)] = len(rows)
	rows = append(rows, d.own(q, width)...)
	above := d.hold(width)
	text := q.text.draw(width, max(height-len(above)-len(rows), min(height/3, 3)))
	above = append(above, text...)
	above = above[:min(len(above), max(height-1, 0))]
	room := height - len(above)
	if room <= 0 {
		return clip(above, width, height)
	}
	at := starts[q.at]
	if q.writes() {
		x, y, _ := q.field.Cursor()
		at += y
		d.x, d.y = x, at
	}
	top := window(0, at, len(rows), room)
	d.y += len(above) - top
	return clip(append(above, rows[top:min(top+room, len(rows))]...), width, height)
}

// option draws an option, with its description next to it or below it.
func (d *Questions) option(q *question, i int, op ask.Option, width int) []string {
	t := d.o.Theme
	focused := q.at == i && d.open()
	mark, style := "  ", t.Text
	if focused {
		mark, style = t.Glyph("› ", "> "), t.Bold
	}
	box := ""
	switch {
	case q.Multiple && q.chosen[i]:
		box = t.Glyph("[✓] ", "[x] ")
	case q.Multiple:
		box = "[ ] "
	}
	label := box + term.OneLine(op.Label)
	if op.Label == q.Default {
		label += " (default)"
	}
	about := term.OneLine(op.Description)
	var lines []string
	for _, line := range wrap(label, width-2) {
		lines = append(lines, t.Accent.Paint(mark)+style.Paint(line))
		mark = "  "
	}
	if about != "" && term.Cells(label)+term.Cells(about)+6 <= width {
		lines[0], about = lines[0]+"  "+t.Dim.Paint(about), ""
	}
	for i, line := range lines {
		if lines[i] = fit(line, width); focused && !d.o.Reader {
			lines[i] = t.Selected.Bar(lines[i], width)
		}
	}
	if about != "" {
		for _, more := range cut(wrap(about, width-4), 3) {
			lines = append(lines, "    "+t.Dim.Paint(more))
		}
	}
	return lines
}

// own draws the field for the person's own words.
func (d *Questions) own(q *question, width int) []string {
	t := d.o.Theme
	mark := "  "
	if q.writes() && d.open() {
		mark = t.Glyph("› ", "> ")
	}
	words := "your own answer"
	switch {
	case len(q.Options) == 0 && q.Default != "":
		words = term.OneLine(q.Default) + " (default)"
	case len(q.Options) == 0:
		words = "your answer"
	}
	return clip(q.field.draw(width, 4, mark, words), width, 4)
}
