package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Process is a command line of a hook.
type Process struct {
	Line  string   // for the shell
	Env   []string // beyond the environment of this process
	Input []byte   // standard input
}

// Finished is the outcome of a process.
type Finished struct {
	Code           int
	Stdout, Stderr string
	Cut            bool // a part of the output is missing
}

// Options of a [Runner].
type Options struct {
	Handlers []Handler
	Env      []string // of all hooks, such as CLAUDE_PROJECT_DIR

	// Run runs a process until it ends or ctx ends, and leaves nothing of it.
	Run func(ctx context.Context, p Process) (Finished, error)

	Getenv func(string) string // for the headers of HTTP hooks
	Client *http.Client        // default: one that follows no redirects

	// Later gets the result of an asynchronous hook, from its goroutine.
	Later func(Event, Result)
}

// Runner runs hooks. It is safe for concurrent use.
type Runner struct {
	o      Options
	ctx    context.Context // of asynchronous hooks
	cancel context.CancelFunc
	later  sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// New returns a runner. Close it after the last event.
func New(o Options) *Runner {
	r := &Runner{o: o}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if r.o.Client == nil {
		r.o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return r
}

// closing is how long Close waits for asynchronous hooks.
const closing = 1500 * time.Millisecond

// Close waits a moment for the asynchronous hooks, and ends the others.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	timer := time.AfterFunc(closing, r.cancel)
	r.later.Wait()
	timer.Stop()
	r.cancel()
}

// background runs f in the background, unless the runner is closed.
func (r *Runner) background(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.later.Go(f)
	}
}

// Has reports whether an event has hooks.
func (r *Runner) Has(events ...Event) bool {
	return slices.ContainsFunc(r.o.Handlers, func(h Handler) bool { return slices.Contains(events, h.Event) })
}

// Firing is an event that happens.
type Firing struct {
	Event   Event
	Matches []string // the names of which one must fit the matcher of a hook; empty: every hook runs
	Input   map[string]any

	Own bool // only the hooks of the person run

	// Meets reports whether the call of the event matches the rule of a condition. Nil: the event has no call.
	Meets func(rule string) bool
}

// Ran is a hook that ran for an event.
type Ran struct {
	Handler
	Finished
	Answer Answer
	Took   time.Duration
}

// Result is the merged answer of the hooks of an event.
type Result struct {
	Deny   *Answer // the first that denies or blocks
	Ask    *Answer // the first that wants a person to decide
	Allow  *Answer // the first that allows and whose source is the person; the caller decides whether a rule could allow it
	Input  json.RawMessage
	Output json.RawMessage
	Stop   bool // the run ends
	Why    string

	Foreign   bool // Input is from a hook of a project, and the person's hooks have not seen it
	Rewritten bool // for the caller: a hook has written the arguments of the call

	Context  []string // for the model; with the source if that is a project
	Messages []string // for the person
	Problems []string // hooks that failed, for the person

	Ran []Ran // in the order of the configuration
}

// Fire runs the hooks of an event side by side and waits for them, except for asynchronous ones.
func (r *Runner) Fire(ctx context.Context, f Firing) Result {
	var now []Handler
	for _, h := range r.o.Handlers {
		if h.fits(f) && !slices.ContainsFunc(now, h.same) {
			now = append(now, h)
		}
	}
	if len(now) == 0 {
		return Result{}
	}
	input, err := json.Marshal(f.Input)
	if err != nil {
		return Result{Problems: []string{fmt.Sprintf("cannot encode the event %s: %v", f.Event, err)}}
	}
	ran := make([]Ran, len(now))
	var wait sync.WaitGroup
	for i, h := range now {
		if h.Async {
			r.background(func() {
				one := r.run(r.ctx, h, input)
				if r.ctx.Err() == nil && r.o.Later != nil {
					if h.Wakes && one.Code == exitBlocks {
						one.Answer.Context = cmp.Or(one.Answer.Context, one.Answer.Reason)
					}
					one.Answer = Answer{Context: one.Answer.Context, Message: one.Answer.Message, Problem: one.Answer.Problem}
					r.o.Later(f.Event, merge([]Ran{one}))
				}
			})
			continue
		}
		wait.Go(func() { ran[i] = r.run(ctx, h, input) })
	}
	wait.Wait()
	return merge(slices.DeleteFunc(ran, func(one Ran) bool { return one.Event == "" }))
}

// After runs the hooks of an event in the background.
func (r *Runner) After(f Firing) {
	if !r.Has(f.Event) {
		return
	}
	r.background(func() {
		if got := r.Fire(r.ctx, f); r.ctx.Err() == nil && r.o.Later != nil {
			r.o.Later(f.Event, got)
		}
	})
}

// fits reports whether a hook runs for an event.
func (h Handler) fits(f Firing) bool {
	if h.Event != f.Event || f.Own && h.Project || len(f.Matches) > 0 && !slices.ContainsFunc(f.Matches, h.matches) {
		return false
	}
	return h.If == "" || f.Meets != nil && f.Meets(h.If)
}

