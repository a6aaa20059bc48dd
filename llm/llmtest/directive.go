package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// directive is one word of the language.
type directive struct {
	read  func(*parser, args) error
	call  bool // may have an id
	named bool // a name or a number precedes its text
	ends  bool // ends the answer
}

// args is a directive of the script: word#id rest.
type args struct{ word, id, rest string }

// directives is the language, but for turn. It is never changed.
var directives = map[string]directive{
	"text":      {read: readText},
	"think":     {read: readText},
	"signature": {read: readSignature},
	"opaque":    {read: readOpaque},
	"call":      {read: readCall, call: true, named: true},
	"raw":       {read: readCall, call: true, named: true},
	"truncated": {read: readCall, call: true, named: true},
	"pieces":    {read: readPieces},
	"repeat":    {read: readRepeat, named: true},
	"usage":     {read: readUsage},
	"stop":      {read: readStop},
	"reset":     {read: readReset},
	"delay":     {read: readDelay},
	"error":     {read: readFailure, ends: true},
	"cut":       {read: readCut, ends: true},
	"end":       {read: readEnd, ends: true},
	"hang":      {read: readHang, ends: true},
	"panic":     {read: readPanic, ends: true},
}

// The valid words, for messages about mistakes.
var (
	names = []string{
		"turn", "text", "think", "signature", "opaque", "call", "raw", "truncated", "pieces", "repeat", "usage", "stop",
		"reset", "delay", "error", "cut", "end", "hang", "panic",
	}
	kinds = []string{
		string(llm.KindRateLimited), string(llm.KindQuota), string(llm.KindOverloaded), string(llm.KindNetwork),
		string(llm.KindStalled), string(llm.KindProtocol), string(llm.KindAuth), string(llm.KindContextOverflow),
		string(llm.KindInvalidRequest), string(llm.KindRefused), string(llm.KindCancelled), string(llm.KindOther),
	}
	stops = []string{
		string(llm.StopEnd), string(llm.StopCalls), string(llm.StopLength), string(llm.StopRefused), string(llm.StopAborted),
	}
)

func readText(p *parser, a args) error {
	text, err := words(a.rest)
	if err != nil {
		return err
	}
	return p.delta(a.word, text, 1)
}

func readRepeat(p *parser, a args) error {
	count, rest, _ := strings.Cut(a.rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > maxRepeat {
		return fmt.Errorf("%q is no number from 0 to %d", count, maxRepeat)
	}
	word, rest, _ := strings.Cut(rest, " ")
	if word != "text" && word != "think" {
		return fmt.Errorf("only text and think can be repeated, not %q", word)
	}
	text, err := words(rest)
	if err != nil {
		return err
	}
	return p.delta(word, text, n)
}

func readSignature(p *parser, a args) error {
	p.endPart()
	content := p.message.Content
	if len(content) > 0 {
		if t, ok := content[len(content)-1].(llm.Thinking); ok {
			var err error
			t.Signature, err = words(a.rest)
			content[len(content)-1] = t
			return err
		}
	}
	return errors.New("there is no reasoning before it")
}

func readOpaque(p *parser, a args) error {
	p.endPart()
	content := p.message.Content
	if len(content) == 0 {
		return errors.New("there is no part before it")
	}
	if err := validJSON(a.rest); err != nil {
		return err
	}
	data := json.RawMessage(strings.TrimSpace(a.rest))
	switch part := content[len(content)-1].(type) {
	case llm.Text:
		part.Opaque = data
		content[len(content)-1] = part
	case llm.Thinking:
		part.Opaque = data
		content[len(content)-1] = part
	case llm.ToolCall:
		return errors.New("the call before it was yielded already; only text and think can have it")
	}
	return nil
}

func readCall(p *parser, a args) error {
	name, arguments, _ := strings.Cut(strings.TrimLeft(a.rest, " "), " ")
	if name == "" {
		return errors.New("the name of the tool is missing")
	}
	if a.word == "call" {
		arguments = strings.TrimSpace(arguments)
		if arguments == "" {
			arguments = "{}"
		}
		if err := validJSON(arguments); err != nil {
			return fmt.Errorf("%w; write raw instead of call if that is meant", err)
		}
	}
	p.endPart()
	p.calls++
	if a.id == "" {
		a.id = fmt.Sprintf("call_%d_%d", len(p.turns)+1, p.calls)
	}
	call := llm.ToolCall{ID: a.id, Name: name, Arguments: arguments, Truncated: a.word == "truncated"}
	p.message.Content = append(p.message.Content, call)
	for _, e := range deltas(len(p.message.Content)-1, call, func(string) int { return p.pieces }) {
		p.steps = append(p.steps, emit{event: e, times: 1})
	}
	return nil
}

func readPieces(p *parser, a args) error {
	n, err := strconv.Atoi(strings.TrimSpace(a.rest))
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no number from 1 up", a.rest)
	}
	p.pieces = n
	return nil
}

func readUsage(p *parser, a args) error {
	for field := range strings.FieldsSeq(a.rest) {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("%q is no NAME=NUMBER", field)
		}
		if err := usageField(&p.message.Usage, name, value); err != nil {
			return err
		}
	}
	return nil
}

func readStop(p *parser, a args) error {
	reason := strings.TrimSpace(a.rest)
	if !slices.Contains(stops, reason) {
		return unknown("reason", reason, stops)
	}
	p.message.Stop = llm.StopReason(reason)
	return nil
}

func readReset(p *parser, a args) error {
	var cause *llm.Error
	if strings.TrimSpace(a.rest) != "" {
		var err error
		if cause, err = readError(a.rest); err != nil {
			return err
		}
	}
	p.text.Reset()
	p.message.Content = nil
	p.steps = append(p.steps, reset{cause})
	return nil
}

func readDelay(p *parser, a args) error {
	d, err := time.ParseDuration(strings.TrimSpace(a.rest))
	if err != nil {
		return err
	}
	p.steps = append(p.steps, sleep{d})
	return nil
}

func readFailure(p *parser, a args) error {
	e, err := readError(a.rest)
	p.steps = append(p.steps, failure{e})
	return err
}

func readPanic(p *parser, a args) error {
	message, err := words(a.rest)
	p.steps = append(p.steps, alarm{message})
	return err
}

func readCut(p *parser, a args) error {
	cut := &llm.Error{Kind: llm.KindProtocol, Message: "the connection was cut before the answer's final event"}
	return p.bare(a, failure{cut})
}

func readEnd(p *parser, a args) error { return p.bare(a, stop{}) }

func readHang(p *parser, a args) error { return p.bare(a, hang{}) }

// bare adds the step of a directive without arguments.
func (p *parser) bare(a args, s step) error {
	if strings.TrimSpace(a.rest) != "" {
		return fmt.Errorf("nothing may follow it, but %q does", a.rest)
	}
	p.steps = append(p.steps, s)
	return nil
}
