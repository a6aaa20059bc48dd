package dialog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/tui/diff"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/workspace"
)

// call is a call that waits for approval, as the dialog shows it.
type call struct {
	ask.Call
	effects tool.Effects
	dir     string   // of the session
	parts   []string // the simple commands of the line, if there are several, with their effects
	choices []choice
	answer  *ask.Answer // nil: undecided
	at      int         // the choice in focus
	view    *pager
}

// choice is a way to answer.
type choice struct {
	words  string
	rules  []string // that it adds
	about  string
	answer ask.Answer
	write  writing // the person writes something first
	danger bool
}

// writing is a text that belongs to an answer.
type writing int

const (
	nothing writing = iota
	arguments
	reason
)

func newCall(c ask.Call, o *Options) *call {
	v := &call{Call: c, dir: o.Dir}
	_ = json.Unmarshal(c.Effects, &v.effects) // without effects, the arguments say what runs
	v.parts = parts(v.effects)
	v.choices = append(v.choices, choice{words: "Allow once", answer: ask.Answer{Allow: true}})
	for _, always := range []bool{false, true} {
		for i, g := range c.Grants {
			words, scope := "Allow in this session", permission.Session
			if always {
				words, scope = "Always allow", permission.User
			}
			v.choices = append(v.choices, choice{
				words: words, rules: g.Rules, about: covers(g, c.Tool, scope), answer: ask.Answer{Allow: true, Grant: i + 1, Always: always},
			})
		}
	}
	edit := "Edit the arguments"
	if v.effects.Command != "" {
		edit = "Edit the command"
	}
	v.choices = append(v.choices,
		choice{words: edit, write: arguments, answer: ask.Answer{Allow: true}},
		choice{words: "Deny", danger: true},
		choice{words: "Deny with a reason", write: reason, danger: true, about: "The model sees the reason."},
	)
	v.view = &pager{o: o, lay: func(width int) ([]string, []string) { return v.lay(o, width) }}
	return v
}

// covers describes the calls that a grant allows, and how long it applies.
func covers(g ask.Grant, name string, scope permission.Scope) string {
	var s permission.Suggestion
	for _, text := range g.Rules {
		r, err := permission.ParseRule(permission.Allow, scope, text, name)
		if err != nil {
			return g.Words
		}
		s.Rules = append(s.Rules, r)
	}
	return "Allows " + s.Words() + "."
}

// longPart is how many bytes of a simple command the list of them shows. The line itself is above the list.
const longPart = 150

// parts returns the simple commands of a line, if there are several.
func parts(e tool.Effects) (parts []string) {
	if e.Command == "" {
		return nil
	}
	found := command.Analyze(e.Command, command.Options{Dir: e.Dir})
	for _, c := range found.Commands {
		words := slices.Clone(c.Words)
		for i, w := range words {
			switch {
			case slices.Contains(c.Dynamic, i) && w == "":
				words[i] = "(unknown word)"
			case w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()#"):
				words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			}
		}
		text := strings.Join(words, " ")
		if n := len(text); n > longPart {
			text = strings.ToValidUTF8(text[:longPart], "") + fmt.Sprintf("... (%d more bytes)", n-longPart)
		}
		if len(c.Via) > 0 {
			text += "  (by " + strings.Join(c.Via, ", ") + ")"
		}
		if c.Why != "" {
			text += ": " + c.Why
		}
		parts = append(parts, text)
	}
	for _, p := range found.Problems {
		parts = append(parts, "not judged: "+p.String())
	}
	if len(parts) < 2 && len(found.Problems) == 0 {
		return nil
	}
	return parts
}

// heading is the question about the call. If it is long, it names no path or host: then the text below has them.
func (c *call) heading() (text string, named bool) {
	e := c.effects
	short, in := "", ""
	if e.Dir != "" && e.Dir != c.dir && len(e.Dir) <= longDir {
		in = " in " + workspace.Quote(e.Dir)
	}
	switch {
	case e.Unconfined:
		return "Run this command outside the sandbox" + in + "?", false
	case len(e.Hosts) > 0 && e.Command != "":
		text, short = "Run this command"+in+" and reach "+strings.Join(e.Hosts, ", ")+"?", "Run this command"+in+" and use the network?"
	case len(e.Hosts) > 0:
		text, short = "Reach "+strings.Join(e.Hosts, ", ")+" over the network?", "Use the network?"
	case e.Command != "":
		return "Run this command" + in + "?", false
	case e.Agents:
		return "Start another agent?", false
	case len(e.Writes) == 1:
		text, short = "Change "+c.near(e.Writes[0].Name)+"?", "Change a file?"
	case len(e.Writes) > 1:
		return fmt.Sprintf("Change %s?", transcript.Count(len(e.Writes), "file")), false
	case len(e.Reads) == 1:
		text, short = "Read "+c.near(e.Reads[0].Name)+"?", "Read a file?"
	default:
		text, short = "Call the tool "+c.Tool+"?", "Call a tool?"
	}
	if len(text) > longPart {
		return short, false
	}
	return text, true
}

