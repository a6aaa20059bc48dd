package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// The most that is taken of what a command prints, in bytes.
const (
	mostOutput = 64 << 10
	mostErrors = 1 << 10
)

// errTooMuch ends the reading of a command's output.
var errTooMuch = errors.New("too much output")

// run returns what a command of the system's shell prints, without the space around it.
func (e *environment) run(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := shell(ctx, command)
	cmd.Dir = e.dir
	output := &bounded{to: &out, most: mostOutput, full: errTooMuch}
	cmd.Stdout = output
	cmd.Stderr = &bounded{to: &complaints, most: mostErrors}
	cmd.WaitDelay = time.Second // for those who keep its pipes open
	err := cmd.Run()
	what := "the command " + showCommand(command)
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "", fmt.Errorf("%s had not ended after %v; run it by hand to see what it waits for%s", what, e.timeout, said(&complaints))
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case output.cut:
		return "", fmt.Errorf("%s printed more than %d KiB; let it print the value alone", what, mostOutput>>10)
	case err != nil:
		return "", fmt.Errorf("%s failed: %w%s", what, err, said(&complaints))
	}
	text := strings.TrimSpace(out.String())
	if text == "" {
		return "", fmt.Errorf("%s printed nothing%s", what, said(&complaints))
	}
	return text, nil
}

// said returns what a command wrote to its standard error, as one line without control characters.
func said(b *bytes.Buffer) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(b.String(), "?"))
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return ""
	}
	return "; it said: " + text
}

// bounded keeps the beginning of what is written. The rest it drops, or fails with full.
type bounded struct {
	to   *bytes.Buffer
	most int
	full error
	cut  bool // there was more
}

var _ io.Writer = (*bounded)(nil)

// Write never fails when full is nil.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.most-b.to.Len())
	b.to.Write(p[:room])
	if room < len(p) {
		b.cut = true
		if b.full != nil {
			return room, b.full
		}
	}
	return len(p), nil
}
