package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/workspace"
)

// HookSet holds the hooks that take effect, and the problems of the others.
type HookSet struct {
	Handlers []hooks.Handler
	Problems []string

	getenv func(string) string
}

// HooksOf returns the hooks of a configuration: the person's, and those of a trusted project.
func HooksOf(s *Setup) (set HookSet) {
	set.getenv = s.getenv
	for _, l := range s.Config.Hooks {
		all, problems := hooks.Parse(hooks.Layer{File: l.File, Dir: l.Dir, Project: l.Project, Hooks: l.JSON})
		set.Handlers, set.Problems = append(set.Handlers, all...), append(set.Problems, problems...)
	}
	return set
}

// Codes of decisions that hooks make.
const (
	codeHookDenied  = "hooks.denied"  // a hook denied the call, or blocked the prompt
	codeHookAllowed = "hooks.allowed" // a hook of the person allowed the call
	codeHookAsked   = "hooks.asked"   // a hook wants a person to decide
)

// hookError is a refusal by a hook.
type hookError struct {
	reason  string
	stopped bool // the hook ended the run
}

func (e *hookError) Error() string { return e.reason }

// Code returns "hooks.stopped" or "hooks.denied".
func (e *hookError) Code() string {
	if e.stopped {
		return "hooks.stopped"
	}
	return "hooks.denied"
}

// maxStops is how often in a row hooks of Stop can continue a run.
const maxStops = 8

// hooking runs the hooks of a session at the events of one of its agents. Nil: there are no hooks.
type hooking struct {
	agent  *Agent
	runner *hooks.Runner
	begins string // the source of SessionStart: startup or resume

	conditions sync.Map // of hooks: text of the rule to its *permission.Policy

	mu        sync.Mutex
	started   bool
	context   []string // for the model, as soon as it can get it
	stop      string   // the reason to end the run; empty: none
	stops     int      // how often hooks of Stop have continued the run
	ended     bool     // SubagentStop has run in this run
	dir       string   // of the last command
	decided   map[string]hooks.Result
	compacted session.ID  // the newest summary
	check     bool        // a summary may be new
	idle      *time.Timer // until the notification that the person is awaited
}

// newHooks returns the hooks of an agent; nil: it has none.
func newHooks(a *Agent, set HookSet, resumed bool) *hooking {
	if len(set.Handlers) == 0 {
		return nil
	}
	h := &hooking{agent: a, begins: "startup", decided: make(map[string]hooks.Result)}
	if resumed {
		h.begins = "resume"
	}
	h.dir = a.spec.Bounds.Root
	h.runner = hooks.New(hooks.Options{
		Handlers: set.Handlers, Getenv: set.getenv, Run: RunHook(a.site.workspace), Env: HookEnv(projectOf(a), conversationOf(a)),
		Later: func(_ hooks.Event, r hooks.Result) { h.take(r) },
	})
	return h
}

// HookEnv returns the variables of hooks.
func HookEnv(root string, id session.SessionID) []string {
	return []string{"CLAUDE_PROJECT_DIR=" + root, "TENON_PROJECT_DIR=" + root, "TENON_SESSION_ID=" + string(id)}
}

// maxHookOutput is how many bytes of the output of a hook count.
const maxHookOutput = 1 << 20

// RunHook returns the function that runs the processes of hooks in the root of a workspace, with the rights of the person.
func RunHook(w *workspace.Workspace) func(context.Context, hooks.Process) (hooks.Finished, error) {
	return func(ctx context.Context, p hooks.Process) (hooks.Finished, error) {
		errs := &limited{most: 64 << 10}
		done, err := w.Run(ctx, workspace.Command{
			Line: p.Line, Env: p.Env, Input: p.Input, Errors: errs, Capture: maxHookOutput, MaxFile: 1, Grace: time.Second, Unconfined: true, ReadOnly: true,
		})
		out := hooks.Finished{Code: done.ExitCode, Stdout: done.Head + done.Tail, Stderr: errs.text.String(), Cut: done.Bytes > 0}
		if done.Signal != "" && err == nil {
			err = errors.New("the hook was killed: " + done.Signal)
		}
		return out, err
	}
}

// limited keeps the beginning of what is written.
type limited struct {
	text bytes.Buffer
	most int
}

// Write implements [io.Writer].
func (l *limited) Write(data []byte) (int, error) {
	l.text.Write(data[:min(len(data), l.most-l.text.Len())])
	return len(data), nil
}

