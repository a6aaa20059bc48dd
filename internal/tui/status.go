package tui

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// activityLine says what happens, or the remark of the moment, or what is below the visible part.
func activityLine(a *app, width int) string {
	t, now := a.theme, a.now()
	_, asking := a.pane.asking()
	var parts []string
	switch {
	case a.search != nil:
		return a.search.line(a, width)
	case a.pane.busy() || a.pane.act.Summary:
		what := a.pane.act.Line(now, a.pane.fold.Running(), asking)
		mark := t.Accent.Paint(spinner(now, a.o.Config.Still || a.o.Config.Reader || asking, t.ASCII))
		parts = append(parts, mark+" "+t.Text.Paint(what))
		if a.pane.act.Turn > 1 {
			parts = append(parts, fmt.Sprintf("turn %d", a.pane.act.Turn))
		}
		if elapsed := term.Elapsed(now.Sub(a.pane.act.Started)); elapsed != "" && !a.pane.act.Started.IsZero() {
			parts = append(parts, "run"+elapsed)
		}
		if postponed(a) {
			parts = append(parts, a.keys.Key(keys.Complete)+" answers")
		}
		if a.pane.busy() {
			cancel := a.keys.Key(keys.Cancel)
			if a.home != nil { // which goes back
				cancel = a.keys.Key(keys.Interrupt)
			}
			parts = append(parts, cancel+" cancels")
		}
	case a.pane.opened == nil && a.failed == nil:
		parts = append(parts, t.Dim.Paint("opening"))
	case a.browsing && a.remark == "":
		parts = append(parts, t.Dim.Paint(fmt.Sprintf("%s unfolds, %s copies, %s and %s go to prompts, %s goes back",
			a.keys.Key(keys.Toggle), a.keys.Key(keys.Copy), a.keys.Key(keys.PromptPrev), a.keys.Key(keys.PromptNext), a.keys.Key(keys.Cancel))))
	case goesOn(a) && a.remark == "":
		parts = append(parts, t.Warn.Paint(reached(a.pane.state.Reached)))
	case a.pane.act.Advice != "" && a.remark == "":
		parts = append(parts, t.Dim.Paint(a.pane.act.Advice))
	}
	if a.remark != "" {
		parts = append(parts, term.OneLine(a.remark))
	} else if n := a.list.Below(); n > 0 && !a.list.AtBottom() {
		parts = append(parts, t.Glyph("↓ ", "")+"more below, "+a.keys.Key(keys.ScrollDown))
	}
	if len(parts) == 0 {
		return ""
	}
	rest := ""
	for _, part := range parts[1:] {
		rest += t.Dim.Paint(" · " + part)
	}
	first := fit(parts[0], max(width-ansi.StringWidth(rest), width/2)) // a long command does not hide the key that cancels it
	return fit(first+rest, width)
}

