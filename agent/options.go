package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// Options is what an agent is made of. Only Client is required.
type Options struct {
	Client llm.Client
	Tools  []tool.Tool
	Offer  func(tool string) Offer // when the model gets a tool; nil: always
	System string                  // system prompt; keep it the same for as long as possible, for the provider's cache

	// Dialect returns how a model knows all tools. The agent calls it when the model or the tools change. Nil: as their Spec describes them.
	Dialect func(model llm.Model, tools []llm.Tool) Dialect

	Window Window // makes requests from the journal; default window.Full
	Gate   Gate   // decides which calls may run; default ReadOnly
	Hooks  []Hook // called in order; default none
	Limits Limits // the zero value has limits too

	// Override has limits that win over Limits and over those that the session has changed, such as the flags of one process.
	Override Limits

	// Ask asks people when a run comes to its soft limits, such as with [Agent.Ask]: one answer, of Choices. The run waits for it, and goes on
	// if there is an error. Nil: the run does not ask, and goes on to its limits.
	Ask func(ctx context.Context, q session.Asking) ([]ask.Answer, error)

	// Budget is the budget from which the session draws next to its own Limits: for a sub-agent, that of the run that spawned it, see
	// [budget.Of]. Nil: none.
	Budget *budget.Budget

	Day *Day // shared by the agents of a store in this process, for Limits.DayCost; nil: the agent has its own

	Execution Execution // how the calls of one answer are run; default Parallel
	Steering  Delivery  // how many steering messages enter at a time; default OneAtATime
	FollowUps Delivery  // how many follow-ups enter at a time; default OneAtATime

	llm.Settings // of every request; the Schema is that of the last answer of a run

	ToolTimeout time.Duration // longest time of one call; 0: none but that of the run
	ToolGrace   time.Duration // how long a cancelled call may take to return before it is left behind; default 5 s
	MaxResult   int           // bytes of text that one result may have for the model, where the window has room; default 64 KiB

	// Keep keeps the whole text of a result that is cut for the model and says where the model can read it. Nil: it is not kept.
	Keep func(ctx context.Context, call llm.ToolCall, text string) (place string, err error)

	// Change does what a session.Change asks for, of any process, such as to find the model of a reference and to Set it. It is called on a
	// goroutine of the agent, one request at a time, also during a run. The agent records what became of each as a session.Changed.
	// Nil: such requests are refused.
	Change func(ctx context.Context, c session.Change) error

	Dir      string // working directory of a new session, for lists
	Version  string // of the program, for the journal
	Name     string // of the agent, for usage and lists; empty: none
	Frontend string // the name of a person as a speaker, such as "cli"
	Owner    string // who asks for the lease, for the person who finds the session locked
	TakeOver bool   // take the lease from a living writer

	SubAgent  bool              // the runs are those of a sub-agent
	Parent    session.SessionID // of a sub-agent: the session that spawned it
	ParentRun session.RunID     // of a sub-agent: the run that spawned it
}

// Window makes requests from the journal. The agent appends the entries that it returns before anything else happens. An error of any method
// ends the run, with [session.ReasonError] and that error. Implementations must not keep p.
type Window interface {
	// Request makes the request for the next answer. If it fails, nothing is sent.
	Request(ctx context.Context, p view.Path, h window.Header) (*llm.Request, []session.Body, error)

	// Room says how much the results of the calls of the last answer may take. If it fails, none of the calls starts.
	Room(ctx context.Context, p view.Path, h window.Header) (window.Room, error)

	// Overflow makes the next request smaller after the provider has refused one as too long. Without entries, the run ends with the error of
	// the provider.
	Overflow(ctx context.Context, p view.Path, h window.Header, cause error) ([]session.Body, error)
}

