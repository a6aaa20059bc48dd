package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultTimeout = 120       // seconds
	maxText        = 50 << 10  // bytes of output that the model is told
	maxCapture     = 256 << 10 // bytes of output in memory, and of those that are reported live
)

type arguments struct {
	Command     string `json:"command" min:"1"`
	Description string `json:"description,omitempty" jsonschema:"what it does, in a few words for people"`
	Dir         string `json:"dir,omitempty" jsonschema:"where, relative to the root"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"seconds, default 120" min:"1" max:"600"`
	Background  bool   `json:"background,omitempty" jsonschema:"start a job, without timeout, and go on"`
}

// sandboxed is the arguments where there is a sandbox.
type sandboxed struct {
	arguments
	Unconfined bool   `json:"unconfined,omitempty" jsonschema:"outside the sandbox; people are asked"`
	Reason     string `json:"reason,omitempty" jsonschema:"why unconfined"`
}

// Options say what the tools know besides the workspace.
type Options struct {
	// Analyze says what a command line would touch that runs in dir, an absolute path. The tool adds Command, Dir and Unconfined.
	// What only reads, and says so, runs beside other calls. Nil: every command may do anything.
	Analyze func(line, dir string) tool.Effects

	// Told is called, unless nil, when the tool job tells how a job has ended: nobody else needs to. It may be called several times
	// for a job, also concurrently.
	Told func(id string)
}

// New returns the tools shell and job for a workspace. A command that fails is no failed call: its exit code is told. When commands
// are confined there, a call can ask to run outside; the effects say so.
func New(ws *workspace.Workspace, o Options) []tool.Tool {
	s := &set{Workspace: ws, analyze: o.Analyze, ended: o.Told, told: map[string]int64{}}
	run := tool.New("shell", shellText,
		func(_ context.Context, a arguments) (tool.Effects, error) { return s.effects(sandboxed{arguments: a}) },
		func(ctx context.Context, a arguments, report tool.Report) (tool.Result, error) {
			return s.run(ctx, sandboxed{arguments: a}, report)
		})
	if ws.Confined() {
		run = tool.New("shell", shellText+sandboxText,
			func(_ context.Context, a sandboxed) (tool.Effects, error) { return s.effects(a) }, s.run)
	}
	return []tool.Tool{run, tool.New("job", jobText, jobEffects, s.job)}
}

// set is what the two tools share.
type set struct {
	*workspace.Workspace
	analyze func(line, dir string) tool.Effects
	ended   func(id string) // may be nil

	mu   sync.Mutex
	told map[string]int64 // how much of the output of a job the model has seen
}

func (s *set) effects(a sandboxed) (tool.Effects, error) {
	dir, err := s.Resolve(cmp.Or(a.Dir, "."))
	if err != nil {
		return tool.Effects{}, err
	}
	if advice := interactive(a.Command); advice != "" {
		return tool.Effects{}, errors.New(advice)
	}
	if a.Unconfined && strings.TrimSpace(a.Reason) == "" {
		return tool.Effects{}, errors.New("reason: missing; say why it must run outside the sandbox")
	}
	e := tool.Effects{Exec: true}
	if s.analyze != nil {
		e = s.analyze(a.Command, dir)
	}
	e.Command, e.Dir, e.Unconfined = a.Command, dir, a.Unconfined
	return e, nil
}

var errTimeout = errors.New("the time is over")

func (s *set) run(ctx context.Context, a sandboxed, report tool.Report) (tool.Result, error) {
	if a.Background {
		return s.start(ctx, a)
	}
	seconds := cmp.Or(a.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeout)
	defer cancel()
	live := reporter{report: report}
	c := s.command(a)
	c.Capture, c.Spill, c.Report = maxCapture, maxText, live.write
	done, err := s.Run(ctx, c)
	if err != nil && ctx.Err() == nil {
		return tool.Result{}, err // it did not run
	}
	ran := newRan(a, done)
	ran.TimedOut = errors.Is(err, errTimeout)
	ran.Cancelled = err != nil && !ran.TimedOut
	result := tool.TextResult(text(done, ran, seconds))
	result.IsError = ran.TimedOut || ran.Cancelled
	result.Details = ran
	return result, nil
}

func (s *set) command(a sandboxed) workspace.Command {
	e, err := s.effects(a)
	return workspace.Command{Line: a.Command, Dir: a.Dir, Unconfined: a.Unconfined, ReadOnly: err == nil && e.ReadOnly()}
}

//go:embed shell.md
var shellText string

//go:embed sandbox.md
var sandboxText string

//go:embed job.md
var jobText string
