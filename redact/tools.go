package redact

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// Tools returns tools without secrets in results, errors, progress and previews. The journal, the model and the screen see only
// redacted texts.
func (r *Redactor) Tools(tools []tool.Tool) []tool.Tool {
	return tool.Wrap(tools, func(call *tool.Call) {
		if preview := call.Preview; preview != nil {
			call.Preview = func(ctx context.Context) (string, error) {
				text, err := preview(ctx)
				return r.Redact(text), redactError(err, r.Redact)
			}
		}
		call.Title = r.Redact(call.Title)
		run := call.Run
		call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
			progress := r.Writer(reporter(report)) // a key may arrive in two parts
			result, err := run(ctx, func(text string) { _, _ = io.WriteString(progress, text) })
			_ = progress.Close()
			result.Content = redactContent(result.Content, r.Redact)
			result.Brief = r.Redact(result.Brief)
			result.Diffs = redactDiffs(result.Diffs, r.Redact)
			result.Details = redactDetails(result.Details, r.Redact)
			return result, redactError(err, r.Redact)
		}
	})
}

// reporter is a writer that calls a report.
type reporter tool.Report

func (p reporter) Write(b []byte) (int, error) {
	p(string(b))
	return len(b), nil
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

// redactDiffs returns a copy of diffs without keys.
func redactDiffs(diffs []tool.FileDiff, redact func(string) string) []tool.FileDiff {
	diffs = slices.Clone(diffs)
	for i := range diffs {
		d := &diffs[i]
		d.Path, d.From, d.Text = redact(d.Path), redact(d.From), redact(d.Text)
	}
	return diffs
}

// redactDetails returns details without keys. If details contain a key, it returns them as JSON. If details cannot be encoded as JSON, it
// returns them unchanged.
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

// redactedError is an error with a text without keys.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
