package dialog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
)

// Point is a prompt of the branch to which a person can rewind.
type Point struct {
	To   session.ID // the entry before the prompt, for conversation.Back
	Text string
	Time time.Time
}

// PlanWanted asks for the plan of a rewind. The shell calls Rewind of the conversation with Back, whose DryRun is set, and then
// [Rewind.SetPlan].
type PlanWanted struct {
	Dialog *Rewind
	Back   conversation.Back
}

// Rewound is the outcome of a [Rewind], for Rewind of the conversation. Text is the prompt, for the prompt editor; it is empty if the
// conversation stays.
type Rewound struct {
	Dialog Dialog
	Back   conversation.Back
	Text   string
}

// Rewind lets a person choose a prompt and what to rewind: files, conversation, or both. It shows the plan first.
type Rewind struct {
	*Picker[Point]
	point   *Point // nil: the list is visible
	scope   undo.Scope
	force   bool
	plan    *undo.Plan
	problem string // why there is no plan
	preview *pager // of the plan
}

// NewRewind returns the dialog of a branch, whose prompts come newest first.
func NewRewind(points []Point, o *Options) *Rewind {
	d := &Rewind{}
	list := List[Point]{
		Title: "Rewind", Accept: "choose", Empty: "There is no prompt to rewind to.", Columns: []Column{{Head: "BEFORE THE PROMPT"}, {Head: "SENT", Right: true}},
		Row: func(p Point) Row[Point] {
			return Row[Point]{Cells: []string{p.Text, transcript.Age(o.now().Sub(p.Time))}, Detail: p.Text}
		},
	}
	list.pick = func(_ Key[Point], p Point, _ string) tea.Cmd {
		d.point, d.scope, d.force, d.typing = &p, undo.Both, false, false
		return d.want()
	}
	d.Picker = NewPicker(list, o)
	d.owner = d
	d.Set(points, "")
	return d
}

// back is the rewind that is in focus.
func (d *Rewind) back(dry bool) conversation.Back {
	return conversation.Back{To: string(d.point.To), Scope: d.scope, Force: d.force, DryRun: dry}
}

// want asks for the plan.
func (d *Rewind) want() tea.Cmd {
	d.plan, d.problem, d.preview = nil, "", nil
	return emit(PlanWanted{d, d.back(true)})
}

// SetPlan shows the plan of a rewind, or the reason why there is none. It ignores the plan of a choice that is not in focus any more.
func (d *Rewind) SetPlan(b conversation.Back, plan *undo.Plan, failure string) {
	if d.point != nil && b == d.back(true) {
		d.plan, d.problem, d.preview = plan, failure, nil
	}
}

var scopes = []undo.Scope{undo.Both, undo.Conversation, undo.Files}

func (d *Rewind) Update(msg tea.Msg) tea.Cmd {
	if d.point == nil {
		return d.Picker.Update(msg)
	}
	o := d.o
	at := slices.Index(scopes, d.scope)
	switch {
	case o.is(msg, keys.Cancel):
		d.point = nil
	case o.is(msg, keys.Up) && at > 0:
		d.scope = scopes[at-1]
		return d.want()
	case o.is(msg, keys.Down) && at < len(scopes)-1:
		d.scope = scopes[at+1]
		return d.want()
	case o.is(msg, keys.Check) && d.scope != undo.Conversation:
		d.force = !d.force
		return d.want()
	case o.is(msg, keys.Accept) && d.ready():
		out := Rewound{Dialog: d, Back: d.back(false)}
		if d.scope != undo.Files {
			out.Text = d.point.Text
		}
		return closing(d, out)
	case d.preview != nil:
		d.preview.update(msg)
	}
	return nil
}

// ready reports whether the plan can be carried out.
func (d *Rewind) ready() bool {
	return d.plan != nil && d.problem == "" && !d.plan.Empty() && (d.force || len(d.plan.Problems()) == 0)
}

func (d *Rewind) Hints() []Hint {
	o := d.o
	if d.point == nil {
		return d.Picker.Hints()
	}
	var hints []Hint
	if d.ready() {
		hints = append(hints, o.hint(keys.Accept, "rewind"))
	}
	hints = append(hints, Hint{o.Keys.Key(keys.Up) + " " + o.Keys.Key(keys.Down), "scope"})
	if d.scope != undo.Conversation {
		hints = append(hints, o.hint(keys.Check, "overwrite"))
	}
	return append(hints, o.hint(keys.Cancel, "back"))
}

func (d *Rewind) Lines(width, height int) []string {
	if d.point == nil {
		return d.Picker.Lines(width, height)
	}
	t := d.o.Theme
	lines := []string{t.Dim.Paint(fit("before: "+term.OneLine(d.point.Text), width))}
	for i, words := range []string{"Files and conversation", "Only the conversation", "Only the files"} {
		lines = append(lines, choiceLine(d.o, scopes[i] == d.scope, words, "", width, false))
	}
	if d.scope != undo.Conversation {
		box := "[ ] "
		if d.force {
			box = t.Glyph("[✓] ", "[x] ")
		}
		lines = append(lines, fit("  "+box+"also overwrite changes by others", width))
	}
	if d.preview == nil {
		d.preview = newPager(d.o, d.planLines)
		d.preview.open = true
	}
	return clip(append(lines, d.preview.draw(width, height-len(lines))...), width, height)
}

// planLines draws the plan.
func (d *Rewind) planLines(width int) (lines []string) {
	t := d.o.Theme
	switch {
	case d.problem != "":
		return painted(t.Bad, wrap(d.problem, width))
	case d.plan == nil:
		return []string{t.Dim.Paint("reading the files")}
	}
	p := d.plan
	total := "no file changes"
	if len(p.Files) > 0 {
		total = transcript.Count(len(p.Files), "file") + " change"
	}
	if n := len(p.Problems()); n > 0 {
		total += fmt.Sprintf(", %s", transcript.Count(n, "problem"))
	}
	lines = append(lines, t.Bold.Paint(fit(total, width)))
	for _, f := range p.Files {
		what := action(f)
		if f.Refused || f.Lost || f.Problem != "" && !d.force {
			what = "keep"
		}
		lines = append(lines, fit(t.Text.Paint(pad(what, 9))+t.Text.Paint(flat(p.Rel(f.Path))), width))
		if f.Problem != "" {
			lines = append(lines, painted(t.Warn, wrap("         "+term.OneLine(f.Problem), width))...)
		}
	}
	for _, n := range p.Notes {
		lines = append(lines, painted(t.Dim, wrap(term.OneLine(n), width))...)
	}
	return lines
}

// action is the operation on a file in a word.
func action(f undo.File) string {
	switch {
	case f.Want == nil:
		return "remove"
	case f.Now == nil:
		return "recreate"
	case strings.EqualFold(f.Now.Hash, f.Want.Hash) && f.Now.Link == f.Want.Link:
		return "mode"
	}
	return "restore"
}
