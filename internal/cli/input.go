package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

// maxPrompt is the longest prompt, in bytes. More than that is no instruction but data, and no model's window has room for
// much more.
const maxPrompt = 1 << 20

// stdinPatience is how long standard input may stay silent before people are told what is waited for.
const stdinPatience = 2 * time.Second

// prompt is what was asked: the arguments, with what standard input has as data, or, without arguments, standard input
// itself. What is piped beside a prompt is often written by others, so it must not be taken for the prompt. Both are valid
// UTF-8. Notes for people go to tell.
func (p *program) prompt(ctx context.Context, args []string, tell func(string)) (text, data string, err error) {
	text = strings.TrimSpace(strings.Join(args, " "))
	piped, err := p.readStdin(ctx, tell)
	if err != nil {
		return "", "", err
	}
	if strings.TrimSpace(piped) != "" {
		data = strings.TrimRight(piped, "\r\n")
	}
	if text == "" {
		text, data = data, ""
	}
	if len(text)+len(data) > maxPrompt {
		return "", "", fmt.Errorf("the prompt has more than %d bytes (1 MiB): put the text into a file of the project and name the file in the prompt", maxPrompt)
	}
	if tool.Binary(text) { // by chance it could read like an instruction
		return "", "", errors.New("the prompt is binary data, not text: to have a file looked at, name it in a prompt")
	}
	if !utf8.ValidString(text) || !utf8.ValidString(data) {
		text, data = strings.ToValidUTF8(text, "\uFFFD"), strings.ToValidUTF8(data, "\uFFFD")
		tell("the prompt is not valid UTF-8: what could not be read stands as \uFFFD")
	}
	return text, data, nil
}

// readStdin reads standard input, at most a little more than a prompt may have, unless it is a terminal or another device.
func (p *program) readStdin(ctx context.Context, tell func(string)) (string, error) {
	in := p.env.Stdin
	if in == nil {
		return "", nil
	}
	if f, ok := in.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return "", nil // closed, a terminal, or /dev/null
		}
	}
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // it may outlive a cancelled command: a read of standard input cannot be cancelled
		data, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
		read <- result{data, err}
	}()
	patience := time.NewTimer(stdinPatience)
	defer patience.Stop()
	for {
		select {
		case r := <-read:
			if r.err != nil {
				return "", fmt.Errorf("read standard input: %w", r.err)
			}
			return string(r.data), nil
		case <-patience.C:
			tell("waiting for the end of standard input; without any, run with < /dev/null")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}