// run runs one hook.
func (r *Runner) run(ctx context.Context, h Handler, input []byte) Ran {
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, errTimeout)
	defer cancel()
	out := Ran{Handler: h}
	var err error
	if h.Type == "http" {
		out.Finished, err = r.post(ctx, h, input)
	} else {
		env := append(slices.Clone(r.o.Env), "TENON_HOOK_EVENT="+string(h.Event))
		if h.Dir != "" {
			env = append(slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, projectDir) }), projectDir+h.Dir)
		}
		out.Finished, err = r.o.Run(ctx, Process{Line: h.line(env), Env: env, Input: input})
	}
	out.Took = time.Since(begun)
	switch {
	case errors.Is(err, errTimeout) || errors.Is(context.Cause(ctx), errTimeout):
		out.Answer.Problem = fmt.Sprintf("timed out after %s", h.Timeout)
	case ctx.Err() != nil: // the run was cancelled
	case err != nil:
		out.Answer.Problem = bounded(err.Error())
	case out.Cut && out.Code != exitBlocks:
		out.Answer.Problem = "the output is too long"
	default:
		out.Answer = parse(h.Event, out.Code, out.Stdout, out.Stderr)
	}
	if out.Answer.Problem != "" && h.Blocks && h.Event.blocks() && out.Answer.Decision == "" {
		out.Answer.Decision, out.Answer.Reason = "block", "a hook failed that must succeed: "+out.Answer.Problem
	}
	return out
}

// projectDir is the variable with the directory of the project, in which its hooks find their files.
const projectDir = "CLAUDE_PROJECT_DIR="

var errTimeout = errors.New("the hook timed out")

// line returns the command line for the shell. The arguments of a program without a shell are quoted.
func (h Handler) line(env []string) string {
	if h.Args == nil {
		return h.Command
	}
	words := append([]string{h.Command}, h.Args...)
	for i, w := range words {
		for _, v := range env {
			name, text, _ := strings.Cut(v, "=")
			w = strings.ReplaceAll(w, "${"+name+"}", text)
		}
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// maxBody is how many bytes of an answer of an HTTP server count.
const maxBody = 1 << 20

// post sends the event to an HTTP server.
func (r *Runner) post(ctx context.Context, h Handler, input []byte) (Finished, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(input))
	if err != nil {
		return Finished{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, text := range h.Headers {
		req.Header.Set(name, h.expand(text, r.o.Getenv))
	}
	resp, err := r.o.Client.Do(req)
	if err != nil {
		return Finished{}, fmt.Errorf("cannot reach the server of the hook: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return Finished{}, fmt.Errorf("cannot read the answer of the hook: %w", err)
	case resp.StatusCode/100 != 2:
		return Finished{}, fmt.Errorf("the server of the hook answered %s", resp.Status)
	case len(body) > maxBody:
		return Finished{Cut: true}, nil
	}
	text := strings.TrimSpace(string(body))
	if text != "" && !strings.HasPrefix(text, "{") {
		return Finished{Stdout: text}, errors.New("the server of the hook did not answer with a JSON object")
	}
	return Finished{Stdout: text}, nil
}

// expand replaces the variables in a header: those that the hook names, and no others.
func (h Handler) expand(text string, getenv func(string) string) string {
	return os.Expand(text, func(name string) string {
		if !slices.Contains(h.Vars, name) || getenv == nil {
			return ""
		}
		return strings.NewReplacer("\r", "", "\n", "").Replace(getenv(name))
	})
}

// merge merges the answers of the hooks of an event. The strictest counts. What a hook of the person writes wins over what one of a project
// writes, and a permission of the person's hook is for no input that a project wrote.
func merge(ran []Ran) Result {
	out := Result{Ran: ran}
	var input, output bool // the person's hooks have written it
	for i := range ran {
		h, a := ran[i].Handler, &ran[i].Answer
		from := ""
		if h.Project {
			from = "A hook of the project (" + filepath.Base(h.Source) + ") says: "
		}
		said := *a
		said.Reason = from + a.Reason
		switch a.Decision {
		case "deny", "block":
			out.Deny = cmp.Or(out.Deny, &said)
		case "ask":
			out.Ask = cmp.Or(out.Ask, &said)
		case "allow":
			if h.Project {
				a.Problem = cmp.Or(a.Problem, "it cannot allow a call, because its source is a project")
				break
			}
			out.Allow = cmp.Or(out.Allow, a)
		}
		if a.Input != nil && !(h.Project && input) {
			out.Input, input = a.Input, !h.Project
		}
		if a.Output != nil && !(h.Project && output) {
			out.Output, output = a.Output, !h.Project
		}
		if a.Stop {
			out.Stop, out.Why = true, cmp.Or(out.Why, a.Why)
		}
		if a.Context != "" {
			out.Context = append(out.Context, from+a.Context)
		}
		if a.Message != "" {
			out.Messages = append(out.Messages, a.Message)
		}
		if a.Problem != "" {
			out.Problems = append(out.Problems, fmt.Sprintf("hook %s (%s, %s): %s", h.Event, clip(h.Title()), h.Source, a.Problem))
		}
	}
	if out.Input != nil && !input {
		out.Allow, out.Foreign = nil, true
	}
	return out
}