// conversationOf returns the session of the conversation of an agent: for a sub-agent, that of the owner.
func conversationOf(a *Agent) session.SessionID {
	for a.spec.child != nil {
		a = a.spec.child.owner
	}
	return a.id
}

// projectOf returns the directory of the project of an agent: for a sub-agent, that of the owner, also if the sub-agent works in a copy.
func projectOf(a *Agent) string {
	for a.spec.child != nil {
		a = a.spec.child.owner
	}
	return a.spec.Bounds.Root
}

// hook returns the hook of the agent.
func (h *hooking) hook() agent.Hook {
	one := agent.Hook{
		Name: "hooks", BeforeRun: h.beforeRun, Prompt: h.prompt, BeforeTurn: h.beforeTurn, AfterTurn: h.afterTurn, AfterRun: h.afterRun,
	}
	if h.runner.Has(hooks.PreToolUse) {
		one.BeforeCall = callHooks{h}.beforeCall
	}
	calls := callHooks{h}
	if one.AfterCall = calls.afterCall; h.runner.Has(hooks.Stop, hooks.SubagentStop) {
		one.BeforeEnd = h.beforeEnd
	}
	if h.runner.Has(hooks.PreCompact) {
		one.BeforeCompaction = h.beforeCompaction
	}
	return one
}

// fire runs the hooks of an event, and shows what they have for people.
func (h *hooking) fire(ctx context.Context, e hooks.Event, matches []string, input map[string]any, meets func(string) bool) hooks.Result {
	return fire(ctx, h, hooks.Firing{Event: e, Matches: matches, Input: input, Meets: meets})
}

func fire(ctx context.Context, h *hooking, f hooks.Firing) hooks.Result {
	if !h.runner.Has(f.Event) {
		return hooks.Result{}
	}
	f.Input = h.input(f.Event, f.Input)
	r := h.runner.Fire(ctx, f)
	h.show(r)
	if r.Stop {
		h.locked(func() { h.stop = cmp.Or(r.Why, "a hook stopped the run") })
	}
	return r
}

// after runs the hooks of an event in the background.
func (h *hooking) after(e hooks.Event, matches []string, input map[string]any) {
	if h != nil {
		h.runner.After(hooks.Firing{Event: e, Matches: matches, Input: h.input(e, input)})
	}
}

// take takes the answer of hooks that ran in the background.
func (h *hooking) take(r hooks.Result) {
	h.show(r)
	h.keep(r.Context)
}

func (h *hooking) show(r hooks.Result) {
	for _, text := range slices.Concat(r.Messages, r.Problems) {
		h.agent.Announce(live.Notice{Text: h.agent.site.secrets.Redact(text)})
	}
}

// keep keeps texts for the model until it can get them.
func (h *hooking) keep(texts []string) {
	h.locked(func() { h.context = append(h.context, texts...) })
}

// kept returns the texts that wait for the model.
func (h *hooking) kept() (texts []string) {
	h.locked(func() { texts, h.context = h.context, nil })
	return texts
}

