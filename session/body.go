package session

import (
	"encoding/json"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/internal/place"
	"github.com/tenon-agent/tenon/session/live"
)

// Body is the content of an [Event]: one of the types of this package, or of package live for a transient event. Types of other packages
// cannot be bodies.
type Body interface {
	// Kind returns the name of the type in snake case.
	Kind() string

	// Place says where events of the type belong. See [Event.OnBranch] and [Event.Transient].
	Place() place.Place
}

// ---- Entries on a branch.

// Created is the first entry of every session. It is the root of the tree; in a fork it continues from Created.From.
type Created struct {
	Dir      string `json:"dir,omitzero"`      // working directory, absolute
	Version  string `json:"version,omitzero"`  // of the program that created it
	From     Origin `json:"from,omitzero"`     // its origin, if it was forked or spawned
	Fork     bool   `json:"fork,omitzero"`     // its branch continues from there and inherits the earlier entries
	Imported Import `json:"imported,omitzero"` // its source, if it was imported
	Host     string `json:"host,omitzero"`     // machine that Dir is on
	Parent   Origin `json:"parent,omitzero"`   // the run that spawned it; From names its session too
}

// Import is the session of another program, or of another store, from which a session was imported.
type Import struct {
	Program string    `json:"program"`          // "tenon", "claude", "codex", "opencode", "crush", "pi"
	ID      string    `json:"id"`               // of the session there
	File    string    `json:"file,omitzero"`    // the imported file
	Size    int64     `json:"size,omitzero"`    // size of the source, in bytes or rows: a larger source has grown
	Updated time.Time `json:"updated,omitzero"` // last change of the source
	At      time.Time `json:"at,omitzero"`      // time of the import
}

// Origin is another session, and an entry or a run of it.
type Origin struct {
	Session SessionID `json:"session,omitzero"`
	Run     RunID     `json:"run,omitzero"`
	Entry   ID        `json:"entry,omitzero"`
}

// Message is a whole message: of a person, of the model, or the result of a call.
type Message struct {
	llm.Message
	Speaker   Speaker         `json:"speaker,omitzero"`    // its author; required in the role of the user
	Source    Source          `json:"source,omitzero"`     // of a user message: how it entered
	Draft     ID              `json:"draft,omitzero"`      // its draft, which ends with this entry
	Outcome   Outcome         `json:"outcome,omitzero"`    // of a tool result
	Failed    bool            `json:"failed,omitzero"`     // of a tool result, for people: the tool ran, and its work failed
	Brief     string          `json:"brief,omitzero"`      // of a tool result, for people: one line
	Diffs     []FileDiff      `json:"diffs,omitzero"`      // of a tool result, for people: the files that the call changed
	Details   json.RawMessage `json:"details,omitzero"`    // of a tool result: facts for programs, never for the model
	ChangedBy []Speaker       `json:"changed_by,omitzero"` // of a tool result: the hooks that changed it, in order
}

// Speaker is the author of a message. Only a person has a person's authority: the context window marks the messages of all others.
type Speaker struct {
	Kind SpeakerKind `json:"kind"`
	Name string      `json:"name,omitzero"` // frontend of a person, provider/model, tool, job ID, hook, session of an agent
}

// SpeakerKind is the kind of a [Speaker].
type SpeakerKind string

// The kinds of speakers.
const (
	SpeakerPerson SpeakerKind = "person"
	SpeakerModel  SpeakerKind = "model"
	SpeakerTool   SpeakerKind = "tool"
	SpeakerJob    SpeakerKind = "job"   // a background job
	SpeakerHook   SpeakerKind = "hook"  // a program that extends the loop
	SpeakerAgent  SpeakerKind = "agent" // another agent
	SpeakerTenon  SpeakerKind = "tenon" // the loop itself
)

// Source is the way in which a user message entered the conversation.
type Source string

// The sources.
const (
	FromInput    Source = ""          // input of the run
	FromSteering Source = "steering"  // entered a run between two tool executions
	FromFollowUp Source = "follow_up" // entered when the run would have ended
	FromNews     Source = "news"      // entered with the next turn; it never starts a turn
	FromLoop     Source = "loop"      // written by the loop itself, such as the request to continue after the length limit
	FromRevert   Source = "revert"    // the lesson of a [Revert]
	FromHook     Source = "hook"      // added by a hook to a message, or to continue a run
)

// Partial is the part of an unfinished answer since the previous Partial. A later assistant Message or [Discarded] on the branch voids it.
type Partial struct {
	Content llm.Content `json:"content"` // texts and thinking, but no incomplete calls
}

