package card

import (
	"strings"

	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// questionText returns the questions in plain text.
func questionText(it *transcript.Item) (lines []string) {
	for _, call := range it.Asking.Calls {
		lines = append(lines, joined(" ", "May "+call.Tool+" run?", transcript.Capital(call.Reason)))
	}
	for _, q := range it.Asking.Questions {
		lines = append(lines, q.Text)
		for _, option := range q.Options {
			lines = append(lines, "- "+joined(": ", option.Label, option.Description))
		}
	}
	return lines
}

func (c *Card) question(p *page) {
	replies := c.replies(p.t)
	if c.Folded() && len(c.it.Asking.Questions) == 0 { // the calls above show their state
		for _, line := range replies {
			if line.news {
				p.hang("  "+p.glyph(line.mark), line.style, "", p.t.Dim, line.text, noteLines)
			}
		}
		return
	}
	p.blank()
	p.time(c.it.Time)
	style := p.t.Dim
	if c.it.Open {
		style = p.t.Warn
	}
	text := questionText(c.it)
	if !c.it.Open && c.Folded() { // the answers say enough
		text = text[:min(len(text), 1)]
		if len(c.it.Asking.Questions) > 1 {
			text = nil
			for _, q := range c.it.Asking.Questions {
				text = append(text, q.Text)
			}
		}
	}
	p.hang("?", style, "", p.t.Text, strings.Join(text, "\n"), noteLines)
	for _, line := range replies {
		p.hang("  "+p.glyph(line.mark), line.style, "", p.t.Text, line.text, noteLines)
	}
}

// reply is an answer to a question.
type reply struct {
	mark  string
	style theme.Style
	text  string
	news  bool // the line of its call does not say it
}

func (c *Card) replies(t *theme.Theme) (all []reply) {
	it := c.it
	if it.Answered == nil {
		switch it.Asked.Reason {
		case "":
		case "timeout":
			return []reply{{"⊘", t.Warn, "no answer in time", true}}
		default:
			return []reply{{"⊘", t.Dim, strings.ReplaceAll(it.Asked.Reason, "_", " "), false}}
		}
		return nil
	}
	for i, a := range it.Answered.Answers {
		r := reply{"✓", t.Good, strings.Join(a.Choices, ", "), true}
		if i < len(it.Asking.Calls) {
			r = reply{"⊘", t.Bad, joined(": ", "denied "+it.Asking.Calls[i].Tool, a.Reason), false}
			if a.Allow {
				what := it.Asking.Calls[i].Tool
				if grants := it.Asking.Calls[i].Grants; a.Grant > 0 && a.Grant <= len(grants) {
					what = strings.Join(grants[a.Grant-1].Rules, ", ")
				}
				r = reply{"✓", t.Good, "allowed " + what, a.Grant > 0 || a.Arguments != ""}
			}
			switch {
			case a.Allow && a.Always:
				r.text += " always"
			case a.Allow && a.Grant > 0:
				r.text += " in this session"
			}
			if a.Arguments != "" {
				r.text += ", with other arguments"
			}
		}
		if who := by(it.Answered.By); who != "" && who != c.o.Self {
			r.text, r.news = r.text+" ("+who+")", true
		}
		all = append(all, r)
	}
	return all
}

// by names the author of an answer; empty for the person at this terminal.
func by(s session.Speaker) string {
	if s.Kind == session.SpeakerPerson || s.Kind == "" {
		return s.Name
	}
	return joined(" ", string(s.Kind), s.Name)
}
