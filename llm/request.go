package llm

import (
	"encoding/json"
	"strings"
)

// Request is all that a model is told for one answer.
//
// JSON: the fields by their lower-case names, empty ones left out.
type Request struct {
	System      string          `json:"system,omitzero"`      // static instructions; the same for as long as possible, for the provider's cache
	Messages    []Message       `json:"messages"`             // oldest first; every tool call is followed by its result
	Tools       []Tool          `json:"tools,omitzero"`       // sorted by name, for the provider's cache
	ToolChoice  ToolChoice      `json:"tool_choice,omitzero"` // default ToolAuto
	Schema      json.RawMessage `json:"schema,omitempty"`     // JSON Schema that the answer must satisfy
	MaxTokens   int             `json:"max_tokens,omitzero"`  // limit of the answer; 0: what the model allows
	Temperature *float64        `json:"temperature,omitzero"` // nil: the provider's default
	Thinking    Thinks          `json:"thinking,omitzero"`    // default: the model's own
	Cache       CachePolicy     `json:"cache,omitzero"`       // default CacheAuto
}

// Tool is what a model is told about a tool.
type Tool struct {
	Name        string          `json:"name"`        // 1 to 64 of a-z A-Z 0-9 _ -
	Description string          `json:"description"` // when and how to use it
	Schema      json.RawMessage `json:"schema"`      // JSON Schema of its arguments, an object
}

// ToolChoice says whether the model may, must or must not call tools.
type ToolChoice string

// The tool choices.
const (
	ToolAuto     ToolChoice = "" // the model decides
	ToolRequired ToolChoice = "required"
	ToolNone     ToolChoice = "none"
)

// Thinks is how much a model may reason before it answers.
type Thinks string

// The thinking levels. Each protocol maps them to what it has.
const (
	ThinkDefault Thinks = ""
	ThinkOff     Thinks = "off"
	ThinkMinimal Thinks = "minimal"
	ThinkLow     Thinks = "low"
	ThinkMedium  Thinks = "medium"
	ThinkHigh    Thinks = "high"
)

// CachePolicy says where a provider that wants marks for its prompt cache gets them: CacheAuto, CacheOff, or a choice of places
// separated by commas, such as "system,tools".
type CachePolicy string

// The cache policies and the places of marks.
const (
	CacheAuto     CachePolicy = ""         // all places
	CacheOff      CachePolicy = "off"      // none
	CacheSystem   CachePolicy = "system"   // behind the system prompt
	CacheTools    CachePolicy = "tools"    // behind the last tool
	CacheMessages CachePolicy = "messages" // moving marks near the end of the conversation
)

// Marks reports whether the policy wants marks at a place, one of CacheSystem, CacheTools and CacheMessages.
func (p CachePolicy) Marks(place CachePolicy) bool {
	if p == CacheAuto {
		return true
	}
	for one := range strings.SplitSeq(string(p), ",") {
		if strings.TrimSpace(one) == string(place) {
			return true
		}
	}
	return false
}

// Valid reports whether the policy is one that there is.
func (p CachePolicy) Valid() bool {
	if p == CacheAuto || p == CacheOff {
		return true
	}
	for one := range strings.SplitSeq(string(p), ",") {
		switch CachePolicy(strings.TrimSpace(one)) {
		case CacheSystem, CacheTools, CacheMessages:
		default:
			return false
		}
	}
	return true
}
