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

// The limits of a command's output, in bytes.
const (
	mostOutput = 64 << 10
	mostErrors = 1 << 10
)

// errTooMuch stops reading a command's output.
var errTooMuch = errors.New("too much output")

// run returns the trimmed output of a command of the system's shell.
func (e *environment) run(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := shell(ctx, command)
	cmd.Dir = e.dir
	output := &bounded{to: &out, most: mostOutput, full: errTooMuch}
	cmd.Stdout = output
	cmd.Stderr = &bounded{to: &complaints, most: mostErrors}
	cmd.WaitDelay = time.Second // a child process may keep the pipes open
	err := cmd.Run()
	what := "the command " + showCommand(command)
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "", fmt.Errorf("%s timed out after %v; run it by hand to see the cause%s", what, e.timeout, said(&complaints))
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case output.cut:
		return "", fmt.Errorf("%s printed more than %d KiB; make it print only the value", what, mostOutput>>10)
	case err != nil:
		return "", fmt.Errorf("%s failed: %w%s", what, err, said(&complaints))
	}
	text := strings.TrimSpace(out.String())
	if text == "" {
		return "", fmt.Errorf("%s printed nothing%s", what, said(&complaints))
	}
	return text, nil
}

// said returns the standard error of a command as one line without control characters.
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
	return "; its standard error: " + text
}

// bounded keeps the beginning of the written text. It drops the rest, or fails with full if full is set.
type bounded struct {
	to   *bytes.Buffer
	most int
	full error
	cut  bool // the text was longer
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
