package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// commandTime is how long a command of a reference may run.
const commandTime = 10 * time.Second

// environment is what references are looked up in.
type environment struct {
	getenv  func(string) string
	dir     string // where commands run: not the project, whose programs they must not find
	timeout time.Duration
}

// value returns the Value of a string with references. The error tells what is wrong with the references.
func (e *environment) value(is, s string, at spot) (Value, error) {
	parts, err := parseParts(s)
	if err != nil {
		return Value{}, err
	}
	if len(parts) == 0 || len(parts) == 1 && parts[0].text != "" {
		literal := ""
		if len(parts) == 1 {
			literal = parts[0].text
		}
		if msg := wrongText(is, literal); msg != "" {
			return Value{}, errors.New(msg)
		}
		return Literal(literal, show(is, parts)), nil
	}
	x := &expansion{environment: e, is: is, parts: parts, at: at, free: make(chan struct{}, 1)}
	return Value{shown: show(is, parts), get: x.get, runs: func() bool { return e.runs(parts) }}, nil
}

// runs reports whether a command must run for the parts.
func (e *environment) runs(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return p.command != "" || p.optional && e.getenv(p.variable) == "" && e.runs(p.fallback)
	})
}

// wrongText returns what is wrong with the text of a value, "" for nothing, in words that hold nothing of it.
func wrongText(is, s string) string {
	switch {
	case s == "":
		return "is empty; give a value, or leave the key out"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "holds a line break or a control character; give one line of text"
	case is == "url" || is == "proxy":
		return wrongURL(is, s)
	}
	return ""
}

// expansion finds out once what a string with references is.
type expansion struct {
	*environment
	is    string
	parts []part
	at    spot

	free  chan struct{} // holds one while somebody finds out; a mutex that a context can end waiting for
	known bool
	text  string
	err   error
}

func (x *expansion) get(ctx context.Context) (string, error) {
	select {
	case x.free <- struct{}{}:
		defer func() { <-x.free }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if x.known {
		return x.text, x.err
	}
	text, err := x.expand(ctx, x.parts)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && !(text == "" && len(x.parts) == 1 && x.parts[0].optional) {
		if msg := wrongText(x.is, text); msg != "" {
			err = errors.New("with its references put in, the value is wrong: " + msg)
		}
	}
	if err != nil {
		text, err = "", x.at.error(err.Error())
	}
	x.known, x.text, x.err = true, text, err
	return text, err
}

func (x *expansion) expand(ctx context.Context, parts []part) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		s, err := x.one(ctx, p)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func (x *expansion) one(ctx context.Context, p part) (string, error) {
	switch {
	case p.command != "":
		return x.run(ctx, p.command)
	case p.variable == "":
		return p.text, nil
	}
	s := x.getenv(p.variable)
	switch {
	case s != "":
		return s, nil
	case p.optional:
		return x.expand(ctx, p.fallback)
	}
	return "", fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-...} with what to use instead",
		p.variable, p.variable)
}
