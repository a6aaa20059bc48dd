package config

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/redact"
)

const commandTime = 10 * time.Second

type environment struct {
	getenv  func(string) string
	dir     string // the directory of commands; not the project, because they must not find its programs
	timeout time.Duration
	refers  []string // variables in references, and in the commands of references
}

// note keeps the variables of a reference. A name of the basic environment, such as HOME, is no secret.
func (e *environment) note(parts []part) {
	add := func(name string) {
		if !slices.Contains([]string{"", "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "PWD", "TMPDIR", "XDG_RUNTIME_DIR"}, name) {
			e.refers = append(e.refers, name)
		}
	}
	for _, p := range parts {
		add(p.variable)
		for _, found := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(p.command, -1) {
			add(found[1])
		}
		e.note(p.fallback)
	}
}

// value returns the Value of a string with references. It returns an error if a reference is malformed.
func (e *environment) value(is, s string, at spot) (redact.Value, error) {
	parts, err := parseParts(s)
	if err != nil {
		return redact.Value{}, err
	}
	e.note(parts)
	if len(parts) == 0 || len(parts) == 1 && parts[0].text != "" {
		literal := ""
		if len(parts) == 1 {
			literal = parts[0].text
		}
		if msg := wrongText(is, literal); msg != "" {
			return redact.Value{}, errors.New(msg)
		}
		return redact.Literal(literal, show(is, parts)), nil
	}
	x := &expansion{environment: e, is: is, parts: parts, at: at, free: make(chan struct{}, 1)}
	return redact.Lazy(show(is, parts), x.get, func() bool { return e.runs(parts) }), nil
}

// runs reports whether a command must run to resolve the parts.
func (e *environment) runs(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return p.command != "" || p.optional && e.getenv(p.variable) == "" && e.runs(p.fallback)
	})
}

// wrongText describes the mistake in the text of a value without quoting the text. It returns "" if there is none.
func wrongText(is, s string) string {
	switch {
	case s == "":
		return "is empty; set a value, or remove the key"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains a line break or a control character; write one line of text"
	case is == "url" || is == "proxy":
		return wrongURL(is, s)
	}
	return ""
}

// expansion resolves a string with references once.
type expansion struct {
	*environment
	is    string
	parts []part
	at    spot

	free  chan struct{} // a mutex with a wait that a context can end; it holds one element while a caller resolves the text
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
			err = errors.New("the value is wrong after its references are resolved: " + msg)
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
	return "", fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-FALLBACK}",
		p.variable, p.variable)
}