// spinner returns the mark of work for a time.
func spinner(now time.Time, still, ascii bool) string {
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	switch {
	case still && ascii:
		return "*"
	case still:
		return "●"
	case ascii:
		frames = []rune(`|/-\`)
	}
	return string(frames[int(now.UnixMilli()/100)%len(frames)])
}

// statusLine has the mode and the model on the left, the directory, the context window and the cost on the right.
func statusLine(a *app, width int) string {
	t, s := a.theme, a.pane.state
	left := []string{modeStyle(t, s.Mode).Paint(string(cmp.Or(s.Mode, "ask")))}
	if a.home != nil { // its process knows the mode
		left[0] = t.Info.Paint("agent")
	}
	if s.Model.ID != "" {
		left = append(left, t.Text.Paint(term.OneLine(cmp.Or(s.Model.Reference, s.Model.Ref()))))
	}
	if s.Role != "" {
		left = append(left, t.Info.Paint(term.OneLine(s.Role)))
	}
	if g := s.Goal; g != nil && g.Open() {
		left = append(left, loopStyle(t, g.State).Paint("loop "+transcript.Rounds(*g)))
	}
	if n := len(s.Jobs); n > 0 {
		left = append(left, t.Info.Paint(transcript.Count(n, "job")))
	}
	if n := a.pane.working(); n > 0 && width == a.width { // else the panel has them
		left = append(left, t.Info.Paint(transcript.Count(n, "agent")))
	}
	if o := a.pane.opened; o != nil && o.Owner != "" {
		left = append(left, t.Warn.Paint("attached"))
	}
	var right []string
	if s.Context.Window > 0 && s.Context.Used > 0 {
		used := int(s.Context.Used * 100 / int64(s.Context.Window))
		right = append(right, level(t, used).Paint(fmt.Sprintf("%d%% context", used)))
	}
	if text, used := spentText(s.Budgets, s.Usage); text != "" {
		right = append(right, level(t, used).Paint(text))
	}
	if s.Dir != "" {
		dir := place(s.Dir)
		if a.branchName != "" {
			dir += t.Glyph("  ", " ") + term.OneLine(a.branchName)
		}
		right = append(right, t.Dim.Paint(dir))
	}
	sep := t.Faint.Paint(t.Glyph(" · ", " | "))
	for {
		l, r := strings.Join(left, sep), strings.Join(right, sep)
		space := width - ansi.StringWidth(l) - ansi.StringWidth(r)
		switch {
		case space >= 2 || space >= 0 && r == "":
			return l + strings.Repeat(" ", space) + r
		case len(right) > 1: // the directory goes first, then the cost
			right = right[:len(right)-1]
		case len(right) == 1:
			right = nil
		default:
			return fit(l, width)
		}
	}
}

func modeStyle(t *theme.Theme, m permission.Mode) theme.Style {
	switch m {
	case permission.Yolo:
		return theme.Bold.With(t.Bad)
	case permission.Auto, permission.Edits:
		return t.Warn
	case permission.Plan, permission.Inspect:
		return t.Info
	}
	return t.Good
}

func loopStyle(t *theme.Theme, s session.GoalState) theme.Style {
	if s == session.GoalBlocked || s == session.GoalExhausted {
		return t.Warn
	}
	return t.Info
}

// level is the color of a fill level in percent.
func level(t *theme.Theme, used int) theme.Style {
	switch {
	case used >= 85:
		return t.Bad
	case used >= 70:
		return t.Warn
	}
	return t.Dim
}

// place is a directory for people: short, with ~ for the home directory.
func place(dir string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, dir); err == nil && filepath.IsLocal(rel) {
			dir = filepath.Join("~", rel)
		}
	}
	return term.OneLine(dir)
}

// panelLines are the facts about the session next to the transcript.
func panelLines(a *app, width, height int) []string {
	t, s := a.theme, a.pane.state
	width-- // a blank next to the border
	var out []string
	add := func(line string) { out = append(out, " "+fit(line, width)) }
	head := func(text string) {
		if len(out) > 0 {
			out = append(out, "")
		}
		add(t.Heading.Paint(text))
	}
	head(term.OneLine(cmp.Or(a.pane.facts.title, s.Title, "New session")))
	add(t.Text.Paint(term.OneLine(cmp.Or(s.Model.Reference, s.Model.Ref()))))
	if s.Context.Window > 0 {
		used := int(s.Context.Used * 100 / int64(s.Context.Window))
		cells := min(used*(width-8)/100, width-8)
		bar := strings.Repeat(t.Glyph("█", "#"), cells) + strings.Repeat(t.Glyph("░", "-"), max(width-8-cells, 0))
		add(level(t, used).Paint(bar) + t.Dim.Paint(fmt.Sprintf(" %3d%%", used)))
		add(t.Dim.Paint(transcript.Tokens(s.Context.Used) + " of " + transcript.Tokens(int64(s.Context.Window)) + " tokens"))
	}
	if s.Usage.Total() > 0 {
		add(t.Dim.Paint(transcript.Usage(s.Usage)))
	}
	if todo := a.pane.facts.todo; len(todo) > 0 {
		head("Tasks")
		for _, item := range todo {
			add(todoLine(t, item))
		}
	}
	if lines := agentLines(a, width); len(lines) > 0 {
		head("Agents")
		for _, line := range lines {
			add(line)
		}
	}
	if files := slices.Sorted(maps.Keys(a.pane.facts.files)); len(files) > 0 {
		head("Changed files")
		for i, f := range files {
			if i == 12 {
				add(t.Dim.Paint(fmt.Sprintf("and %d more", len(files)-i)))
				break
			}
			c := a.pane.facts.files[f]
			counts := t.Dim.Paint(" changed")
			if c != (count{}) {
				counts = t.Good.Paint(fmt.Sprintf(" +%d", c.added)) + t.Bad.Paint(fmt.Sprintf(" -%d", c.removed))
			}
			add(ansi.TruncateLeft(term.OneLine(f), max(ansi.StringWidth(f)-(width-ansi.StringWidth(counts)), 0), "…") + counts)
		}
	}
	if len(s.Jobs) > 0 {
		head("Background jobs")
		for _, j := range s.Jobs {
			mark := t.Info.Paint(t.Glyph("●", "*"))
			if !j.Ended.IsZero() {
				mark = t.Dim.Paint(t.Glyph("○", "o"))
			}
			add(mark + " " + term.OneLine(j.ID+" "+j.Command.Line))
		}
	}
	return out[:min(len(out), height)]
}

func todoLine(t *theme.Theme, item session.TodoItem) string {
	text := term.OneLine(item.Text)
	switch item.Status {
	case "completed":
		return t.Good.Paint(t.Glyph("☑ ", "x ")) + t.Dim.Paint(text)
	case "in_progress":
		return t.Accent.Paint(t.Glyph("▸ ", "> ")) + t.Bold.Paint(text)
	}
	return t.Dim.Paint(t.Glyph("☐ ", "- ") + text)
}

// windowTitle is the title of the terminal's window or tab.
func windowTitle(a *app) string {
	mark := ""
	if _, asking := a.pane.asking(); asking {
		mark = "? "
	} else if a.pane.busy() {
		mark = "* "
	}
	title := cmp.Or(a.pane.facts.title, a.pane.state.Title, filepath.Base(a.pane.state.Dir))
	return mark + term.Fit(term.OneLine(title), 60) + " - tenon"
}
