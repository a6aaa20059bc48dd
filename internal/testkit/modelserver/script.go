package modelserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// Parse reads steps from text. What an answer says is written in the language of package llmtest, one turn for each step; these
// lines are added, which stand anywhere in their turn:
//
//	fail STATUS ["MESSAGE"]      answer with a status, as [Fail] does
//	overflow                     refuse the request as too long, as [Overflow] does
//	body STATUS TYPE [WORDS]     answer with this body, as [Raw] does; TYPE - is none, WORDS may be <<END
//	fault NAME [BYTES]           let the answer go wrong; BYTES are those of long_line
//	message WORDS                the text of a failure, or of an error event
//	pings                        show life while a stall lasts
//	retry_after DURATION         tell when to try again
//	header NAME WORDS            add a header
//	delay DURATION               wait before the headers
//
// The lines error, cut, end, hang, panic and reset of llmtest say nothing here: write fail or fault. Deltas have the length that
// [Config.DeltaBytes] says. The error names the line.
func Parse(script string) ([]Step, error) {
	p := &scriptParser{lines: strings.Split(script, "\n")}
	for p.next < len(p.lines) {
		if err := p.line(); err != nil {
			return nil, fmt.Errorf("modelserver: script line %d: %w", p.next, err)
		}
	}
	return p.messages()
}

// Script is [Steps] for the text of a script.
func Script(script string) (Option, error) {
	steps, err := Parse(script)
	return Steps(steps...), err
}

// scriptParser takes its own lines out of a script and leaves the others to llmtest, under the same numbers.
type scriptParser struct {
	lines []string
	next  int // number of lines read
	steps []Step
	begun bool // there is a turn: steps has it at its end
}

// nothing is a line of llmtest that changes no answer, but begins a turn where none is.
const nothing = "pieces 1"

func (p *scriptParser) line() error {
	at := p.next
	p.next++
	line := strings.TrimSpace(p.lines[at])
	word, rest, _ := strings.Cut(line, " ")
	if line == "" || line[0] == '#' {
		return nil
	}
	if word == "turn" || word == "---" || !p.begun {
		p.steps = append(p.steps, Step{})
		p.begun = true
	}
	step := &p.steps[len(p.steps)-1]
	if slices.Contains([]string{"error", "cut", "end", "hang", "panic", "reset"}, word) {
		return fmt.Errorf("%s says nothing here: write fail STATUS or fault NAME", word)
	}
	read, ok := directiveOf(word)
	if !ok {
		p.skipText(line)
		return nil
	}
	p.lines[at] = nothing
	rest, err := p.text(strings.TrimSpace(rest))
	if err == nil {
		err = read(step, rest)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	return nil
}

// ending returns the word that ends the text which begins behind a line, or nothing.
func ending(line string) string {
	at := strings.LastIndex(line, "<<")
	if at < 0 {
		return ""
	}
	end := line[at+2:]
	if end == "" || strings.ContainsFunc(end, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return ""
	}
	return end
}

// skipText leaves the lines up to the end of a text to llmtest, which complains when there is none.
func (p *scriptParser) skipText(line string) {
	end := ending(line)
	if end == "" {
		return
	}
	for i := p.next; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) == end {
			p.next = i + 1
			return
		}
	}
}

// text replaces <<END at the end of rest by the lines up to END, and takes those out of the script.
func (p *scriptParser) text(rest string) (string, error) {
	end := ending(rest)
	if end == "" {
		return rest, nil
	}
	for i := p.next; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) != end {
			continue
		}
		indent := p.lines[i][:strings.Index(p.lines[i], end)]
		var body []string
		for j := p.next; j < i; j++ {
			body = append(body, strings.TrimPrefix(p.lines[j], indent))
			p.lines[j] = ""
		}
		p.lines[i] = ""
		p.next = i + 1
		return strings.TrimSuffix(rest, "<<"+end) + strings.Join(body, "\n"), nil
	}
	return "", fmt.Errorf("there is no line %s that would end <<%s", end, end)
}

// messages adds what the answers say.
func (p *scriptParser) messages() ([]Step, error) {
	client, err := llmtest.Parse(strings.Join(p.lines, "\n"), llmtest.ByHistory(), llmtest.NoStream())
	if err != nil {
		return nil, fmt.Errorf("modelserver: %w", err)
	}
	req := &llm.Request{}
	for i := range p.steps {
		m, err := llm.Collect(context.Background(), client, req)
		if err != nil {
			return nil, fmt.Errorf("modelserver: turn %d: %w", i+1, err)
		}
		p.steps[i].message = m
		req.Messages = append(req.Messages, m)
	}
	return p.steps, nil
}

// directiveOf returns what a line does that begins with word.
func directiveOf(word string) (read func(*Step, string) error, ok bool) {
	switch word {
	case "fail":
		return readFail, true
	case "overflow":
		return func(s *Step, _ string) error { s.status, s.text = 400, overflow; return nil }, true
	case "body":
		return readBody, true
	case "fault":
		return readFault, true
	case "message":
		return func(s *Step, rest string) (err error) { s.text, err = unquote(rest); return err }, true
	case "pings":
		return func(s *Step, _ string) error { s.pings = true; return nil }, true
	case "retry_after":
		return func(s *Step, rest string) (err error) { s.retry, err = time.ParseDuration(rest); return err }, true
	case "delay":
		return func(s *Step, rest string) (err error) { s.delay, err = time.ParseDuration(rest); return err }, true
	case "header":
		return readHeader, true
	default:
		return nil, false
	}
}

func readStatus(s string) (int, error) {
	status, err := strconv.Atoi(s)
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("%q is no status from 200 to 599", s)
	}
	return status, nil
}

func readFail(s *Step, rest string) (err error) {
	status, message, _ := strings.Cut(rest, " ")
	if s.status, err = readStatus(status); err != nil {
		return err
	}
	if message != "" {
		s.text, err = unquote(message)
	}
	return err
}

func readBody(s *Step, rest string) (err error) {
	status, rest, _ := strings.Cut(rest, " ")
	if s.status, err = readStatus(status); err != nil {
		return err
	}
	s.rawType, s.raw, _ = strings.Cut(rest, " ")
	if s.rawType == "" {
		return errors.New("the content type is missing; - stands for none")
	}
	if s.rawType == "-" {
		s.rawType = ""
	}
	s.isRaw = true
	s.raw, err = unquote(s.raw)
	return err
}

func readFault(s *Step, rest string) (err error) {
	name, size, sized := strings.Cut(rest, " ")
	s.fault = Fault(name)
	if !slices.Contains(Faults(), s.fault) {
		return fmt.Errorf("%q is no fault; there are %q", name, Faults())
	}
	if sized != (s.fault == LongLine) {
		return fmt.Errorf("a number of bytes belongs to %s, and only there", LongLine)
	}
	if sized {
		s.size, err = strconv.ParseInt(size, 10, 64)
	}
	return err
}

func readHeader(s *Step, rest string) error {
	name, words, ok := strings.Cut(rest, " ")
	if !ok {
		return errors.New("the value is missing")
	}
	value, err := unquote(words)
	*s = s.Header(name, value)
	return err
}

// unquote reads a Go string when s begins with a double quote.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a Go string, which it must be as it begins with a double quote", s)
	}
	return out, nil
}
