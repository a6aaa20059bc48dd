package app

import (
	"context"
	"encoding/json"
	"io"

	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// redacted returns the tools with keys taken out of what they return, tell and show. A command that prints its environment must not
// carry a key into the journal, to the model or onto the screen.
func redacted(tools []tool.Tool, secrets *keys.Redactor) []tool.Tool {
	if secrets == nil {
		return tools
	}
	return wrapped(tools, func(call *tool.Call) {
		if preview := call.Preview; preview != nil {
			call.Preview = func(ctx context.Context) (string, error) {
				text, err := preview(ctx)
				return secrets.Redact(text), redactError(err, secrets.Redact)
			}
		}
		run := call.Run
		call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
			progress := secrets.Writer(reporter(report)) // a key may come in two parts
			result, err := run(ctx, func(text string) { _, _ = io.WriteString(progress, text) })
			_ = progress.Close()
			result.Content = redactContent(result.Content, secrets.Redact)
			result.Details = redactDetails(result.Details, secrets.Redact)
			return result, redactError(err, secrets.Redact)
		}
	})
}

// reporter writes to a report.
type reporter tool.Report

func (r reporter) Write(p []byte) (int, error) {
	r(string(p))
	return len(p), nil
}

func redactContent(c llm.Content, redact func(string) string) llm.Content {
	var out llm.Content
	for i, p := range c {
		text, ok := p.(llm.Text)
		if !ok {
			continue
		}
		clean := redact(text.Text)
		if clean == text.Text {
			continue
		}
		if out == nil {
			out = append(out, c...)
		}
		text.Text = clean
		out[i] = text
	}
	if out == nil {
		return c
	}
	return out
}

// redactDetails returns details without keys: as they are when they have none, else as JSON. What cannot be JSON is left to who keeps it.
func redactDetails(details any, redact func(string) string) any {
	if details == nil {
		return nil
	}
	data, err := json.Marshal(details)
	if err != nil {
		return details
	}
	if clean := redact(string(data)); clean != string(data) {
		return json.RawMessage(clean)
	}
	return details
}

func redactError(err error, redact func(string) string) error {
	if err == nil {
		return nil
	}
	if clean := redact(err.Error()); clean != err.Error() {
		return &redactedError{clean, err}
	}
	return err
}

// redactedError is an error whose text has no key in it.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
