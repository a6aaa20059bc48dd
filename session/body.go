package session

import (
	"encoding/json"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Body is what an [Event] tells: one of the types on this page, which lists everything that can happen. The value of Kind
// is the type's name in snake case.
type Body interface{ Kind() string }

// ---- Entries on a branch.

// Created is the first entry of every session. It is the root of its tree, or in a fork goes on from Created.From.
type Created struct {
	Dir      string `json:"dir,omitzero"`      // working directory, absolute
	Version  string `json:"version,omitzero"`  // of the program that created it
	From     Origin `json:"from,omitzero"`     // where it comes from, when it was forked or spawned
	Fork     bool   `json:"fork,omitzero"`     // its branch goes on from there: all that came before is inherited, nothing is copied
	Imported Import `json:"imported,omitzero"` // where it comes from, when it was written elsewhere
}

// Import is the session of another program, or of another store, that a session was made of. As an entry, which hangs on no branch,
// it stands behind what was taken from there: what comes after it was not.
type Import struct {
	Program string    `json:"program"`          // "tenon", "claude", "codex", "opencode", "crush", "pi"
	ID      string    `json:"id"`               // of the session there
	File    string    `json:"file,omitzero"`    // that it was read from
	Size    int64     `json:"size,omitzero"`    // what was read, in bytes or rows: a source that has more by now has grown
	Updated time.Time `json:"updated,omitzero"` // when the source had changed last
	Title   string    `json:"title,omitzero"`   // of the session there; not in Created
	At      time.Time `json:"at,omitzero"`      // when the session was made of it; in Created alone
}

// Origin is a place in another session.
type Origin struct {
	Session SessionID `json:"session,omitzero"`
	Entry   ID        `json:"entry,omitzero"`
}

// Message is a whole message: of a person, of the model, or the result of a call.
type Message struct {
	llm.Message
	Source  Source          `json:"source,omitzero"`  // how a user message came in
	Draft   ID              `json:"draft,omitzero"`   // the queued draft that it was; taking it ends the draft
	Outcome Outcome         `json:"outcome,omitzero"` // of a tool result
	Details json.RawMessage `json:"details,omitzero"` // of a tool result: facts for people and programs, never for the model
}

// Outcome says what became of a call. Every call gets exactly one result, also the call that never ran.
type Outcome string

// The outcomes.
const (
	OutcomeOK          Outcome = ""            // it ran and did what it was to do
	OutcomeFailed      Outcome = "failed"      // it ran, or could not run, and failed
	OutcomeInvalid     Outcome = "invalid"     // its arguments could not be used; it did not run
	OutcomeDenied      Outcome = "denied"      // it was not allowed; it did not run
	OutcomeSkipped     Outcome = "skipped"     // something else came first; it did not run
	OutcomeCancelled   Outcome = "cancelled"   // it was stopped while it ran, or before
	OutcomeNotStarted  Outcome = "not_started" // the process ended before it began
	OutcomeInterrupted Outcome = "interrupted" // the process ended while it ran; it only looked, and may be run again
	OutcomeUnknown     Outcome = "unknown"     // it was under way when it was lost: nobody knows what it did
)

// Source says how a user message came into the conversation.
type Source string

// The sources.
const (
	FromInput    Source = ""          // input of the run
	FromSteering Source = "steering"  // entered a run between two tool executions
	FromFollowUp Source = "follow_up" // entered when the run would have ended
	FromLoop     Source = "loop"      // written by the loop itself, such as the request to go on after the length limit
	FromRevert   Source = "revert"    // the lesson of a [Revert]
)

// Partial is what came of an unfinished answer since the Partial before it. It is void as soon as an assistant Message
// stands after it on the branch, or a [Discarded].
type Partial struct {
	Content llm.Content `json:"content"` // texts and thinking; calls are not kept before they are complete
}

// Discarded says that the partial answer before it is void, because it begins anew.
type Discarded struct {
	Cause *llm.Error `json:"cause,omitzero"`
}

// Decision is the verdict about one call before it runs.
type Decision struct {
	Call      string `json:"call"`               // ToolCall.ID
	Verdict   string `json:"verdict"`            // "allow" or "deny"
	By        string `json:"by,omitzero"`        // the rule or the person that decided
	Reason    string `json:"reason,omitzero"`    // in words, for the model when it is a denial
	Arguments string `json:"arguments,omitzero"` // JSON, when they were changed before the call was allowed
}

// CallStarted is durable before a tool touches anything.
type CallStarted struct {
	Call      string          `json:"call"` // ToolCall.ID
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`           // as they were run, after validation
	Effects   json.RawMessage `json:"effects,omitzero"`    // tool.Effects
	Again     bool            `json:"idempotent,omitzero"` // it may be run again after a crash
}

// RunStarted begins a run of the loop.
type RunStarted struct {
	Run       RunID     `json:"run"`
	ParentRun RunID     `json:"parent_run,omitzero"` // the run that it continues, or that spawned it
	Continues Continues `json:"continues,omitzero"`
	Tag       string    `json:"tag,omitzero"` // label of a rerun or branch
	Trigger   Trigger   `json:"trigger"`      // of its first turn
	Config    Config    `json:"config"`       // what the run was made of
}

// Continues says how a run relates to what stands before it.
type Continues string

// The kinds of continuation. A run with new input is none of them.
const (
	ContinuesNothing Continues = ""        // new input
	ContinuesDefault Continues = "default" // goes on where the branch stands
	ContinuesRerun   Continues = "rerun"   // answers the same input again
	ContinuesBranch  Continues = "branch"  // goes another way from an earlier entry
)

// Trigger says what made a turn begin.
type Trigger string

// The triggers.
const (
	TriggerUser         Trigger = "user"
	TriggerSubAgent     Trigger = "sub_agent"
	TriggerContinuation Trigger = "continuation"
	TriggerBranch       Trigger = "branch"
)

// Config is a snapshot of what a run was made of.
type Config struct {
	Model     llm.Model  `json:"model"`
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

// RunEnded ends a run. There is one for every [RunStarted].
type RunEnded struct {
	Reason  Reason     `json:"reason"`
	Message string     `json:"message,omitzero"` // what people should know, for every reason but done
	Limit   string     `json:"limit,omitzero"`   // which limit: "turns", "tokens", "time", "cost", "session_cost", "day_cost"
	Error   *llm.Error `json:"error,omitzero"`   // of the model, when that is the reason
	Turns   int        `json:"turns"`
	Usage   llm.Usage  `json:"usage,omitzero"` // of this run: its answers, and the summaries that took effect in it
	Elapsed Duration   `json:"elapsed,omitzero"`
}

// Reason says why a run ended.
type Reason string

// The reasons.
const (
	ReasonDone        Reason = "done"
	ReasonLength      Reason = "length"      // the answer stayed cut at the output limit
	ReasonLimit       Reason = "limit"       // a limit of the run was reached
	ReasonRefused     Reason = "refused"     // by the model, an input filter or a hook
	ReasonDenied      Reason = "denied"      // too many calls in a row were denied
	ReasonError       Reason = "error"       // the model, the tools' arguments or the store failed
	ReasonCancelled   Reason = "cancelled"   // the caller left
	ReasonInterrupted Reason = "interrupted" // the process died; written by the next one
)

// Epoch says that earlier bytes of the window change: from here on requests begin with these, and until the next epoch each
// goes on from the one before.
type Epoch struct {
	Reason   string     `json:"reason"` // "start", "model", "tools", "system", "thinking", "reduction", "compaction", "cleanup", "revert", ...
	Model    llm.Model  `json:"model"`
	System   string     `json:"system,omitzero"`
	Tools    []llm.Tool `json:"tools,omitzero"`
	Thinking llm.Thinks `json:"thinking,omitzero"`
	Before   int64      `json:"before,omitzero"` // estimated tokens of the request as it would have been without the epoch
	Tokens   int64      `json:"tokens,omitzero"` // estimated tokens of its first request: what the provider must read anew
	Limit    int64      `json:"limit,omitzero"`  // estimated tokens that the model takes at most, since it has refused more
}

// Requested is what a request was made of: the hashes of its segments, in the order in which a provider caches them. A chain of
// them proves that requests of an epoch go on from each other.
type Requested struct {
	Model    string    `json:"model,omitzero"`    // "provider/model" that is asked
	Segments int       `json:"segments"`          // the system prompt, each tool, each message
	Same     int       `json:"same"`              // segments at its beginning that are those of the request before
	Hashes   []string  `json:"hashes,omitzero"`   // of the last segments: those after these, or all of them in a new epoch
	Chain    string    `json:"chain"`             // hash of all segments
	Estimate int64     `json:"estimate,omitzero"` // tokens of the whole, as the window saw it
	Counted  int64     `json:"counted,omitzero"`  // tokens of the whole by the local count alone, in the first request of an epoch
	Scale    float64   `json:"scale,omitzero"`    // tokens of the provider for one of the local count, as far as was known
	Used     llm.Usage `json:"used,omitzero"`     // by the run before this request
	Elapsed  Duration  `json:"elapsed,omitzero"`  // since the run began
	Broken   string    `json:"broken,omitzero"`   // within an epoch: which segment of the request before is not there any more. A defect.
}

// Context is what the model is told of the place where it works: context files such as AGENTS.md, skills, facts of the environment.
// The newest of each name holds. A compaction sends them again word for word.
type Context struct {
	Whole  bool           `json:"whole,omitzero"` // these are all there are: what was told before is void
	Blocks []ContextBlock `json:"blocks"`
}

// ContextBlock is one part of a [Context].
type ContextBlock struct {
	Name string `json:"name"`          // of a file its path; or "environment", "skills", ...
	Text string `json:"text,omitzero"` // as it is told; empty: it is gone
	Cut  int64  `json:"cut,omitzero"`  // bytes that were left out
}

// Digest stands in views for everything on its branch up to Through. All of it stays in the journal.
type Digest struct {
	Through ID       `json:"through"`        // the last entry that it stands for
	Reason  string   `json:"reason"`         // "full", "overflow", "asked"
	Focus   string   `json:"focus,omitzero"` // what was to be kept above all, when somebody said so
	Summary string   `json:"summary"`        // what the model is told instead
	By      string   `json:"by,omitzero"`    // "provider/model" that wrote it; empty: it was made without one
	Kept    []Kept   `json:"kept,omitzero"`  // messages that stay word for word, oldest first
	Files   []string `json:"files,omitzero"` // that were in work, the newest last

	Context []ContextBlock `json:"context,omitzero"` // what holds of the place, told again word for word
	Todo    []TodoItem     `json:"todo,omitzero"`    // what is to be done, as of then
	Before  int64          `json:"before,omitzero"`  // estimated tokens of the request before
	After   int64          `json:"after,omitzero"`   // and with the digest
	Usage   llm.Usage      `json:"usage,omitzero"`   // what it cost to write
}

// Kept is a message that a [Digest] keeps word for word.
type Kept struct {
	Entry   ID          `json:"entry"`
	Message llm.Message `json:"message"`
	Pinned  bool        `json:"pinned,omitzero"`
}

// Reduced stands in views for the contents of messages, for ever with the same bytes. It comes with an [Epoch].
type Reduced struct {
	Messages []Reduction `json:"messages"`
}

// Reduction is what a view has in place of the text of one message.
type Reduction struct {
	Entry  ID     `json:"entry"`
	Reason string `json:"reason"` // "superseded", "stale", "repeated", "failed", "cleanup", "long"
	Text   string `json:"text"`   // in place of all that the message had
}

// Cleanup is the wish of the model to have the result of a call out of its window. It holds from the next [Epoch] on.
type Cleanup struct {
	Call    string `json:"call"`           // ToolCall.ID
	Entry   ID     `json:"entry,omitzero"` // the result; empty: the newest one of the call that the model has seen
	Reason  string `json:"reason"`
	Summary string `json:"summary,omitzero"` // what of it is worth knowing
}

// Revert is the wish of the model to go on from an earlier state, with a lesson of what it leaves. The next request fulfils it with a
// [Head], a message and an [Epoch].
type Revert struct {
	To       ID     `json:"to"`       // the last entry that stays
	Category string `json:"category"` // "failure", "tangent", "completion", "step"
	Lesson   string `json:"lesson"`
}

// ModelChanged says that from here on another model answers.
type ModelChanged struct {
	Model  llm.Model `json:"model"`
	Reason string    `json:"reason,omitzero"`
}

// Head says that the branch goes on from another entry, which is its Parent. What stood between stays in the journal.
type Head struct {
	To     ID     `json:"to"`
	Reason string `json:"reason,omitzero"` // "rerun", "branch", "rewind", ...
}

// Rejected says that an input filter turned a message away.
type Rejected struct {
	Message llm.Message `json:"message"`
	Draft   ID          `json:"draft,omitzero"`
	Reason  string      `json:"reason"`
}

// Todo is the whole list of what is to be done.
type Todo struct {
	Items []TodoItem `json:"items"`
}

// TodoItem is one line of a [Todo].
type TodoItem struct {
	Text   string `json:"text"`
	Status string `json:"status"` // "pending", "in_progress", "completed"
}

// ---- Entries that hang on no branch: any process may append them, see Store.Annotate.

// Title names the session for people. The last one stands.
type Title struct {
	Title string    `json:"title"`
	By    string    `json:"by,omitzero"`    // "provider/model" that wrote it; empty: a person
	Usage llm.Usage `json:"usage,omitzero"` // what that cost
}

// Tags are the words under which people find the session. The last one stands.
type Tags struct {
	Tags []string `json:"tags,omitzero"` // sorted
}

// Pin keeps a message in the window word for word, whatever is compacted, until it is removed.
type Pin struct {
	Entry   ID   `json:"entry"`
	Removed bool `json:"removed,omitzero"`
}

// Deleted says that a person deleted the session, or brought it back. A deleted session is in no list; its entries stay until it is purged.
type Deleted struct {
	Restored bool `json:"restored,omitzero"`
}

// Note is a remark of a person or a program, such as that a summary was made in vain, and what that cost.
type Note struct {
	Text  string    `json:"text"`
	By    string    `json:"by,omitzero"`    // "provider/model" that was asked
	Usage llm.Usage `json:"usage,omitzero"` // and what that cost
}

// FilesChanged says how files change: before a tool changes them, and for a command or a person's edit once it is known. It hangs on no
// branch because the disk has none: what was done stays done when the conversation goes another way.
type FilesChanged struct {
	Call  string       `json:"call,omitzero"` // of the call that changes them
	Cause Cause        `json:"cause"`
	To    ID           `json:"to,omitzero"` // of an undo: the entry whose files it brings back; of a redo: the undo that it reverts
	Files []FileChange `json:"files"`
	More  int          `json:"more,omitzero"` // files that changed and are not in the list, because there are too many

	// Found says that the process had died under the command, and that this was found when somebody opened the session again.
	Found bool   `json:"found,omitzero"`
	Note  string `json:"note,omitzero"` // what could not be found, and why
}

// Cause says what changed files.
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
	Path   string     `json:"path"`            // absolute; quoted, as Go does it, when it is no UTF-8
	Before *FileState `json:"before,omitzero"` // nil: there was none
	After  *FileState `json:"after,omitzero"`  // nil: there is none
	Unsure string     `json:"unsure,omitzero"` // why it may be somebody else's doing; empty when it is not
}

// FileState is what a file was. Its content is kept beside the journal, under its hash.
type FileState struct {
	Hash string `json:"hash,omitzero"` // SHA-256 of the content, in hex; empty when it is not known
	Size int64  `json:"size"`          // bytes
	Mode uint32 `json:"mode"`          // fs.FileMode
	Link string `json:"link,omitzero"` // where it leads, when it is a link; quoted when it is no UTF-8, or begins with a quote
	Lost string `json:"lost,omitzero"` // why the content was not kept, such as "larger than 16 MB"
}

// Queued is a change of the queue of drafts: messages that wait for their turn.
type Queued struct {
	Draft   ID          `json:"draft"`
	Change  string      `json:"change"`           // "added", "edited", "removed", "taken"
	Lane    Source      `json:"lane,omitzero"`    // FromSteering or FromFollowUp
	Message llm.Message `json:"message,omitzero"` // of added and edited
}

// Opaque is an entry of a kind that this version does not know, kept byte for byte and skipped by every view.
type Opaque struct {
	Name string          // its kind
	JSON json.RawMessage // its body
}

// ---- Passing moments.

// TurnStarted begins a turn: one answer of the model and the calls in it.
type TurnStarted struct {
	Trigger Trigger `json:"trigger"`
}

// TurnEnded ends a turn. There is one for every [TurnStarted].
type TurnEnded struct {
	Usage llm.Usage `json:"usage,omitzero"` // of this turn
	Calls int       `json:"calls"`          // tool calls in its answer
}

// MessageStarted says that the model begins to answer. The answer's Message, or a [Reset] or the end of the turn, ends it.
type MessageStarted struct {
	Model string `json:"model"` // "provider/model"
}

// Delta is more of the answer that streams.
type Delta struct {
	Type DeltaType `json:"type"`
	Part int       `json:"part,omitzero"` // counts the parts of the answer from 0
	Text string    `json:"text"`
	Call string    `json:"call,omitzero"` // ToolCall.ID, in the first delta of a call
	Tool string    `json:"tool,omitzero"` // its name, in the same
}

// DeltaType says what a [Delta] adds to.
type DeltaType string

// The types of deltas.
const (
	DeltaText      DeltaType = "text"
	DeltaThinking  DeltaType = "thinking"
	DeltaArguments DeltaType = "arguments"
)

// CallReady says that a call of the streaming answer is complete.
type CallReady struct {
	Call llm.ToolCall `json:"call"`
}

// Progress is what a running tool tells people. Text adds to what it told before.
type Progress struct {
	Call string `json:"call"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// Waiting says that the model could not be reached and will be asked again after Delay.
type Waiting struct {
	Attempt int        `json:"attempt"` // the next one, from 1
	Of      int        `json:"of"`
	Delay   Duration   `json:"delay"`
	Cause   *llm.Error `json:"cause,omitzero"`
}

// Reset says that the deltas since the last [MessageStarted] are void: the answer begins anew.
type Reset struct {
	Cause *llm.Error `json:"cause,omitzero"`
}

// Routed says that another model or another key answers from here on.
type Routed struct {
	Model string     `json:"model"`        // "provider/model" that is asked now
	Key   string     `json:"key,omitzero"` // name of the key, never the key itself
	Cause *llm.Error `json:"cause,omitzero"`
}

// RateLimits is what a provider said of its limits beside an answer.
type RateLimits struct {
	llm.RateLimits
}

// Asking says that the run waits for a person: to allow calls, or to answer questions. An [Asked] with its ID ends it.
type Asking struct {
	ID        string     `json:"id"`
	Calls     []Pending  `json:"calls,omitzero"`     // that wait to be allowed
	Questions []Question `json:"questions,omitzero"` // of a tool
	Until     time.Time  `json:"until,omitzero"`     // when it is taken for denied
}

// Pending is a call that waits to be allowed.
type Pending struct {
	Call      string          `json:"call"` // ToolCall.ID
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Effects   json.RawMessage `json:"effects,omitzero"` // tool.Effects
	Reason    string          `json:"reason"`           // why it must be asked, in words
	Preview   string          `json:"preview,omitzero"` // what it would change, as a diff
	Grants    []Grant         `json:"grants,omitzero"`  // that would allow it and calls like it, from narrow to wide
}

// Grant is rules that a person may give, shown in words before they are given.
type Grant struct {
	Rules []string `json:"rules"` // as they would be written
	Words string   `json:"words"` // what they will cover
}

// Question is one question to a person.
type Question struct {
	Text     string   `json:"text"`
	Options  []Option `json:"options,omitzero"`
	Multiple bool     `json:"multiple,omitzero"` // several options may be chosen
	Default  string   `json:"default,omitzero"`  // the answer when nobody answers in time
}

// Option is an answer that a [Question] offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitzero"`
}

// Asked says that an [Asking] is over: it was answered, or nobody did in time.
type Asked struct {
	ID string `json:"id"`
}

// Compacting says that a digest is being written beside the run, or that this has ended.
type Compacting struct {
	Reason string `json:"reason"` // as in [Digest]
	Done   bool   `json:"done,omitzero"`
	Error  string `json:"error,omitzero"` // why there is none, or why the model that was asked did not write it
}

// Notice tells people something that changes nothing.
type Notice struct {
	Text string `json:"text"`
}