// Dialect is how a model knows the tools: their names, and the names and forms of their arguments. Hooks, the gate, results and the journal have
// the calls as the tools know them; the answers of the journal have them as the model wrote them. Implementations are safe for concurrent
// use.
type Dialect interface {
	// Offer returns the definitions of these tools for requests, sorted by name, without those that the model has no use for.
	Offer(tools []llm.Tool) []llm.Tool

	// Answer returns an answer of the model as the journal keeps it. It may make a call of a text that is one.
	Answer(m llm.Message) llm.Message

	// Call returns a call of the model with the name and the arguments that the tool knows. The model sees the error.
	Call(c llm.ToolCall) (llm.ToolCall, error)

	// Messages returns a conversation as the model reads it, with earlier calls under the names that it knows. It changes nothing in place.
	Messages(all []llm.Message) []llm.Message
}

// Execution says how the calls of one answer are run.
type Execution struct {
	kind string
	size int
}

// Parallel runs calls side by side unless their effects collide; those keep their order. It is the default.
func Parallel() Execution { return Execution{} }

// Sequential runs one call after the other.
func Sequential() Execution { return Execution{kind: "sequential", size: 1} }

// Batched runs size calls at a time, as Parallel does, and the next size when all of them have ended.
func Batched(size int) Execution { return Execution{kind: "batched", size: max(size, 1)} }

// String names the execution as the journal has it: "parallel", "sequential" or "batched(3)".
func (e Execution) String() string {
	switch e.kind {
	case "":
		return "parallel"
	case "batched":
		return fmt.Sprintf("batched(%d)", e.size)
	default:
		return e.kind
	}
}

// Delivery says how many queued messages enter the conversation at a time.
type Delivery int

// The deliveries.
const (
	OneAtATime Delivery = iota
	All
)

func (o Options) withDefaults() (Options, error) {
	if o.Client == nil {
		return o, errNoClient
	}
	if err := hooks(o.Hooks).check(); err != nil {
		return o, err
	}
	if o.Window == nil {
		o.Window = window.Full{}
	}
	if o.Gate == nil {
		o.Gate = ReadOnly()
	}
	if o.ToolGrace <= 0 {
		o.ToolGrace = 5 * time.Second
	}
	if o.MaxResult <= 0 {
		o.MaxResult = 64 << 10
	}
	return o, nil
}

// Offer says when a model gets the description of a tool. It can call every tool at any time: models know some by their training.
type Offer int

// The offers.
const (
	Always   Offer = iota
	WhenFull       // from the first trim or summary of the conversation on, see [window.Header.Late]
	Never
)

// toolset is the tools of an agent by name, and their descriptions for the model.
type toolset struct {
	byName map[string]tool.Tool
	names  []string
	offers func(string) Offer

	all   []llm.Tool // sorted by name
	specs []llm.Tool // of the tools that the model always gets, sorted by name
	late  []llm.Tool // of those that it gets when the window is full, sorted by name
}

// plainDialect is the dialect of tools that the model knows as their Spec describes them.
type plainDialect toolset

func (plainDialect) Offer(tools []llm.Tool) []llm.Tool        { return tools }
func (plainDialect) Answer(m llm.Message) llm.Message         { return m }
func (plainDialect) Messages(all []llm.Message) []llm.Message { return all }

func (f plainDialect) Call(c llm.ToolCall) (llm.ToolCall, error) {
	if f.byName[c.Name] == nil {
		return c, fmt.Errorf("there is no tool named %q; the tools are: %s", c.Name, strings.Join(f.names, ", "))
	}
	return c, nil
}

func newToolset(tools []tool.Tool, offers func(string) Offer) (toolset, error) {
	s := toolset{byName: make(map[string]tool.Tool, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if s.byName[spec.Name] != nil {
			return s, fmt.Errorf("agent: two tools are named %q", spec.Name)
		}
		s.byName[spec.Name] = t
		s.names = append(s.names, spec.Name)
	}
	slices.Sort(s.names)
	return s.offering(offers), nil
}

// offering returns the tools with other offers.
func (s toolset) offering(offers func(string) Offer) toolset {
	s.offers, s.all, s.specs, s.late = offers, nil, nil, nil
	for _, name := range s.names {
		spec := s.byName[name].Spec()
		s.all = append(s.all, spec)
		switch {
		case offers == nil || offers(name) == Always:
			s.specs = append(s.specs, spec)
		case offers(name) == WhenFull:
			s.late = append(s.late, spec)
		}
	}
	return s
}