// Discarded voids the partial answer before it, because the answer starts again.
type Discarded struct {
	Cause *llm.Error `json:"cause,omitzero"`
}

// Decision is the verdict about one call before it runs, or a change of its arguments.
type Decision struct {
	Call      string  `json:"call"`               // ToolCall.ID
	Verdict   string  `json:"verdict"`            // "allow", "deny" or, of a hook, "change"
	By        string  `json:"by,omitzero"`        // the rule, the person or the hook that decided
	Speaker   Speaker `json:"speaker,omitzero"`   // the hook that decided; empty: the gate
	Code      string  `json:"code,omitzero"`      // the reason, stable: "permission.outside_read"
	Reason    string  `json:"reason,omitzero"`    // in words; the model sees the reason of a denial
	Arguments string  `json:"arguments,omitzero"` // JSON, if the decision changed them
	As        string  `json:"as,omitzero"`        // of a denied call, as in [CallStarted]
	Title     string  `json:"title,omitzero"`     // of a denied call, as in [CallStarted]
	Remedy    Remedy  `json:"remedy,omitzero"`    // of a denied call, for people
}

// Remedy is what a person can do so that a denied call is allowed. Each field is enough; both are empty if nothing is.
type Remedy struct {
	Mode  string `json:"mode,omitzero"`  // the narrowest mode that allows the call
	Flags string `json:"flags,omitzero"` // flags of the program, as words for a shell
}

// CallStarted begins a call. It is durable before the tool has any effect.
type CallStarted struct {
	Call      string          `json:"call"` // ToolCall.ID
	Tool      string          `json:"tool"`
	As        string          `json:"as,omitzero"`         // the name in rules and on screen, unless it is Tool
	Title     string          `json:"title,omitzero"`      // one line for people
	Arguments json.RawMessage `json:"arguments"`           // after validation
	ChangedBy []Speaker       `json:"changed_by,omitzero"` // who changed the arguments that the model wrote, in order
	Effects   json.RawMessage `json:"effects,omitzero"`    // tool.Effects
	Again     bool            `json:"idempotent,omitzero"` // it may run again after a crash
}

// RunStarted begins a run of the loop.
type RunStarted struct {
	Run       RunID        `json:"run"`
	ParentRun RunID        `json:"parent_run,omitzero"` // the run that it continues, or that spawned it
	Continues Continues    `json:"continues,omitzero"`
	Tag       string       `json:"tag,omitzero"` // label of a rerun or branch
	Trigger   live.Trigger `json:"trigger"`      // of its first turn
	Config    Config       `json:"config"`       // settings of the run
}

// Continues is the relation of a run to the earlier entries.
type Continues string

// The kinds of continuation.
const (
	ContinuesNothing Continues = ""        // new input
	ContinuesDefault Continues = "default" // continues from the end of the branch
	ContinuesRerun   Continues = "rerun"   // answers the same input again
	ContinuesBranch  Continues = "branch"  // starts another branch at an earlier entry
)

// Config is a snapshot of the settings of a run.
type Config struct {
	Model     llm.Model  `json:"model"`
	Role      string     `json:"role,omitzero"`
	Tools     []string   `json:"tools,omitzero"`
	Thinking  llm.Thinks `json:"thinking,omitzero"`
	MaxTurns  int        `json:"max_turns,omitzero"`
	MaxTokens int64      `json:"max_tokens,omitzero"`
	MaxTime   Duration   `json:"max_time,omitzero"`
	MaxCost   float64    `json:"max_cost,omitzero"` // US dollars
	Execution string     `json:"execution,omitzero"`
}

// Duration is a time.Duration that JSON shows as "1m30s".
type Duration time.Duration

// RunEnded ends a run. Every [RunStarted] has one.
type RunEnded struct {
	Reason  Reason     `json:"reason"`
	Message string     `json:"message,omitzero"` // for people; for every reason but done
	Limit   string     `json:"limit,omitzero"`   // the limit: "turns", "tokens", "time", "cost", "session_cost", "day_cost", "budget", "hooks", "repetition"
	Spent   float64    `json:"spent,omitzero"`   // of the limit: dollars, tokens, turns or seconds
	Max     float64    `json:"max,omitzero"`     // the limit itself, in the same unit
	By      Speaker    `json:"by,omitzero"`      // the hook that refused the run
	Error   *llm.Error `json:"error,omitzero"`   // of the model, if that is the reason
	Turns   int        `json:"turns"`
	Usage   llm.Usage  `json:"usage,omitzero"` // of its answers, its failed requests and the summaries that took effect in it
	Elapsed Duration   `json:"elapsed,omitzero"`
}

