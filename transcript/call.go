package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// State is the state of a call.
type State string

// The states. The last six are ends.
const (
	Proposed  State = "proposed"  // the model wants it
	Waiting   State = "waiting"   // for a person's approval
	Running   State = "running"   // it has started
	Succeeded State = "succeeded" // it did its work
	Failed    State = "failed"    // it or its command failed
	Denied    State = "denied"    // it did not run
	Skipped   State = "skipped"   // it did not run, because of another event or the end of the process
	Cancelled State = "cancelled" // it was cancelled
	Unknown   State = "unknown"   // the process ended while it ran
)

// Call is a call of an answer.
type Call struct {
	ID        string
	Name      string // for rules and people
	Title     string // one line, for people
	Arguments string // JSON; the final ones
	State     State
	Brief     string             // one line: the outcome; empty before the end
	Diffs     []session.FileDiff // that the tool reported
	Files     []session.FileChange
	More      int    // files that changed and are not in Files
	Denied    string // the rule or person that denied it, and the reason
	Progress  string // the newest line of progress
	Started   time.Time
	Ended     time.Time
	Seq       int64            // of the result
	Entry     session.ID       // of the result
	Result    *session.Message // nil before the end

	written string // the name that the model wrote
	output  []byte // the newest progress
}

func newCall(c llm.ToolCall) *Call {
	return &Call{ID: c.ID, Name: c.Name, written: c.Name, Title: titleOf(c.Arguments), Arguments: c.Arguments, State: Proposed}
}

// OK reports whether the call ended well.
func (c *Call) OK() bool { return c.State == Succeeded }

// Limits of the output of a running call.
const (
	maxOutput      = 64 << 10
	maxOutputLines = 200
)

// Output returns the newest output of a running call: at most 200 lines and 64 kB. A line that the program wrote again with a carriage
// return is shown as it is now.
func (c *Call) Output() string {
	text := string(c.output[max(len(c.output)-maxOutput, 0):])
	if len(text) < len(c.output) {
		_, text, _ = strings.Cut(text, "\n")
	}
	all := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	all = all[max(len(all)-maxOutputLines, 0):]
	for i, line := range all {
		line = strings.TrimRight(line, "\r")
		all[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(all, "\n")
}

// Took returns the duration of the call; 0 if it is unknown.
func (c *Call) Took() time.Duration {
	if c.Started.IsZero() || c.Ended.Before(c.Started) {
		return 0
	}
	return c.Ended.Sub(c.Started)
}

func (c *Call) add(e session.Event) {
	switch b := e.Body.(type) {
	case session.CallStarted:
		c.State, c.Started = Running, e.Time
		c.Name = cmp.Or(line(b.As), b.Tool, c.Name)
		c.Title = cmp.Or(line(b.Title), c.Title)
		if len(b.Arguments) > 0 {
			c.Arguments = string(b.Arguments)
		}
	case live.Progress:
		text := strings.TrimRight(b.Text, "\r\n")
		c.Progress = cmp.Or(line(text[strings.LastIndexAny(text, "\r\n")+1:]), c.Progress)
		if c.output = append(c.output, b.Text...); len(c.output) > 2*maxOutput {
			c.output = append(c.output[:0], c.output[len(c.output)-maxOutput:]...)
		}
	case session.Decision:
		if b.Verdict == "deny" {
			c.Denied = joined(b.By, b.Reason)
			c.Name, c.Title = cmp.Or(line(b.As), c.Name), cmp.Or(line(b.Title), c.Title)
		}
		c.Arguments = cmp.Or(b.Arguments, c.Arguments)
	case session.FilesChanged:
		c.Files, c.More = append(c.Files, b.Files...), c.More+b.More
	}
}

func (c *Call) finish(e session.Event, m session.Message) {
	c.Result, c.Seq, c.Entry, c.Ended, c.Diffs, c.Progress = &m, e.Seq, e.ID, e.Time, m.Diffs, ""
	if c.output = nil; c.Started.IsZero() && c.Name == c.written {
		c.Name = cmp.Or(line(m.Tool), c.Name)
	}
	switch m.Outcome {
	case session.OutcomeOK:
		if c.State = Succeeded; m.Failed || m.IsError {
			c.State = Failed
		}
	case session.OutcomeDenied:
		c.State = Denied
	case session.OutcomeSkipped, session.OutcomeNotStarted:
		c.State = Skipped
	case session.OutcomeCancelled:
		c.State = Cancelled
	case session.OutcomeUnknown, session.OutcomeInterrupted:
		c.State = Unknown
	default:
		c.State = Failed
	}
	c.Brief = brief(m)
}

// brief returns the outcome of a call in one line: the brief of the tool, or one from the text of the result.
func brief(m session.Message) string {
	text := strings.TrimSpace(m.Text())
	head, _, _ := strings.Cut(text, "\n")
	switch m.Outcome {
	case session.OutcomeOK, session.OutcomeFailed:
		if m.Brief != "" {
			return m.Brief
		}
		if !m.IsError {
			return Count(lines(m.Text()), "line")
		}
		return line(head)
	case session.OutcomeDenied: // complete, because the reason says how to allow the call
		head = strings.TrimSuffix(strings.TrimPrefix(head, "This call was denied: "), ".")
		return "denied: " + strings.Join(strings.Fields(head), " ")
	}
	head, _, _ = strings.Cut(head, ". ") // the rest is advice for the model
	if why, ok := strings.CutPrefix(head, "This call was not run: "); ok {
		head = strings.TrimSuffix(why, ".")
	}
	return strings.ReplaceAll(string(m.Outcome), "_", " ") + ": " + line(head)
}

// titleOf returns a title for a call without one, because it did not start or comes from another program: its most telling argument, or
// the first argument by name that is a text or a list of texts.
func titleOf(arguments string) string {
	telling := []string{"command", "cmd", "path", "file_path", "filePath", "pattern", "query", "url"}
	var args map[string]json.RawMessage
	_ = json.Unmarshal([]byte(arguments), &args) // a call with other arguments has no title
	for _, name := range append(telling, slices.Sorted(maps.Keys(args))...) {
		var text string
		var list []string
		if json.Unmarshal(args[name], &text) != nil && json.Unmarshal(args[name], &list) == nil {
			text = strings.Join(list, " ")
		}
		if strings.TrimSpace(text) != "" {
			return line(text)
		}
	}
	return ""
}

// Pretty returns the arguments for people: a command as text, others as JSON with one member on each line.
func (c *Call) Pretty() string {
	var args map[string]any
	if json.Unmarshal([]byte(c.Arguments), &args) == nil && len(args) == 1 {
		for _, name := range []string{"command", "cmd", "patch", "input"} {
			if text, ok := args[name].(string); ok && text != "" {
				return text
			}
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(c.Arguments), "", "  ") == nil {
		return b.String()
	}
	return c.Arguments
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func joined(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + ": " + b
}