// brief is the call on a line.
func (c *call) brief() string {
	e := c.effects
	switch {
	case e.Command != "":
		return c.Tool + "  " + e.Command
	case len(e.Writes) > 0:
		return c.Tool + "  " + c.near(e.Writes[0].Name)
	case len(e.Hosts) > 0:
		return c.Tool + "  " + e.Hosts[0]
	case len(e.Reads) > 0:
		return c.Tool + "  " + c.near(e.Reads[0].Name)
	}
	return c.Tool + "  " + string(c.Arguments)
}

// lay returns the lines of the call: what runs or changes, and notes about it. They have all that the other places cut.
func (c *call) lay(o *Options, width int) (text, notes []string) {
	t, e := o.Theme, c.effects
	lines := func(style theme.Style, label, text string) (lines []string) {
		for _, line := range fold(plainly(text), max(width-len(label), 1)) {
			lines = append(lines, fit(t.Dim.Paint(label)+style.Paint(line), width))
			label = strings.Repeat(" ", len(label))
		}
		return lines
	}
	note := func(style theme.Style, label, text string) { notes = append(notes, lines(style, label, text)...) }
	switch {
	case e.Command != "":
		text = lines(t.Code, "$ ", e.Command)
	case c.Preview == "":
		text = lines(t.Code, "", pretty(c.Arguments))
	}
	if c.Preview != "" {
		text = append(text, preview(c.Preview, width, o)...)
	}
	for i, part := range c.parts {
		note(t.Dim, fmt.Sprintf("%3d. ", i+1), part)
	}
	var args struct{ Reason string }
	if e.Unconfined && json.Unmarshal(c.Arguments, &args) == nil && args.Reason != "" {
		note(t.Text, "the model's reason: ", args.Reason)
	}
	if _, named := c.heading(); !named {
		for _, h := range e.Hosts {
			note(t.Warn, "host ", h)
		}
		for _, w := range e.Writes {
			if len(c.parts) == 0 || len(e.Writes) > 1 { // the part names its only path
				note(t.Text, "changes ", w.Name)
			}
		}
		for _, r := range e.Reads {
			if e.Command == "" {
				note(t.Text, "reads ", r.Name)
			}
		}
	}
	if why := c.why(); len(wrap(why, width)) > mostWhy {
		note(t.Text, "why ", why)
	}
	for _, g := range c.Grants {
		if rules := exact(g.Rules); len(fold(rules, width)) > mostRules {
			note(t.Text, "rule ", rules)
		}
	}
	return text, notes
}

const (
	mostWhy   = 3  // lines of the reason
	mostRules = 4  // lines of the rules in focus
	longDir   = 60 // bytes of a directory that is not in the heading
)

// why is the reason for the question, without the heading and the command.
func (c *call) why() string {
	e, why := c.effects, c.Reason
	if e.Command != "" {
		why = strings.TrimPrefix(why, e.Command+": ")
	} else if len(e.Writes) == 1 && len(e.Reads)+len(e.Hosts) == 0 {
		why = strings.TrimPrefix(why, "writes "+e.Writes[0].Name+"; ")
	}
	if len(e.Dir) > longDir {
		why += "; in " + e.Dir
	}
	return flat(why)
}

// near is a path from the directory of the session, if it is below.
func (c *call) near(path string) string {
	if rel, err := filepath.Rel(c.dir, path); c.dir != "" && err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return workspace.Quote(path)
}

// mostDiff is the length of the longest line in bytes that package diff does not cut.
const mostDiff = 4 << 10

// preview draws all of a diff. If package diff would cut it, it is plain text.
func preview(text string, width int, o *Options) []string {
	text = plainly(strings.TrimRight(text, "\n"))
	changes := false
	for line := range strings.Lines(text) {
		if len(line) > mostDiff {
			return painted(o.Theme.Text, fold(text, width))
		}
		changes = changes || line[0] == '+' || line[0] == '-'
	}
	if !changes { // such as the reason why the call would fail
		return painted(o.Theme.Text, wrap(text, width))
	}
	return diff.Lines(text, width, o.Theme, diff.Options{Context: len(text)})
}

// pretty returns JSON with one member on each line.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// editable returns the text that the person edits: the command that would run, or the arguments.
func (c *call) editable() (text string, command bool) {
	var args map[string]json.RawMessage
	if c.effects.Command != "" && json.Unmarshal(c.Arguments, &args) == nil && args["command"] != nil {
		return c.effects.Command, true
	}
	return pretty(c.Arguments), false
}

// edited returns the arguments with the text that the person wrote.
func (c *call) edited(text string) (string, error) {
	var args map[string]json.RawMessage
	if _, isCommand := c.editable(); !isCommand {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			return "", fmt.Errorf("the arguments are not a JSON object: %w", err)
		}
		return text, nil
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the command is empty")
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return "", err
	}
	command, err := json.Marshal(text)
	if err != nil {
		return "", err
	}
	args["command"] = command
	all, err := json.Marshal(args)
	return string(all), err
}

// verdict is the decision about the call in a word or two.
func (c *call) verdict() string {
	switch a := c.answer; {
	case a == nil:
		return "undecided"
	case !a.Allow:
		return "deny"
	case a.Arguments != "":
		return "allow edited"
	case a.Always:
		return "always"
	case a.Grant > 0:
		return "session"
	}
	return "allow"
}
