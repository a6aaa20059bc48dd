package tool

import (
	"context"
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
)

// Tool is a tool that a model can call. Implementations are safe for concurrent use.
type Tool interface {
	// Spec describes the tool to the model. It never changes.
	Spec() llm.Tool

	// Prepare checks arguments, the JSON text of a model, and returns the call. It changes nothing, but may read the disk to
	// resolve paths. The model sees the error: it names the problem and the fix.
	Prepare(ctx context.Context, arguments string) (*Call, error)
}

// Call is a validated call. It runs at most once.
type Call struct {
	Arguments json.RawMessage // in canonical form: members in the order of the schema
	Effects   Effects

	// As is the name of the call in rules, in the journal and on screen, for a tool that dispatches to other tools. Default: the name
	// of the tool.
	As string

	// Title describes the call in one line, such as "README.md:1-20" or "go test ./...". Frontends show it after the name. The agent
	// cuts it to a [Line], like the Brief of the result.
	Title string

	// Run executes the call. It returns soon after ctx ends. The model sees the text of an error.
	Run func(ctx context.Context, report Report) (Result, error)

	// Preview returns a unified diff of the changes that Run would make now, for the person who approves the call. It changes nothing
	// and fails if Run would fail. The caller may call it any number of times before Run. Nil: the call has no preview.
	Preview func(ctx context.Context) (string, error)
}

// Report shows people the progress of a running call. The texts are consecutive. It is safe for concurrent use, does not block, and
// does nothing after the end of the call.
type Report func(text string)

// Result is the outcome of a call.
type Result struct {
	Content llm.Content // for the model
	IsError bool        // the call failed
	Failed  bool        // for people: the call succeeded, but its work failed, such as a command with an exit code
	Brief   string      // for people: the outcome in one line, such as "12 lines" or "exit code 1, 3 lines"
	Diffs   []FileDiff  // for people: the files that the call changed
	Details any         // for programs, as JSON; neither the model nor a frontend reads it
}

// FileDiff is the change of one file.
type FileDiff struct {
	Path    string // from the root of the workspace
	From    string // the path before a move
	Created bool
	Deleted bool
	Added   int    // lines
	Removed int    // lines
	Text    string // a unified diff; empty for a binary or large file
	Cut     bool   // Text is incomplete
}

// TextResult returns a result of one text.
func TextResult(text string) Result {
	return Result{Content: llm.Content{llm.Text{Text: text}}}
}

// With returns the result with a brief for people and details for programs, which may be nil.
func (r Result) With(brief string, details any) Result {
	r.Brief, r.Details = brief, details
	return r
}