// Reason is the reason for the end of a run.
type Reason string

// The reasons.
const (
	ReasonDone        Reason = "done"
	ReasonLength      Reason = "length"      // the output limit cut the answer
	ReasonLimit       Reason = "limit"       // the run reached a limit
	ReasonRefused     Reason = "refused"     // by the model or a hook
	ReasonDenied      Reason = "denied"      // too many consecutive calls were denied
	ReasonError       Reason = "error"       // the model, the arguments of tools or the store failed
	ReasonCancelled   Reason = "cancelled"   // the caller cancelled it
	ReasonInterrupted Reason = "interrupted" // the process died; the next process writes this
)

// Epoch starts a stretch of requests with another prefix. Until the next Epoch, each request extends the previous one.
type Epoch struct {
	Reason   string     `json:"reason"` // "start", "model", "tools", "system", "thinking", "trim", "compaction", "cleanup", "revert", ...
	Model    llm.Model  `json:"model"`
	System   string     `json:"system,omitzero"`
	Tools    []llm.Tool `json:"tools,omitzero"`
	Thinking llm.Thinks `json:"thinking,omitzero"`
	Before   int64      `json:"before,omitzero"` // estimated tokens of the request without the epoch
	Tokens   int64      `json:"tokens,omitzero"` // estimated tokens of its first request, which the provider reads without its cache
	Limit    int64      `json:"limit,omitzero"`  // estimated tokens that the model accepts, after it refused more
}

// Requested is the hashes of the segments of a request, in the order in which a provider caches them. A chain of them
// proves that requests of an epoch go on from each other.
type Requested struct {
	Model    string    `json:"model,omitzero"`    // "provider/model" that is asked
	Segments int       `json:"segments"`          // the system prompt, each tool, each message
	Same     int       `json:"same"`              // segments at its beginning that equal those of the previous request
	Hashes   []string  `json:"hashes,omitzero"`   // of the segments after these; in a new epoch of all segments
	Chain    string    `json:"chain"`             // hash of all segments
	Estimate int64     `json:"estimate,omitzero"` // estimated tokens of the request
	Counted  int64     `json:"counted,omitzero"`  // tokens by the local count alone, in the first request of an epoch
	Scale    float64   `json:"scale,omitzero"`    // tokens of the provider per token of the local count, if known
	Used     llm.Usage `json:"used,omitzero"`     // by the run before this request
	Elapsed  Duration  `json:"elapsed,omitzero"`  // since the start of the run
	Broken   string    `json:"broken,omitzero"`   // within an epoch: the first segment of the previous request that changed. A defect.
}

// Context is information about the workspace for the model: context files such as AGENTS.md, skills, facts of the environment. The newest
// block of each name is valid. A summary repeats valid blocks verbatim.
type Context struct {
	Whole  bool           `json:"whole,omitzero"` // earlier blocks are void
	Blocks []ContextBlock `json:"blocks"`
}

// ContextBlock is one part of a [Context].
type ContextBlock struct {
	Name string `json:"name"`          // the path of a file, or "environment", "skills", ...
	Text string `json:"text,omitzero"` // empty: the block is no longer valid
	Cut  int64  `json:"cut,omitzero"`  // omitted bytes
}

// Summarized replaces, in views, the entries of its branch up to Through. The journal keeps them.
type Summarized struct {
	Through  ID         `json:"through"`           // the last entry that the summary replaces
	Reason   string     `json:"reason"`            // "full", "overflow", "asked"
	Focus    string     `json:"focus,omitzero"`    // the most important subject, if a person named one
	Summary  string     `json:"summary"`           // the text that the model sees
	By       string     `json:"by,omitzero"`       // "provider/model" that wrote it; empty: made without a model
	Verbatim []Verbatim `json:"verbatim,omitzero"` // messages that stay verbatim, oldest first
	Omitted  []Verbatim `json:"omitted,omitzero"`  // pinned messages without space in the context window, oldest first; a later summary may show them
	Files    []string   `json:"files,omitzero"`    // files in work, the newest last

	Context []ContextBlock `json:"context,omitzero"` // valid context, repeated verbatim
	Todo    []TodoItem     `json:"todo,omitzero"`    // the list of tasks at that time
	Before  int64          `json:"before,omitzero"`  // estimated tokens of the request before
	After   int64          `json:"after,omitzero"`   // and with the summary
	Usage   llm.Usage      `json:"usage,omitzero"`   // of the request that wrote it
	Parts   llm.Usage      `json:"parts,omitzero"`   // of the requests before that one, each of which has a [Note]
}

