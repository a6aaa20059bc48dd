package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Bounds of a script, so that a slip of the finger in a test does not eat the machine.
const (
	maxRepeat = 1_000_000
	maxText   = 64 << 20 // bytes of text after repetition
)

// parser reads a script from its first line to its last.
type parser struct {
	lines []string
	next  int // index of the line to be read next
	turns turns
	size  int // bytes of text so far

	// Of the turn being read.
	message llm.Message
	steps   []step
	begun   bool   // there is such a turn
	over    string // the directive that ended it
	pieces  int
	calls   int
	text    strings.Builder // of the last part, when it is Text or Thinking
}

func parse(script string) (turns, error) {
	p := &parser{lines: strings.Split(script, "\n")}
	for p.next < len(p.lines) {
		p.next++
		number := p.next
		line := strings.TrimLeft(strings.TrimSuffix(p.lines[number-1], "\r"), " \t")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("llmtest: script line %d: %w", number, err)
		}
	}
	p.endTurn()
	return p.turns, nil
}

// line reads one directive and the lines that belong to it.
func (p *parser) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	word = strings.TrimRight(word, "\t")
	if word == "turn" || word == "---" {
		p.endTurn()
		p.begun = true
		return nil
	}
	word, id, hasID := strings.Cut(word, "#")
	d, ok := directives[word]
	switch {
	case !ok:
		return unknown("directive", word, names)
	case p.over != "":
		return fmt.Errorf("%s is never reached: %s ends the answer; begin a new one with turn", word, p.over)
	case hasID && !d.call:
		return fmt.Errorf("%s takes no id; only calls do", word)
	case hasID && id == "":
		return fmt.Errorf("%s# needs an id after the #", word)
	}
	p.begun = true
	rest, err := p.heredoc(rest, d.named)
	if err != nil {
		return err
	}
	if err := d.read(p, args{word: word, id: id, rest: rest}); err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	if d.ends {
		p.over = word
	}
	return nil
}

// heredoc replaces <<WORD by the lines up to WORD. The marker is all of rest, or its end if a name may precede it.
func (p *parser) heredoc(rest string, named bool) (string, error) {
	at := strings.LastIndex(rest, "<<")
	if at < 0 || at > 0 && (!named || rest[at-1] != ' ') {
		return rest, nil
	}
	end := strings.TrimSpace(rest[at+2:])
	if end == "" || strings.ContainsFunc(end, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return rest, nil
	}
	for i := p.next; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) != end {
			continue
		}
		indent := p.lines[i][:strings.Index(p.lines[i], end)]
		body := make([]string, 0, i-p.next)
		for _, l := range p.lines[p.next:i] {
			body = append(body, strings.TrimPrefix(strings.TrimSuffix(l, "\r"), indent))
		}
		p.next = i + 1
		return rest[:at] + strings.Join(body, "\n"), nil
	}
	return "", fmt.Errorf("there is no line %s that would end <<%s", end, end)
}

// endTurn finishes the turn being read, if there is one.
func (p *parser) endTurn() {
	if !p.begun {
		return
	}
	p.endPart()
	p.message.Role = llm.RoleAssistant
	if p.message.Stop == "" {
		p.message.Stop = stopOf(p.message.Content)
	}
	p.turns = append(p.turns, turn{steps: p.steps, message: p.message})
	p.message, p.steps, p.begun, p.over, p.pieces, p.calls = llm.Message{}, nil, false, "", 0, 0
}

// endPart puts the text that was gathered into the part that it belongs to.
func (p *parser) endPart() {
	c := p.message.Content
	if p.text.Len() == 0 || len(c) == 0 {
		return
	}
	switch part := c[len(c)-1].(type) {
	case llm.Text:
		part.Text += p.text.String()
		c[len(c)-1] = part
	case llm.Thinking:
		part.Text += p.text.String()
		c[len(c)-1] = part
	}
	p.text.Reset()
}

// delta adds text to the last part, or begins one when the last is not of the kind that word names.
func (p *parser) delta(word, text string, times int) error {
	if times*len(text) > maxText-p.size {
		return fmt.Errorf("the texts of the script are longer than %d MiB", maxText>>20)
	}
	p.size += times * len(text)
	last := llm.Part(llm.Image{})
	if n := len(p.message.Content); n > 0 {
		last = p.message.Content[n-1]
	}
	var empty llm.Part = llm.Text{}
	_, same := last.(llm.Text)
	if word == "think" {
		empty = llm.Thinking{}
		_, same = last.(llm.Thinking)
	}
	if !same {
		p.endPart()
		p.message.Content = append(p.message.Content, empty)
	}
	for range times {
		p.text.WriteString(text)
	}
	i := len(p.message.Content) - 1
	for _, s := range split(text, p.pieces) {
		var e llm.Event = llm.TextDelta{Part: i, Text: s}
		if word == "think" {
			e = llm.ThinkingDelta{Part: i, Text: s}
		}
		p.steps = append(p.steps, emit{event: e, times: times})
	}
	return nil
}

// words reads the rest of a directive: a Go string if it is in double quotes, otherwise plain text.
func words(rest string) (string, error) {
	if !strings.HasPrefix(rest, `"`) {
		return rest, nil
	}
	s, err := strconv.Unquote(strings.TrimSpace(rest))
	if err != nil {
		return "", fmt.Errorf("%s is not a Go string, which it must be as it begins with a double quote", rest)
	}
	return s, nil
}

// readError reads an ERROR.
func readError(rest string) (*llm.Error, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	e := &llm.Error{Kind: llm.Kind(kind)}
	if !slices.Contains(kinds, kind) {
		return nil, unknown("kind of error", kind, kinds)
	}
	for rest = strings.TrimSpace(rest); rest != "" && rest[0] != '"'; rest = strings.TrimSpace(rest) {
		var field string
		field, rest, _ = strings.Cut(rest, " ")
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not NAME=VALUE; put the message last, in double quotes", field)
		}
		var err error
		switch name {
		case "status":
			e.Status, err = strconv.Atoi(value)
		case "retry_after":
			e.RetryAfter, err = time.ParseDuration(value)
		case "request_id":
			e.RequestID = value
		default:
			return nil, unknown("field of an error", name, []string{"status", "retry_after", "request_id"})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	var err error
	e.Message, err = words(rest)
	return e, err
}

// usageField sets one field of u.
func usageField(u *llm.Usage, name, value string) error {
	counts := map[string]*int64{
		"input": &u.Input, "output": &u.Output, "reasoning": &u.Reasoning,
		"cache_read": &u.CacheRead, "cache_write": &u.CacheWrite,
	}
	var err error
	switch count, ok := counts[name]; {
	case ok:
		*count, err = strconv.ParseInt(value, 10, 64)
	case name == "cost":
		u.Cost, err = strconv.ParseFloat(value, 64)
	default:
		return unknown("field of usage", name, []string{"input", "output", "reasoning", "cache_read", "cache_write", "cost"})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func validJSON(s string) error {
	var v json.RawMessage
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return fmt.Errorf("the JSON %s is malformed: %w", s, err)
	}
	return nil
}
