package hooks

import (
	"slices"
	"time"
)

// Event is the name of an event.
type Event string

// The events.
const (
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	Notification       Event = "Notification"
	Stop               Event = "Stop"
	StopFailure        Event = "StopFailure"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	ConfigChange       Event = "ConfigChange"
	CwdChanged         Event = "CwdChanged"
)

// Events returns the events that Tenon has, in the order of a session.
func Events() []Event {
	return []Event{
		SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, Notification, SubagentStart, SubagentStop,
		Stop, StopFailure, PreCompact, PostCompact, ConfigChange, CwdChanged, SessionEnd,
	}
}

// OfTools reports whether the event is about a call of a tool, so that a hook can have a condition.
func (e Event) OfTools() bool {
	return slices.Contains([]Event{PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure}, e)
}

// blocks reports whether exit code 2 and the decision "block" stop the action, or reach the model after it.
func (e Event) blocks() bool {
	return slices.Contains([]Event{UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, Stop, SubagentStop, PreCompact, ConfigChange}, e)
}

// saysContext reports whether plain output is context for the model.
func (e Event) saysContext() bool { return e == SessionStart || e == UserPromptSubmit }

// timeout is how long a hook may run if its configuration does not say it.
func (e Event) timeout() time.Duration {
	switch e {
	case UserPromptSubmit:
		return 30 * time.Second
	case SessionEnd:
		return 1500 * time.Millisecond
	}
	return 10 * time.Minute
}

// Example returns the JSON of an event for a test: with a call of a tool, and other fields that are given.
func Example(e Event, dir, tool string, given map[string]any) map[string]any {
	in := map[string]any{"session_id": "test", "transcript_path": "", "cwd": dir, "hook_event_name": e, "permission_mode": "default"}
	if e.OfTools() {
		if given == nil {
			given = map[string]any{}
		}
		in["tool_name"], in["tool_input"], in["tool_use_id"], given = tool, given, "test", nil
	}
	for name, value := range map[Event]map[string]any{
		SessionStart: {"source": "startup"}, SessionEnd: {"reason": "other"}, UserPromptSubmit: {"prompt": "test"},
		PostToolUse: {"tool_response": map[string]any{"success": true}}, PostToolUseFailure: {"error": "test", "is_interrupt": false},
		Notification: {"message": "test", "notification_type": "permission_prompt"},
		Stop:         {"stop_hook_active": false, "last_assistant_message": "test"}, SubagentStop: {"stop_hook_active": false, "last_assistant_message": "test"},
		StopFailure: {"error": "unknown"}, SubagentStart: {"agent_id": "test", "agent_type": "general-purpose"},
		PreCompact: {"trigger": "manual", "custom_instructions": ""}, PostCompact: {"trigger": "manual", "compact_summary": "test"},
		ConfigChange: {"source": "session"}, CwdChanged: {"old_cwd": dir, "new_cwd": dir},
	}[e] {
		in[name] = value
	}
	for name, value := range given {
		in[name] = value
	}
	return in
}