// Verbatim is a message that a [Summarized] keeps verbatim.
type Verbatim struct {
	Entry   ID          `json:"entry"`
	Message llm.Message `json:"message"`
	Pinned  bool        `json:"pinned,omitzero"`
}

// Trimmed replaces, in views, the contents of messages, from then on always with the same bytes. An [Epoch] accompanies it.
type Trimmed struct {
	Messages []Trim `json:"messages"`
}

// Trim is the shorter text of one message.
type Trim struct {
	Entry  ID     `json:"entry"`
	Reason string `json:"reason"` // "superseded", "stale", "repeated", "failed", "cleanup", "long"
	Text   string `json:"text"`   // replaces the whole content of the message
}

// Cleanup is a request of the model to drop a result from its context window. It takes effect with the next [Epoch].
type Cleanup struct {
	Call    string `json:"call"`           // ToolCall.ID
	Entry   ID     `json:"entry,omitzero"` // the result; empty: the newest one of the call that the model has seen
	Reason  string `json:"reason"`
	Summary string `json:"summary,omitzero"` // the facts to remember
}

// Revert is a request of the model to continue from an earlier entry, with a lesson from the abandoned part. Before the next request, Tenon
// appends a [Head], a message and an [Epoch].
type Revert struct {
	To       ID     `json:"to"`       // the last entry that stays
	Category string `json:"category"` // "failure", "tangent", "completion", "step"
	Lesson   string `json:"lesson"`
}

// ModelChanged reports that another model answers from now on.
type ModelChanged struct {
	Model  llm.Model `json:"model"`
	Reason string    `json:"reason,omitzero"`
}

// Head continues the branch from another entry, which is its Parent. The journal keeps the entries in between.
type Head struct {
	To     ID     `json:"to"`
	Reason string `json:"reason,omitzero"` // "rerun", "branch", "rewind", ...
}

// Rejected is a message that a hook rejected.
type Rejected struct {
	Message llm.Message `json:"message"`
	Draft   ID          `json:"draft,omitzero"`
	Reason  string      `json:"reason"`
	By      Speaker     `json:"by,omitzero"`
}

// Todo is the complete todo list.
type Todo struct {
	Items []TodoItem `json:"items"`
}

// TodoItem is one line of a [Todo].
type TodoItem struct {
	Text   string `json:"text"`
	Status string `json:"status"` // "pending", "in_progress", "completed"
}

// ---- Entries aside of every branch: any process may append them, see Log.Annotate.

// Title names the session for people. The last one is valid.
type Title struct {
	Title string    `json:"title"`
	By    string    `json:"by,omitzero"`    // "provider/model" that wrote it; empty: a person
	Usage llm.Usage `json:"usage,omitzero"` // of writing it
}

// Tags are words by which people find the session. The last entry is valid.
type Tags struct {
	Tags []string `json:"tags,omitzero"` // sorted
}

// Pin keeps a message verbatim in the context window, until a Pin with Removed.
type Pin struct {
	Entry   ID   `json:"entry"`
	Removed bool `json:"removed,omitzero"`
}

// Deleted moves the session to the trash, or back. Lists do not show a session in the trash; its entries stay until it is purged.
type Deleted struct {
	Restored bool `json:"restored,omitzero"`
}

// Note is a remark of a person or a program, such as the cost of a discarded summary.
type Note struct {
	Text  string    `json:"text"`
	By    string    `json:"by,omitzero"`    // "provider/model" that answered
	Usage llm.Usage `json:"usage,omitzero"` // of that answer
}

// FilesChanged records file changes: of a tool before it changes the files, of a command or a person after Tenon finds them. It is aside of
// branches because the disk has no branches: a rewind of the conversation does not change files.
type FilesChanged struct {
	Call  string       `json:"call,omitzero"` // the call that changes them
	Cause Cause        `json:"cause"`
	To    ID           `json:"to,omitzero"` // of an undo: the entry whose files it brings back; of a redo: the undo that it reverts
	Files []FileChange `json:"files"`
	More  int          `json:"more,omitzero"` // number of further files, if there are too many

	// Found reports that the process died during the command, and that the next process found the changes.
	Found bool   `json:"found,omitzero"`
	Note  string `json:"note,omitzero"` // why the list is incomplete
}

// Cause is the cause of a file change.
type Cause string

// The causes.
const (
	ByTool    Cause = "tool"
	ByCommand Cause = "command"
	ByUndo    Cause = "undo"
	ByRedo    Cause = "redo"
)

