package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// Options is what an agent is made of. Only Client is required.
type Options struct {
	Client llm.Client
	Tools  []tool.Tool
	System string // system prompt; keep it the same for as long as possible, for the provider's cache

	Window  Window   // makes requests from the journal; default window.Full
	Gate    Gate     // decides which calls may run; default ReadOnly
	Hooks   Hooks    // default none
	Filters []Filter // screen every message that comes in, in order
	Limits  Limits   // the zero value has limits too

	Execution Execution // how the calls of one answer are run; default Parallel
	Steering  Delivery  // how many steering messages enter at a time; default OneAtATime
	FollowUps Delivery  // how many follow-ups enter at a time; default OneAtATime

	Thinking    llm.Thinks
	MaxTokens   int             // of one answer; 0: what the model allows
	Cache       llm.CachePolicy // marks for the provider's prompt cache
	Temperature *float64        // nil: the provider's default
	Schema      json.RawMessage // JSON Schema that the last answer of a run must satisfy; nil: none
	ToolTimeout time.Duration   // longest time of one call; 0: none but that of the run
	ToolGrace   time.Duration   // how long a cancelled call may take to return before it is left behind; default 5 s
	MaxResult   int             // bytes of text that one result may have for the model, where the window has room; default 64 KiB

	// Keep keeps the whole text of a result that is cut for the model and says where the model can read it. Nil: it is not kept.
	Keep func(ctx context.Context, call llm.ToolCall, text string) (place string, err error)

	Dir      string // working directory of a new session, for lists
	Version  string // of the program, for the journal
	Owner    string // who asks for the lease, for the person who finds the session locked
	TakeOver bool   // take the lease from a living writer

	SubAgent  bool          // the runs are those of a sub-agent
	ParentRun session.RunID // of a sub-agent: the run that spawned it
}

// Window decides what of the journal the model is sent. The entries that it returns are appended before anything else happens.
// Implementations must not keep p.
type Window interface {
	// Request makes the request for the next answer.
	Request(ctx context.Context, p session.Path, h window.Header) (*llm.Request, []session.Body, error)

	// Room says what the results of the calls that were just asked for may take.
	Room(ctx context.Context, p session.Path, h window.Header) (window.Room, error)

	// Overflow is called when the provider refuses a request because it is too long. The entries make the next one smaller;
	// when there are none, or an error, the run ends with it.
	Overflow(ctx context.Context, p session.Path, h window.Header, cause error) ([]session.Body, error)
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
	o.Limits = o.Limits.withDefaults()
	return o, nil
}

// toolset is the tools of an agent by name, and what a model is told of them.
type toolset struct {
	byName map[string]tool.Tool
	specs  []llm.Tool // sorted by name
	names  []string
}

func newToolset(tools []tool.Tool) (toolset, error) {
	s := toolset{byName: make(map[string]tool.Tool, len(tools))}
	for _, t := range tools {
		spec := t.Spec()
		if s.byName[spec.Name] != nil {
			return s, fmt.Errorf("agent: two tools are named %q", spec.Name)
		}
		s.byName[spec.Name] = t
		s.specs = append(s.specs, spec)
	}
	slices.SortFunc(s.specs, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	for _, spec := range s.specs {
		s.names = append(s.names, spec.Name)
	}
	return s, nil
}
