package shell

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultTimeout = 120       // seconds
	maxText        = 50 << 10  // bytes of output for the model
	maxSyntax      = 2 << 10   // bytes of what the shell says against a line
	maxCapture     = 256 << 10 // bytes of output in memory, and of live output
)

type arguments struct {
	Command     string `json:"command" jsonschema:"one or more lines of shell" min:"1"`
	Description string `json:"description,omitempty" jsonschema:"purpose in a few words, for the user"`
	Dir         string `json:"dir,omitempty" jsonschema:"working directory, default the root"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"seconds, default 120" min:"1" max:"600"`
	Background  bool   `json:"background,omitempty" jsonschema:"start it as a background job, without timeout"`
	Yield       int    `json:"yield,omitempty" jsonschema:"seconds after which a running command becomes a background job" min:"1" max:"600"`
}

type sandboxed struct {
	arguments
	Unconfined bool   `json:"unconfined,omitempty" jsonschema:"run outside the sandbox, which needs the user's approval"`
	Reason     string `json:"reason,omitempty" jsonschema:"why it must run outside the sandbox"`
}

// Options configure the tools.
type Options struct {
	// Analyze returns the effects of a command line in dir, an absolute path. Their Command is the text that the tool runs, so that the
	// judged text runs; "" is the line. The tool adds Dir and Unconfined. A command that declares only reads runs at the same time as
	// other calls. Nil: the effects of every command are unknown.
	Analyze func(line, dir string) tool.Effects

	// Reported, if not nil, is called when the tool job reports the end of a job to the model, so that no message about it is necessary. It
	// may be called several times for a job, also concurrently.
	Reported func(id string)
}

// New returns the tools shell and job for a workspace. A failed command is not a failed call: the result has its exit code. If the
// workspace has a sandbox, a call can ask to run outside of it, and the effects declare that.
func New(ws *workspace.Workspace, o Options) []tool.Tool {
	s := &set{Workspace: ws, analyze: o.Analyze, ended: o.Reported, seen: map[string]int64{}}
	run := tool.New("shell", shellText,
		func(ctx context.Context, a arguments) (tool.Effects, error) {
			return s.effects(ctx, sandboxed{arguments: a})
		},
		func(ctx context.Context, a arguments, report tool.Report) (tool.Result, error) {
			return s.run(ctx, sandboxed{arguments: a}, report)
		})
	if ws.Confined() {
		run = tool.New("shell", shellText+sandboxText,
			s.effects, s.run)
	}
	return []tool.Tool{run, tool.New("job", jobText, jobEffects, s.job, tool.WithTitle(jobArguments.title))}
}

// set is the state that both tools share.
type set struct {
	*workspace.Workspace
	analyze func(line, dir string) tool.Effects
	ended   func(id string) // may be nil

	mu   sync.Mutex
	seen map[string]int64 // bytes of the output of each job that the model has seen
}

func (s *set) effects(ctx context.Context, a sandboxed) (tool.Effects, error) {
	dir, err := s.Resolve(cmp.Or(a.Dir, "."))
	if err != nil {
		return tool.Effects{}, err
	}
	e := tool.Effects{Unknown: true, Exclusive: true}
	if s.analyze != nil {
		e = s.analyze(a.Command, dir)
	}
	e.Command = cmp.Or(e.Command, a.Command)
	tree := parsed(e)
	if tree == nil { // the shell decides whether that is a mistake of the line or of the parser
		if wrong := workspace.SyntaxError(ctx, e.Command); wrong != "" {
			wrong, _ = tool.Bound(wrong, maxSyntax)
			return tool.Effects{}, tool.Codef("tool.syntax", "the shell cannot read the command, and ran nothing of it: %s", wrong)
		}
	}
	if advice := interactive(tree); advice != "" {
		return tool.Effects{}, tool.Codef("tool.interactive", "%s", advice)
	}
	if a.Unconfined && strings.TrimSpace(a.Reason) == "" {
		return tool.Effects{}, tool.Codef("tool.arguments", "reason: missing; explain why the command must run outside the sandbox")
	}
	e.Dir, e.Unconfined = dir, a.Unconfined
	return e, nil
}

var errTimeout = errors.New("timed out")

func (s *set) run(ctx context.Context, a sandboxed, report tool.Report) (tool.Result, error) {
	if a.Background {
		return s.start(ctx, a)
	}
	if a.Yield > 0 {
		return s.yield(ctx, a, report)
	}
	seconds := cmp.Or(a.Timeout, defaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeout)
	defer cancel()
	live := reporter{report: report}
	limit := tool.Limit(ctx, maxText)
	c := command(ctx, a)
	c.Capture, c.Spill, c.Report = maxCapture, limit, live.write
	done, err := s.Run(ctx, c)
	if err != nil && ctx.Err() == nil {
		return tool.Result{}, err // the command did not start
	}
	return ended(a, c.Line, done, err, limit), nil
}

// yield runs a command for some time. If it still runs then, it continues as a job.
func (s *set) yield(ctx context.Context, a sandboxed, report tool.Report) (tool.Result, error) {
	c, live := command(ctx, a), reporter{report: report}
	c.Capture, c.Spill, c.Report = maxCapture, maxEnd, live.write
	job, err := s.Start(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, time.Duration(a.Yield)*time.Second, errTimeout)
	defer cancel()
	status, err := job.Wait(limited)
	if errors.Is(err, errTimeout) {
		result := s.show(ctx, job, 0, fmt.Sprintf(" after %d s, and continues as a background job", a.Yield))
		ran := newRan(a, c.Line, workspace.Finished{})
		ran.Job = status.ID
		return result.With(result.Brief, ran), nil
	}
	if err != nil { // the call was cancelled
		status, _ = job.Kill(context.WithoutCancel(ctx))
	}
	if s.ended != nil {
		s.ended(status.ID)
	}
	return ended(a, c.Line, status.Finished, err, tool.Limit(ctx, maxText)), nil
}

// ended returns the result of a command that has ended, by itself or because of an error.
func ended(a sandboxed, line string, done workspace.Finished, err error, limit int) tool.Result {
	ran := newRan(a, line, done)
	ran.TimedOut = errors.Is(err, errTimeout)
	ran.Cancelled = err != nil && !ran.TimedOut
	result := tool.TextResult(text(done, ran, cmp.Or(a.Timeout, defaultTimeout), limit)).With(ran.brief(done.Output), ran)
	result.IsError, result.Failed = ran.TimedOut || ran.Cancelled, ran.failure() != ""
	return result
}

// command is the command of a call. The effects that were judged have its text, and say whether it only reads.
func command(ctx context.Context, a sandboxed) workspace.Command {
	e, _ := tool.EffectsOf(ctx)
	return workspace.Command{Line: e.Command, Dir: a.Dir, Unconfined: a.Unconfined, ReadOnly: e.ReadOnly()}
}

//go:embed shell.md
var shellText string

//go:embed sandbox.md
var sandboxText string

//go:embed job.md
var jobText string