// FileChange is one file before and after.
type FileChange struct {
	Path   string     `json:"path"`            // absolute; quoted like a Go string if it is not UTF-8
	Before *FileState `json:"before,omitzero"` // nil: the file did not exist
	After  *FileState `json:"after,omitzero"`  // nil: the file does not exist
	Unsure string     `json:"unsure,omitzero"` // why another session, person or program may have changed it; empty: this one did
}

// FileState is the state of a file. The checkpoints have its content under its hash.
type FileState struct {
	Hash string `json:"hash,omitzero"` // SHA-256 of the content, in hexadecimal; empty if unknown
	Size int64  `json:"size"`          // bytes
	Mode uint32 `json:"mode"`          // fs.FileMode
	Link string `json:"link,omitzero"` // target of a link; quoted if it is not UTF-8 or begins with a quote
	Lost string `json:"lost,omitzero"` // why Tenon did not save the content, such as "larger than 16 MB"
}

// ---- Entries aside of every branch: requests of any process to the agent, and its questions. [Requests] folds them.

// Queued changes the queue of drafts.
type Queued struct {
	Draft   ID          `json:"draft"`
	Change  string      `json:"change"`           // "added", "edited", "moved", "removed"; "taken": only by the agent, when the draft enters
	Lane    Source      `json:"lane,omitzero"`    // FromSteering, FromFollowUp or FromNews
	Before  ID          `json:"before,omitzero"`  // of added and moved: the next draft; empty: the end of the queue
	Message llm.Message `json:"message,omitzero"` // of added and edited
	Speaker Speaker     `json:"speaker,omitzero"` // of added and edited: the author; else the sender
}

// Asking is a question of the agent: to allow calls, or to answer questions of a tool. An [Asked] with its ID ends it.
type Asking struct {
	ID        string         `json:"id"`
	Call      string         `json:"call,omitzero"`      // ToolCall.ID of the tool that asks
	Calls     []ask.Call     `json:"calls,omitzero"`     // that wait for approval
	Questions []ask.Question `json:"questions,omitzero"` // of a tool
	Until     time.Time      `json:"until,omitzero"`     // time after which the calls count as denied
}

// Answered answers an [Asking]. The first one that fits the question counts.
type Answered struct {
	ID      string       `json:"id"`      // Asking.ID
	Answers []ask.Answer `json:"answers"` // one for each call or question, in their order
	By      Speaker      `json:"by,omitzero"`
}

// Asked ends an [Asking].
type Asked struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitzero"` // "answered", "timeout", "withdrawn"
}

// Abort asks the agent to cancel a run.
type Abort struct {
	Run RunID   `json:"run,omitzero"` // empty: the current run
	By  Speaker `json:"by,omitzero"`
}

// Change asks the agent to change settings from its next turn on. Empty fields change nothing.
type Change struct {
	Model    string     `json:"model,omitzero"` // a model reference
	Mode     string     `json:"mode,omitzero"`  // of the permissions
	Role     string     `json:"role,omitzero"`
	Network  string     `json:"network,omitzero"` // hosts that commands may reach, separated by commas; "*": all; "none": none
	Thinking llm.Thinks `json:"thinking,omitzero"`
	Server   string     `json:"server,omitzero"` // an MCP server to switch on in this process, or with a leading "-" to switch off
	Goal     *Goal      `json:"goal,omitzero"`   // with its words, checks and limits; the state dropped without words drops the present one

	Cost        float64 `json:"cost,omitzero"`         // limit of each run in US dollars; negative: none
	SessionCost float64 `json:"session_cost,omitzero"` // limit of the session in US dollars; negative: none

	By Speaker `json:"by,omitzero"`
}

// Changed is the outcome of a [Change].
type Changed struct {
	Request ID     `json:"request"`        // the entry of the Change
	Error   string `json:"error,omitzero"` // why nothing changed
	Code    string `json:"code,omitzero"`  // of the error, if it has one: "agent.unchangeable"
}

// LimitsChanged sets limits of the session and of its runs from now on, also after it is resumed. A field of 0 does not change; a negative one
// is no limit.
type LimitsChanged struct {
	Turns       int     `json:"turns,omitzero"`        // of each run
	Tokens      int64   `json:"tokens,omitzero"`       // of each run
	Cost        float64 `json:"cost,omitzero"`         // US dollars of each run
	SessionCost float64 `json:"session_cost,omitzero"` // US dollars of the session
	Soft        float64 `json:"soft,omitzero"`         // share of a limit from which on the run asks
}

// Opaque is an entry of a kind that this version does not know. Stores keep its bytes, and views skip it.
type Opaque struct {
	Name string          // its kind
	JSON json.RawMessage // its body
}
