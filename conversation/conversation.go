package conversation

import (
	"context"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// Conversation is an open session as a frontend drives it. [Local] implements it in this process, and a client of a server implements it
// too, so no frontend needs a way of its own. All methods are safe for concurrent use.
//
// Errors: a [*request.LateError] if another frontend was first, an [agent.ErrBusy] if the operation needs an idle conversation, and
// [ErrUnsupported].
type Conversation interface {
	// State returns the present state. State.Seq is its newest entry; Follow continues from there.
	State(ctx context.Context) (State, error)

	// Follow yields the entries after a number, and then entries and transient events as they happen, until ctx ends. Any number of
	// callers can follow.
	Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error]

	// Prompt starts a run if the conversation is idle. During a run it queues a draft.
	Prompt(ctx context.Context, p Prompt) (Prompted, error)

	// Run starts a run and yields its events in the order of Follow. The last event is a [session.RunEnded]. If a model, the journal or a
	// panic ended the run, a pair with a zero event and that error follows. If the run cannot start, the only pair is a zero event with
	// the error: [agent.ErrBusy] during another run, a [view.ErrAnswered] or [view.ErrNoMessage] if the prompt has no message and
	// the session has nothing left to do. If ctx ends, the run is cancelled. A caller that leaves the iteration early leaves the run going.
	Run(ctx context.Context, p Prompt) iter.Seq2[session.Event, error]

	// Edit replaces the message of a draft.
	Edit(ctx context.Context, draft session.ID, m llm.Message) error
	// Move moves a draft before another one, or to the end if before is empty. If lane is empty, the draft stays in its lane.
	Move(ctx context.Context, draft session.ID, lane session.Source, before session.ID) error
	// Remove removes a draft.
	Remove(ctx context.Context, draft session.ID) error

	// Answer answers a question, with one answer for each of its calls or questions. The first answer counts.
	Answer(ctx context.Context, question string, answers ...ask.Answer) error

	// Abort cancels the current run. It does not wait for the end of the run.
	Abort(ctx context.Context) error

	// Set changes the conversation from its next turn on. Empty fields of the change have no effect. If one field cannot be changed,
	// Set changes nothing.
	Set(ctx context.Context, c session.Change) error

	// Rewind undoes or redoes a run, or rewinds to an earlier entry. It returns the plan that it carried out or, with b.DryRun, would
	// carry out.
	Rewind(ctx context.Context, b Back) (*undo.Plan, error)

	// Compact replaces the older part of the context window by a summary, and returns the entry of the summary. Focus names the most
	// important facts. If there is no summary, the event is nil and a warning says why.
	Compact(ctx context.Context, focus string) (*session.Event, []Warning, error)

	// Fork creates a session that continues from an entry of this one. An empty entry is the end.
	Fork(ctx context.Context, at session.ID) (session.SessionID, error)

	// Close ends the conversation in this process: it aborts the current run, ends background jobs and releases the session. A client of
	// a server only disconnects. If people should know about the end of a job, the error has a [*Warning].
	Close() error
}

// State is the state of a conversation at one moment.
type State struct {
	Session  session.SessionID     `json:"session"`
	Seq      int64                 `json:"seq"` // newest entry
	Dir      string                `json:"dir"`
	Title    string                `json:"title,omitzero"`
	Run      session.RunID         `json:"run,omitzero"` // current run
	Model    llm.Model             `json:"model"`
	Mode     permission.Mode       `json:"mode,omitzero"`
	Context  Context               `json:"context"`
	Usage    llm.Usage             `json:"usage"` // of the whole session
	Drafts   []request.Draft       `json:"drafts,omitzero"`
	Asking   []request.Question    `json:"asking,omitzero"`
	Jobs     []workspace.JobStatus `json:"jobs,omitzero"` // background jobs
	Warnings []Warning             `json:"warnings,omitzero"`
}

// Context is the use of the context window, in tokens.
type Context struct {
	Used   int64 `json:"used"`   // by the newest request and its answer
	Window int   `json:"window"` // of the model
}

// Prompt is a message of a person, or of a program in the place of a person.
type Prompt struct {
	Message llm.Message     // empty: continue a run that was interrupted, failed or stopped at a limit
	Speaker session.Speaker // zero: a person at the frontend of the conversation
	Lane    session.Source  // of a draft: FromSteering or FromFollowUp; default FromFollowUp
	From    session.ID      // continue from this entry instead of the end, such as to edit an earlier message and send it again
}

// Prompted is the result of a [Prompt]: a run or a draft.
type Prompted struct {
	Run   session.RunID `json:"run,omitzero"`   // that the prompt started
	Draft session.ID    `json:"draft,omitzero"` // that the prompt queued
}

// Message returns the message of a prompt with data, such as piped input. A part of its own encloses the data, and the data cannot close
// it, so that it never passes for the words of the person.
func Message(prompt, data string) llm.Message {
	m := llm.UserText(prompt)
	if data != "" {
		data = strings.ReplaceAll(data, "</stdin", "< /stdin")
		m.Content = append(m.Content, llm.Text{Text: "\n\n<stdin>\n" + data + "\n</stdin>"})
	}
	return m.Valid()
}

// Back says what to undo. The zero value is the last run, its files and its conversation.
type Back struct {
	Redo   bool       // redo the last undo
	To     string     // undo everything after this entry: ID, ID prefix or number; empty: the last run
	Turns  int        // instead of To: this many turns of the conversation
	Scope  undo.Scope // files, conversation, or both
	Force  bool       // also overwrite changes by others
	DryRun bool       // only plan
}
