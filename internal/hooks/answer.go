package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Answer is what one hook said.
type Answer struct {
	Decision string          `json:"decision,omitzero"` // allow, ask, deny or block
	Reason   string          `json:"reason,omitzero"`
	Input    json.RawMessage `json:"updatedInput,omitzero"`
	Output   json.RawMessage `json:"updatedToolOutput,omitzero"`
	Context  string          `json:"additionalContext,omitzero"` // for the model
	Stop     bool            `json:"stop,omitzero"`              // the run ends
	Why      string          `json:"stopReason,omitzero"`
	Message  string          `json:"systemMessage,omitzero"` // for the person
	Problem  string          `json:"problem,omitzero"`       // the answer, or a part of it, does not count
}

// output is the JSON of a hook.
type output struct {
	Continue       *bool     `json:"continue"`
	StopReason     string    `json:"stopReason"`
	SuppressOutput bool      `json:"suppressOutput"`
	SystemMessage  string    `json:"systemMessage"`
	Decision       string    `json:"decision"`
	Reason         string    `json:"reason"`
	Specific       *specific `json:"hookSpecificOutput"`
}

// specific is the part of the JSON that belongs to one event.
type specific struct {
	Event     Event           `json:"hookEventName"`
	Verdict   string          `json:"permissionDecision"`
	Reason    string          `json:"permissionDecisionReason"`
	Input     json.RawMessage `json:"updatedInput"`
	Context   string          `json:"additionalContext"`
	Output    json.RawMessage `json:"updatedToolOutput"`
	MCPOutput json.RawMessage `json:"updatedMCPToolOutput"`
	Decision  *struct {
		Behavior    string          `json:"behavior"`
		Input       json.RawMessage `json:"updatedInput"`
		Permissions json.RawMessage `json:"updatedPermissions"`
		Message     string          `json:"message"`
		Interrupt   bool            `json:"interrupt"`
	} `json:"decision"`
}

// exitBlocks is the exit code with which a hook blocks.
const exitBlocks = 2

// maxText is how many bytes of one text of a hook count.
const maxText = 10_000

// parse reads the answer of a hook to an event: its exit code, 0 for an HTTP server, and its output.
func parse(event Event, code int, stdout, stderr string) (a Answer) {
	stdout, stderr = strings.TrimSpace(stdout), strings.TrimSpace(stderr)
	said := false
	if strings.HasPrefix(stdout, "{") {
		var err error
		if a, err = read(event, stdout); err != nil {
			a = Answer{Problem: "the output is not the JSON of a hook: " + err.Error()}
		}
		said = err == nil
	}
	switch {
	case code == exitBlocks && event.blocks():
		a.Decision, a.Reason = "block", cmp.Or(a.Reason, stderr, "the hook gave no reason")
		if event == PreToolUse {
			a.Decision = "deny"
		}
		a.Problem, a.Input = "", nil
	case said || a.Problem != "":
	case code == exitBlocks:
		a.Message = stderr // the event is over, so that there is nothing to block
	case code != 0:
		a.Problem = strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", code, stderr), ": ")
	case event.saysContext():
		a.Context = stdout
	}
	for _, text := range []*string{&a.Reason, &a.Context, &a.Why, &a.Message, &a.Problem} {
		*text = bounded(*text)
	}
	return a
}

// read reads the JSON of a hook.
func read(event Event, text string) (a Answer, err error) {
	var o output
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&o); err != nil {
		return a, err
	}
	if d.More() {
		return a, fmt.Errorf("text after the object")
	}
	a = Answer{Stop: o.Continue != nil && !*o.Continue, Why: o.StopReason, Message: o.SystemMessage, Reason: o.Reason}
	switch {
	case o.Decision == "":
	case o.Decision == "approve" && event == PreToolUse:
		a.Decision = "allow"
	case o.Decision == "block" && event == PreToolUse:
		a.Decision = "deny"
	case o.Decision == "block" && event.blocks():
		a.Decision = "block"
	case o.Decision == "approve":
	default:
		return a, fmt.Errorf("the decision %q does not exist for %s", clip(o.Decision), event)
	}
	s := o.Specific
	if s == nil {
		return a, nil
	}
	if s.Event != event {
		return a, fmt.Errorf("hookSpecificOutput.hookEventName is %q and must be %q", clip(string(s.Event)), event)
	}
	a.Context = s.Context
	switch event {
	case PreToolUse:
		switch s.Verdict {
		case "":
		case "allow", "ask", "deny":
			a.Decision = s.Verdict
		case "defer":
			a.Decision = "ask"
		default:
			return a, fmt.Errorf("permissionDecision is %q; expected allow, ask or deny", clip(s.Verdict))
		}
		a.Reason, a.Input = cmp.Or(s.Reason, a.Reason), value(s.Input)
	case PermissionRequest:
		if s.Decision == nil {
			return a, nil
		}
		switch s.Decision.Behavior {
		case "allow", "deny":
			a.Decision = s.Decision.Behavior
		default:
			return a, fmt.Errorf("decision.behavior is %q; expected allow or deny", clip(s.Decision.Behavior))
		}
		a.Reason = cmp.Or(s.Decision.Message, a.Reason)
		a.Input = value(s.Decision.Input)
		if a.Stop = a.Stop || s.Decision.Interrupt && a.Decision == "deny"; a.Stop {
			a.Why = cmp.Or(a.Why, a.Reason)
		}
		if value(s.Decision.Permissions) != nil {
			a.Problem = "updatedPermissions has no effect: a hook changes no rules"
		}
	case PostToolUse:
		if a.Output = value(s.Output); a.Output == nil {
			a.Output = value(s.MCPOutput)
		}
	}
	if a.Input != nil && !bytes.HasPrefix(a.Input, []byte("{")) {
		return a, fmt.Errorf("updatedInput must be an object")
	}
	return a, nil
}

// value is a value of JSON, or nil for null.
func value(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// bounded cuts a text that is too long, and makes it valid.
func bounded(text string) string {
	if len(text) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + fmt.Sprintf("\n[%d more bytes of the hook were cut]", len(text)-cut)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// clip shortens a foreign word for an error.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
