// Package hooks runs hooks in the wire format of Claude Code: programs and HTTP servers that receive the events of a session as JSON, and answer
// with an exit code or with JSON. It reads their configuration, matches it, runs the hooks of an event, and merges their answers.
//
// A hook narrows and informs. It can allow a call only if its source could allow the call by a rule: the caller decides that, see
// [Result.Allow]. A hook that fails or times out decides nothing, and Tenon reports it.
package hooks
