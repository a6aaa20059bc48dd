package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
)

// maxPrompt is the longest prompt, in bytes. A longer text is data and not an instruction, and hardly fits any context window.
const maxPrompt = 1 << 20

// stdinPatience is the wait for standard input before Tenon prints a note about it.
const stdinPatience = 2 * time.Second

// readPrompt returns the prompt and its data. With arguments, these are the prompt and standard input is the data. Without arguments, standard
// input is the prompt. Data is separate from the prompt, because other people often wrote it. Both texts are valid UTF-8. readPrompt calls tell
// with notes for people.
func readPrompt(env *command.Env, ctx context.Context, args []string, tell func(string)) (text, data string, err error) {
	text = strings.TrimSpace(strings.Join(args, " "))
	piped, err := readStdin(env, ctx, tell)
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
	if tool.Binary(text) { // it could look like an instruction by accident
		return "", "", errors.New("the prompt is binary data, not text: to ask about a file, name it in the prompt")
	}
	if !utf8.ValidString(text) || !utf8.ValidString(data) {
		text, data = strings.ToValidUTF8(text, "\uFFFD"), strings.ToValidUTF8(data, "\uFFFD")
		tell("the prompt is not valid UTF-8: Tenon replaced the invalid bytes with \uFFFD")
	}
	return text, data, nil
}

// readStdin reads standard input, up to one byte more than a prompt may have. It does not read a terminal or another device.
func readStdin(env *command.Env, ctx context.Context, tell func(string)) (string, error) {
	if command.Device(env.Stdin) {
		return "", nil // closed, a terminal, or /dev/null
	}
	patience := time.AfterFunc(stdinPatience, func() { tell("waiting for the end of standard input; to run without it, add < /dev/null") })
	defer patience.Stop()
	text, err := command.ReadAll(ctx, env.Stdin, maxPrompt+1)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("cannot read standard input: %w", err)
	}
	return text, err
}

// attach reads the files of --file for the message, as the tool read shows them.
func attach(ctx context.Context, names []string) (parts llm.Content, err error) {
	for _, name := range names {
		content, err := files.Attach(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("cannot attach %s: %w", name, err)
		}
		parts = append(parts, content...)
	}
	return parts, nil
}
