package conversation

import (
	"context"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/budget"
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
	// State returns the present state. State.Seq is its newest entry: the state contains the effects of all entries up to it, and Follow from
	// there yields everything later. So a frontend that joins late misses nothing.
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

	// Abort cancels the current run, command or summary. It does not wait for the end.
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

	// Trim shortens old tool results in the context window now, and returns the entry of the trim. If no result is worth a trim, the event is
	// nil. The provider must read the whole conversation again with the next request.
	Trim(ctx context.Context) (*session.Event, error)

	// Command runs a shell command of the person, under the same policy and in the same sandbox as a command of the model, and returns the
	// entry of its output. It starts no run: the next request of the model has the command and the output as a message of the tool. Its
	// output arrives as transient [live.Progress] events, and undo reverts its changes of files. If ctx ends, or by Abort, the command is
	// killed. Prompts that arrive while it runs are drafts, and start a run afterwards.
	//
	// If the command does not run, because the policy or a person denies it, the error is an [*agent.NotRunError].
	Command(ctx context.Context, command string) (session.Event, error)

	// Pin keeps a message verbatim in the context window, or unpins it. If the entry is not a message of the session, the error is an
	// [ErrNoMessage].
	Pin(ctx context.Context, entry session.ID, pinned bool) error

	// Rename gives the session a title. If the title is empty, the error is an [ErrNoTitle].
	Rename(ctx context.Context, title string) error

	// Window returns the contents of the context window by kind, with estimated tokens.
	Window(ctx context.Context) (ContextWindow, error)

	// Rules returns the permission rules in force: those of the configuration and of flags, and the grants of this session.
	Rules(ctx context.Context) ([]Rule, error)

	// Revoke removes a grant of this session by the text of its rule. A grant for all sessions stays in the configuration. If the session has
	// no such grant, the error is an [ErrNoGrant].
	Revoke(ctx context.Context, rule string) error

	// EndJob ends a background job and waits for its end. If no job has the ID, the error is an [ErrNoJob].
	EndJob(ctx context.Context, job string) error

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
	Role     string                `json:"role,omitzero"`     // empty: none
	Thinking llm.Thinks            `json:"thinking,omitzero"` // of the next request
	Mode     permission.Mode       `json:"mode,omitzero"`
	Network  string                `json:"network,omitzero"` // hosts that commands may reach, as in session.Change
	Goal     *session.Goal         `json:"goal,omitzero"`    // the newest, also if the agent no longer pursues it
	Answer   llm.Content           `json:"answer,omitzero"`  // of the model so far, if it is not complete; the deltas of Follow continue it
	Command  string                `json:"command,omitzero"` // ID of the call of the person's command that runs
	Context  Context               `json:"context"`
	Usage    llm.Usage             `json:"usage"`            // of the whole session
	Budgets  []Budget              `json:"budgets,omitzero"` // the nearest first
	Reached  Reached               `json:"reached,omitzero"` // the limit that ended the newest run; a [Prompt] without a message goes on
	Drafts   []request.Draft       `json:"drafts,omitzero"`
	Asking   []request.Question    `json:"asking,omitzero"`
	Jobs     []workspace.JobStatus `json:"jobs,omitzero"`    // background jobs
	Servers  []Server              `json:"servers,omitzero"` // language servers that were used
	MCP      []Server              `json:"mcp,omitzero"`     // all MCP servers
	Warnings []Warning             `json:"warnings,omitzero"`
}

// Server is a language server of the directory, or an MCP server of the conversation.
type Server struct {
	Name   string `json:"name"`
	State  string `json:"state"`           // starting, ready, unloaded, waiting or off; of MCP: connected, not started, off, needs login, changed tools or failed
	Detail string `json:"detail,omitzero"` // such as why it does not run
	Tools  int    `json:"tools,omitzero"`  // of MCP: that the model gets if the server is not off
}

// ServerOff is the state of a [Server] that is switched off.
const ServerOff = "off"

// Context is the use of the context window, in tokens.
type Context struct {
	Used   int64 `json:"used"`   // by the newest request and its answer
	Window int   `json:"window"` // of the model
}

// Budget is the limits of a run, a session or a day, and the spending under them. A limit of 0 is none.
type Budget struct {
	Name   string          `json:"name"`           // "run", which is the next one if none is on, "session", "day"
	Money  float64         `json:"money,omitzero"` // US dollars
	Tokens int64           `json:"tokens,omitzero"`
	Turns  int             `json:"turns,omitzero"`
	Spent  budget.Spending `json:"spent,omitzero"`
}

// Reached is a limit that ended a run. The zero value is none.
type Reached struct {
	Limit string  `json:"limit,omitzero"` // as in [session.RunEnded]
	Spent float64 `json:"spent,omitzero"` // dollars, tokens, turns or seconds
	Max   float64 `json:"max,omitzero"`
}

// Rule is a permission rule in force.
type Rule struct {
	Action  permission.Action `json:"action"`
	Scope   permission.Scope  `json:"scope"`            // its origin: the session, the person's configuration or that of the project
	Text    string            `json:"text"`             // as lists and flags have it: shell(git push *)
	Words   string            `json:"words"`            // the calls that it matches, and how long it applies
	Granted bool              `json:"granted,omitzero"` // a person added it by answering a question of this session
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

// speakerKey is the key of the speaker in a context.
type speakerKey struct{}

// WithSpeaker returns a context for the requests of a frontend that shares a [Local] with others, such as a client of a server: its prompts,
// answers and aborts name the speaker.
func WithSpeaker(ctx context.Context, by session.Speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, by)
}
