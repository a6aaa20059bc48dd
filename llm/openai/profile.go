package openai

import (
	"iter"

	"github.com/tenon-agent/tenon/llm"
)

// Profile has the address of a server of Chat Completions and its differences from others. The zero value is a server that
// takes the plain protocol: the role system, max_tokens, and nothing about thinking or the form of the answer.
type Profile struct {
	Name  string // of the provider in names of models, such as "groq"; lower-case letters, digits and dashes
	Title string // for people

	// How it is reached.
	BaseURL     string   // default; empty: there is none, the person must give one
	BaseURLVars []string // names of environment variables with another base URL; the first one that is set counts
	KeyVars     []string // names of environment variables with a key; the first one that is set counts
	HomeKeyVars []string // more of them, for the default BaseURL only: the token has other uses, so no other host may see it
	Local       bool     // runs on the person's own machine and needs no key
	Port        int      // where it listens there by default; 0 when it is not Local

	// Its abilities.
	MaxCompletionTokens bool // the limit of an answer is max_completion_tokens; else max_tokens
	Developer           bool // the system prompt has the role developer; else system
	StreamUsage         bool // stream_options.include_usage asks for the usage of a streamed answer
	AskUsage            bool // usage.include asks for the usage with its cost (OpenRouter)
	ParallelCalls       bool // parallel_tool_calls must ask for several calls in one answer; elsewhere they are the default
	Documents           bool // PDFs are read, as parts of the type file; the model must be able to as well
	CacheMarks          bool // models of Anthropic take cache_control on messages

	// What its messages must be like.
	EmptyContent   bool // an answer of calls alone has the content "", and not none
	ResultNames    bool // the result of a call has the name of its tool
	AnswerToResult bool // a user's message must not follow the result of a call: a short answer is put between them
	ExactID        int  // IDs of calls are that many letters and digits, no more and no less; 0: 1 to 40 of more kinds

	// Thinking.
	Thinking        ThinkingStyle
	Efforts         map[llm.Thinks]string // the server's word for each level that has one; any other level asks for the nearest
	ReasoningBack   ReasoningStyle
	ReasoningNeeded bool // an answer with calls is refused without reasoning_content, so one of another model gets a blank one
	ThinkOpened     bool // the text begins within <think>, because the model's template opens the tag itself

	// Structured answers.
	Schema      SchemaStyle
	Strict      bool // a schema that keeps OpenAI's rules for it is sent as strict
	SchemaAlone bool // no structured answer together with tools: a forced call replaces it
	NoForce     bool // tool_choice is auto or none, nothing else

	// How it counts.
	ReasoningApart bool // reasoning tokens are not part of completion_tokens; decides only where total_tokens does not
	Router         bool // another model than the one asked may answer; the answer says which
}

// ThinkingStyle is the way to ask a server for an amount of thinking.
type ThinkingStyle string

// The thinking styles.
const (
	ThinkingNone     ThinkingStyle = ""                     // no way
	ThinkingEffort   ThinkingStyle = "reasoning_effort"     // by a word
	ThinkingObject   ThinkingStyle = "reasoning"            // {"effort":WORD}, or {"enabled":false}
	ThinkingSwitch   ThinkingStyle = "thinking"             // {"type":"enabled"} or "disabled"; a word goes with it as reasoning_effort
	ThinkingTemplate ThinkingStyle = "chat_template_kwargs" // {"enable_thinking":true} or false; a word goes with it as reasoning_effort
)

// ReasoningStyle is how a server wants its own reasoning back with the answers that it belongs to.
type ReasoningStyle string

// The reasoning styles.
const (
	ReasoningNone    ReasoningStyle = ""                  // not at all
	ReasoningText    ReasoningStyle = "reasoning_content" // as text
	ReasoningDetails ReasoningStyle = "reasoning_details" // as the list that came with it, untouched
)

// SchemaStyle is how a server is asked for a structured answer.
type SchemaStyle string

// The schema styles.
const (
	SchemaCall   SchemaStyle = ""            // by a call of a tool that it must make; see [github.com/tenon-agent/tenon/llm/fit.SchemaTool]
	SchemaNative SchemaStyle = "json_schema" // by its own mode, which holds the model to the schema
	SchemaObject SchemaStyle = "json_object" // by its own mode for JSON, with the schema in the instructions
)

// Profiles yields the profiles of well-known servers, the hosted ones before the local ones, and last the one for any other. Each is the
// caller's own copy.
func Profiles() iter.Seq[Profile] {
	return func(yield func(Profile) bool) {
		for _, p := range table() {
			if !yield(p) {
				return
			}
		}
	}
}

// ProfileOf returns the profile with that name, as the caller's own copy.
func ProfileOf(name string) (Profile, bool) {
	for p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