func (h *hooking) locked(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// say joins texts of hooks for the model.
func (h *hooking) say(texts []string) string {
	return h.agent.site.secrets.Redact(strings.Join(texts, "\n\n"))
}

// input returns the JSON of an event.
func (h *hooking) input(e hooks.Event, more map[string]any) map[string]any {
	a := h.agent
	in := map[string]any{
		"session_id": conversationOf(a), "transcript_path": "", "cwd": a.spec.Bounds.Root, "hook_event_name": e,
		"permission_mode": hookMode(a.site.policy.Load().Mode()),
	}
	if c := a.spec.child; c != nil {
		in["agent_id"], in["agent_type"] = a.id, c.kind()
	}
	for name, value := range more {
		in[name] = value
	}
	return in
}

// kind is the type of a sub-agent as hooks know it: its role.
func (c *childhood) kind() string { return cmp.Or(c.role.Name, "general-purpose") }

// hookMode is the mode as Claude Code names it.
func hookMode(m permission.Mode) string {
	return cmp.Or(map[permission.Mode]string{
		permission.Inspect: "plan", permission.Plan: "plan", permission.Edits: "acceptEdits", permission.Auto: "auto", permission.Yolo: "bypassPermissions",
	}[m], "default")
}

func (h *hooking) beforeRun(ctx context.Context, _ session.RunStarted) error {
	first := false
	h.locked(func() {
		first, h.started = !h.started, true
		h.stop, h.stops, h.ended = "", 0, false
		clear(h.decided)
		if h.idle != nil {
			h.idle.Stop()
		}
	})
	if !first {
		return nil
	}
	if h.begins == "resume" {
		h.summary(ctx)
	}
	if c := h.agent.spec.child; c != nil {
		h.keep(h.fire(ctx, hooks.SubagentStart, []string{c.kind()}, nil, nil).Context)
		return nil
	}
	h.keep(h.sessionStart(ctx, h.begins).Context)
	return nil
}

func (h *hooking) sessionStart(ctx context.Context, source string) hooks.Result {
	return h.fire(ctx, hooks.SessionStart, []string{source}, map[string]any{"source": source, "model": h.agent.client().Model().ID}, nil)
}

// prompt runs the hooks of a prompt of the person, and adds what hooks have for the model.
func (h *hooking) prompt(ctx context.Context, m session.Message) (add string, err error) {
	texts := h.kept()
	if m.Speaker.Kind == session.SpeakerPerson {
		r := h.fire(ctx, hooks.UserPromptSubmit, nil, map[string]any{"prompt": m.Text()}, nil)
		switch {
		case r.Deny != nil:
			err = &hookError{reason: h.say([]string{r.Deny.Reason})}
		case r.Stop:
			err = &hookError{reason: h.say([]string{cmp.Or(r.Why, "a hook stopped the run")}), stopped: true}
		}
		if err != nil {
			h.keep(texts)
			return "", err
		}
		texts = append(texts, r.Context...)
	}
	return h.say(texts), nil
}

func (h *hooking) beforeTurn(context.Context, int) (err error) {
	h.locked(func() {
		if h.stop != "" {
			err = &hookError{reason: h.agent.site.secrets.Redact(h.stop), stopped: true}
		}
	})
	return err
}

func (h *hooking) afterTurn(ctx context.Context, _ int, _ live.TurnEnded) { h.summarized(ctx) }

// beforeEnd runs the hooks of the end of a run, which can continue it.
func (h *hooking) beforeEnd(ctx context.Context, answer llm.Message) (again string) {
	event, matches := hooks.Stop, []string(nil)
	more := map[string]any{"last_assistant_message": answer.Text(), "background_tasks": []string{}, "session_crons": []string{}}
	stops := 0
	h.locked(func() { stops, h.ended = h.stops, true })
	more["stop_hook_active"] = stops > 0
	if c := h.agent.spec.child; c != nil {
		event, matches = hooks.SubagentStop, []string{c.kind()}
		more["agent_transcript_path"] = ""
	}
	r := h.fire(ctx, event, matches, more, nil)
	texts := r.Context
	if r.Deny != nil {
		texts = append([]string{r.Deny.Reason}, texts...)
	}
	switch {
	case len(texts) == 0 || r.Stop:
		return ""
	case stops == maxStops:
		h.agent.Announce(live.Notice{Text: fmt.Sprintf("the hooks of %s continued the run %d times; it ends now", event, maxStops)})
		return ""
	}
	h.locked(func() { h.stops++; h.ended = false })
	return h.say(texts)
}

func (h *hooking) afterRun(ctx context.Context, end session.RunEnded) {
	ended := false
	h.locked(func() { ended = h.ended })
	if c := h.agent.spec.child; c != nil {
		if !ended && end.Reason == session.ReasonDone { // by a report, after which no hook continues it
			h.fire(ctx, hooks.SubagentStop, []string{c.kind()}, map[string]any{"stop_hook_active": false, "last_assistant_message": "", "agent_transcript_path": ""}, nil)
		}
		return
	}
	if end.Reason == session.ReasonError {
		kind := failureOf(end.Error)
		h.fire(ctx, hooks.StopFailure, []string{kind}, map[string]any{"error": kind, "error_details": end.Message}, nil)
	}
	if h.agent.spec.Ask && h.runner.Has(hooks.Notification) {
		h.locked(func() {
			h.idle = time.AfterFunc(cmp.Or(h.agent.spec.idle, time.Minute), func() {
				h.notify("idle_prompt", "Tenon is waiting for your input")
			})
		})
	}
}

// failureOf names the error of a provider as Claude Code does.
func failureOf(e *llm.Error) string {
	if e == nil {
		return "unknown"
	}
	return cmp.Or(map[llm.Kind]string{
		llm.KindRateLimited: "rate_limit", llm.KindAuth: "authentication_failed", llm.KindQuota: "billing_error",
		llm.KindInvalidRequest: "invalid_request", llm.KindOverloaded: "server_error",
	}[e.Kind], "unknown")
}

// notify runs the hooks of a notification in the background.
func (h *hooking) notify(kind, text string) {
	h.after(hooks.Notification, []string{kind}, map[string]any{"message": text, "title": "Tenon", "notification_type": kind})
}

// asked notifies that a person is asked.
func (h *hooking) asked(q session.Asking) {
	if h == nil {
		return
	}
	if len(q.Calls) == 0 {
		h.notify("elicitation_dialog", "Tenon has a question for you")
		return
	}
	h.notify("permission_prompt", "Tenon needs your permission to use "+cmp.Or(claudeTools(h.agent).Name(q.Calls[0].Tool), q.Calls[0].Tool))
}

// beforeCompaction asks the hooks about a summary.
func (h *hooking) beforeCompaction(ctx context.Context, reason string) error {
	trigger := compaction(reason)
	r := h.fire(ctx, hooks.PreCompact, []string{trigger}, map[string]any{"trigger": trigger, "custom_instructions": ""}, nil)
	if r.Deny != nil {
		return &hookError{reason: h.say([]string{r.Deny.Reason})}
	}
	h.keep(r.Context)
	return nil
}

func compaction(reason string) string {
	if reason == "asked" {
		return "manual"
	}
	return "auto"
}

// mayBeSummarized notes that there may be a summary.
func (h *hooking) mayBeSummarized() {
	if h != nil {
		h.locked(func() { h.check = true })
	}
}

// summarized runs the hooks after a summary, if there is a new one.
func (h *hooking) summarized(ctx context.Context) {
	check := false
	if h == nil {
		return
	}
	if h.locked(func() { check = h.check }); !check {
		return
	}
	s, fresh := h.summary(ctx)
	if !fresh {
		return
	}
	h.locked(func() { h.check = false })
	trigger := compaction(s.Reason)
	h.keep(h.fire(ctx, hooks.PostCompact, []string{trigger}, map[string]any{"trigger": trigger, "compact_summary": s.Summary}, nil).Context)
	if h.agent.spec.child == nil {
		h.keep(h.sessionStart(ctx, "compact").Context)
	}
}

// summary returns the newest summary, and whether it is another one than before.
func (h *hooking) summary(ctx context.Context) (s session.Summarized, fresh bool) {
	for e, err := range h.agent.Path().Backward(ctx) {
		if err != nil {
			break
		}
		if s, ok := e.Body.(session.Summarized); ok {
			h.locked(func() { fresh, h.compacted = h.compacted != e.ID, e.ID })
			return s, fresh
		}
	}
	return s, false
}

// changes asks the hooks about a change of the configuration.
func (h *hooking) changes(ctx context.Context, source, file string) error {
	if h == nil {
		return nil
	}
	more := map[string]any{"source": source}
	if file != "" {
		more["file_path"] = file
	}
	if r := h.fire(ctx, hooks.ConfigChange, []string{source}, more, nil); r.Deny != nil {
		return &hookError{reason: "a hook refused the change: " + h.say([]string{r.Deny.Reason})}
	}
	return nil
}

// keeperOf returns the function that writes rules to the configuration of the person, with the hooks of a change before it.
func keeperOf(a *Agent, write func(context.Context, []permission.Rule) error) func(context.Context, []permission.Rule) error {
	if write == nil || a.hooks == nil {
		return write
	}
	return func(ctx context.Context, rules []permission.Rule) error {
		if err := a.hooks.changes(ctx, "user_settings", ""); err != nil {
			return err
		}
		return write(ctx, rules)
	}
}

// close runs the hooks of the end of the session.
func (h *hooking) close() {
	if h == nil {
		return
	}
	started := false
	h.locked(func() {
		if started = h.started; h.idle != nil {
			h.idle.Stop()
		}
	})
	if started && h.agent.spec.child == nil {
		reason := "other"
		if h.agent.spec.Ask {
			reason = "prompt_input_exit"
		}
		h.fire(context.Background(), hooks.SessionEnd, []string{reason}, map[string]any{"reason": reason}, nil)
	}
	h.runner.Close()
}
