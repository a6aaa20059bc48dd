// Package ask has the parts of questions and answers in a journal: the calls that need approval, the questions of a tool, and a person's
// answers to both. session.Asking and session.Answered contain them.
package ask

import "encoding/json"

// Call is a call that waits for approval.
type Call struct {
	Call      string          `json:"call"` // ToolCall.ID
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Effects   json.RawMessage `json:"effects,omitzero"` // tool.Effects; show its command instead of the one in Arguments: that text runs
	Reason    string          `json:"reason"`           // why it needs approval, in words
	Preview   string          `json:"preview,omitzero"` // the change that it would make, as a diff
	Grants    []Grant         `json:"grants,omitzero"`  // that would allow it and similar calls, from narrow to wide
}

// Grant is a set of rules that a person can add by answering.
type Grant struct {
	Rules []string `json:"rules"` // in the syntax of the configuration
	Words string   `json:"words"` // their coverage, in words
}

// Question is one question to a person.
type Question struct {
	Text     string   `json:"text"`
	Options  []Option `json:"options,omitzero"`
	Multiple bool     `json:"multiple,omitzero"` // the person may choose several options
	Default  string   `json:"default,omitzero"`  // the answer if none comes in time
}

// Option is an answer that a [Question] offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitzero"`
}

// Answer is the answer to one [Call] or one [Question].
type Answer struct {
	Allow     bool     `json:"allow,omitzero"`     // the call may run
	Grant     int      `json:"grant,omitzero"`     // with Allow: the offered grant that the person adds, from 1; 0: none
	Always    bool     `json:"always,omitzero"`    // the grant holds for all sessions, not only for this one
	Arguments string   `json:"arguments,omitzero"` // with Allow: JSON, replaces the arguments of the call
	Reason    string   `json:"reason,omitzero"`    // in words; the model sees the reason of a denial
	Choices   []string `json:"choices,omitzero"`   // to a question: the chosen options, or the person's own words
}
