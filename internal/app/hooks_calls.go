package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool/catalog"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/workspace"
)

// callHooks are the hooks about calls.
type callHooks struct{ *hooking }

// beforeCall runs the hooks before a tool. The gate applies what they allow and what they ask.
func (h callHooks) beforeCall(ctx context.Context, call agent.Proposed) (arguments string, err error) {
	var merged hooks.Result
	seen := h.seen(call)
	for i, v := range seen {
		r := h.fire(ctx, hooks.PreToolUse, v.names, v.input(call, nil), h.meets(call))
		if r.Deny == nil && !r.Stop && r.Foreign && v.dialect != nil {
			r = h.again(ctx, call, v, r)
		}
		if r.Deny != nil || r.Stop {
			h.keep(r.Context)
			why := cmp.Or(r.Why, "a hook stopped the run")
			if r.Deny != nil {
				why = r.Deny.Reason
			}
			return "", &hookError{reason: h.say([]string{why})}
		}
		h.keep(r.Context)
		if merged.Ask = cmp.Or(merged.Ask, r.Ask); i == 0 || r.Allow == nil {
			merged.Allow = r.Allow // for all files of a call
		}
		if v.dialect != nil && r.Input != nil {
			arguments = v.arguments(r.Input)
		}
	}
	h.locked(func() {
		merged.Rewritten = h.decided[call.Call.ID].Rewritten
		h.decided[call.Call.ID] = merged
	})
	return arguments, nil
}

// again shows the arguments that a hook of a project wrote to the person's hooks, which have judged others. They allow nothing now.
func (h callHooks) again(ctx context.Context, call agent.Proposed, v seenCall, first hooks.Result) hooks.Result {
	in := v.input(call, nil)
	var args map[string]any
	if json.Unmarshal(first.Input, &args) == nil {
		in["tool_input"] = absolute(args, h.agent.spec.Bounds.Root)
	}
	r := fire(ctx, h.hooking, hooks.Firing{
		Event: hooks.PreToolUse, Matches: v.names, Input: in, Own: true,
		Meets: func(string) bool { return true }, // for the call that it was, a condition says nothing
	})
	r.Allow, r.Context = nil, append(first.Context, r.Context...)
	r.Ask = cmp.Or(r.Ask, first.Ask)
	if r.Input == nil {
		r.Input = first.Input
	}
	return r
}

// afterCall runs the hooks after a tool, and adds to the result what hooks have for the model.
func (h callHooks) afterCall(ctx context.Context, call agent.Proposed, m session.Message) (session.Message, error) {
	ctx = context.WithoutCancel(ctx) // the call has run
	failed := m.IsError || m.Failed
	var texts []string
	for _, v := range h.seen(call) {
		var r hooks.Result
		if failed {
			r = h.fire(ctx, hooks.PostToolUseFailure, v.names, v.input(call, map[string]any{
				"error": m.Text(), "is_interrupt": m.Outcome == session.OutcomeCancelled,
			}), h.meets(call))
		} else {
			r = h.fire(ctx, hooks.PostToolUse, v.names, v.input(call, map[string]any{"tool_response": v.response(m.Text())}), h.meets(call))
		}
		if r.Output != nil {
			m.Content = llm.Content{llm.Text{Text: h.say([]string{outputText(r.Output)})}}
		}
		if r.Deny != nil {
			texts = append(texts, r.Deny.Reason)
		}
		texts = append(texts, r.Context...)
	}
	if dir := call.Effects.Dir; dir != "" && call.Effects.Command != "" {
		var old string
		h.locked(func() { old, h.dir = h.dir, dir })
		if old != dir {
			texts = append(texts, h.fire(ctx, hooks.CwdChanged, nil, map[string]any{"old_cwd": old, "new_cwd": dir}, nil).Context...)
		}
	}
	if texts = append(h.kept(), texts...); len(texts) > 0 {
		m.Content = append(slices.Clone(m.Content), llm.Text{Text: "\n[Hooks: " + h.say(texts) + "]"})
	}
	return m, nil
}

// outputText is the replacement of a result as text: a string, the standard output of a command, or JSON.
func outputText(raw json.RawMessage) string {
	var text string
	var command struct {
		Stdout *string `json:"stdout"`
		Stderr string  `json:"stderr"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &command) == nil && command.Stdout != nil:
		return *command.Stdout + command.Stderr
	}
	return string(raw)
}

// meets returns the function that reports whether a call matches the rule of a condition. If that is uncertain, it matches.
func (h callHooks) meets(call agent.Proposed) func(string) bool {
	return func(text string) bool {
		p, ok := h.conditions.Load(text)
		if !ok {
			p, _ = h.conditions.LoadOrStore(text, h.condition(text))
		}
		if p.(*permission.Policy) == nil {
			return true // a hook that narrows is not lost by a mistake in its condition
		}
		return p.(*permission.Policy).Judge(callOf(call)).Action != permission.Allow
	}
}

// condition returns a policy that denies the calls that match a rule in the words of Claude Code or of Tenon; nil: it is no rule.
func (h callHooks) condition(text string) *permission.Policy {
	b := h.agent.spec.Bounds
	rules, err := config.FromClaude(b.Root, permission.Deny, text)
	if err != nil {
		rules = []string{text}
	} else if strings.HasPrefix(text, "Read") {
		rules = rules[:1]
	}
	p, err := permission.New(
		permission.Options{Mode: permission.Yolo, Root: b.Root, Roots: b.Roots, Home: b.Home, Shell: workspace.Shell()},
		permission.Layer{Scope: permission.User, Where: "a hook", Config: permission.Config{Deny: rules}},
	)
	if err != nil {
		h.agent.Announce(live.Notice{Text: fmt.Sprintf("the condition %q of a hook is no rule, and the hook runs for every call: %v", text, err)})
		return nil
	}
	return p
}

// callOf is a call of the agent as rules judge it.
func callOf(c agent.Proposed) permission.Call {
	return permission.Call{Tool: cmp.Or(c.As, c.Call.Name), Effects: c.Effects, Arguments: c.Arguments}
}

// claudeTools returns the tools of an agent as Claude Code knows them.
func claudeTools(a *Agent) *family.Dialect { return family.New(models.FamilyClaude, a.specs) }

// seenCall is a call of a tool as Claude Code writes it.
type seenCall struct {
	name    string
	args    map[string]any
	names   []string // for matchers: Claude Code's first, then Tenon's
	dialect *family.Dialect

	indirect bool // by the tool that calls other tools
}

// seen returns a call as hooks see it: once, or once for each file of a patch.
func (h callHooks) seen(call agent.Proposed) []seenCall {
	if slices.Contains(actNames(), call.Call.Name) {
		return nil
	}
	return seenAs(claudeTools(h.agent), call, h.agent.spec.Bounds.Root)
}

func seenAs(d *family.Dialect, call agent.Proposed, root string) (all []seenCall) {
	c := llm.ToolCall{ID: call.Call.ID, Name: cmp.Or(call.As, call.Call.Name), Arguments: string(call.Arguments)}
	indirect := call.Call.Name == catalog.Call
	if indirect {
		var args struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if json.Unmarshal(call.Arguments, &args) == nil {
			c.Arguments = cmp.Or(string(args.Arguments), "{}")
		}
	}
	if c.Name == "patch" {
		for _, p := range call.Effects.Writes {
			all = append(all, seenCall{name: "Edit", args: map[string]any{"file_path": p.Name, "patch": c.Arguments}, names: claudeNames("Edit", "Write", c.Name)})
		}
		return all
	}
	written := d.Messages([]llm.Message{{Role: llm.RoleAssistant, Content: llm.Content{c}}})[0].Calls()[0]
	v := seenCall{name: written.Name, dialect: d, indirect: indirect}
	if json.Unmarshal([]byte(written.Arguments), &v.args) != nil {
		v.args = make(map[string]any)
	}
	also := []string{c.Name}
	switch c.Name {
	case "agent":
		v.name, also = "Agent", append(also, "Task")
		rename(v.args, agentArguments, true)
		v.args["subagent_type"] = cmp.Or(v.args["subagent_type"], any("general-purpose"))
	case "multi_edit":
		v.name, also = "MultiEdit", append(also, "Edit")
	}
	v.args = absolute(v.args, root)
	v.names = claudeNames(v.name, also...)
	return []seenCall{v}
}

// absolute makes the paths of arguments absolute.
func absolute(args map[string]any, root string) map[string]any {
	for _, name := range []string{"file_path", "path", "notebook_path"} {
		if path, ok := args[name].(string); ok && path != "" && !filepath.IsAbs(path) {
			args[name] = filepath.Join(root, path)
		}
	}
	return args
}

// agentArguments are the names of the arguments of the tool agent, and those of Claude Code.
var agentArguments = [][2]string{{"task", "prompt"}, {"name", "description"}, {"role", "subagent_type"}}

// rename gives arguments the names of Claude Code, or those of Tenon again.
func rename(args map[string]any, names [][2]string, theirs bool) {
	for _, pair := range names {
		from, to := pair[0], pair[1]
		if !theirs {
			from, to = to, from
		}
		if value, ok := args[from]; ok {
			delete(args, from)
			args[to] = value
		}
	}
}

func claudeNames(name string, also ...string) []string {
	return append([]string{name}, slices.DeleteFunc(also, func(n string) bool { return n == name })...)
}

// input is the JSON of an event about the call.
func (v seenCall) input(call agent.Proposed, more map[string]any) map[string]any {
	in := map[string]any{"tool_name": v.name, "tool_input": v.args, "tool_use_id": call.Call.ID}
	for name, value := range more {
		in[name] = value
	}
	return in
}

// arguments returns the arguments that a hook wrote, as the tool knows them.
func (v seenCall) arguments(input json.RawMessage) string {
	if v.indirect {
		wrapped, _ := json.Marshal(map[string]any{"tool": v.name, "arguments": input}) // JSON always encodes
		return string(wrapped)
	}
	if v.name == "Agent" {
		var args map[string]any
		if json.Unmarshal(input, &args) == nil {
			rename(args, agentArguments, false)
			if args["role"] == "general-purpose" {
				delete(args, "role")
			}
			written, _ := json.Marshal(args) // JSON always encodes
			return string(written)
		}
	}
	c, err := v.dialect.Call(llm.ToolCall{Name: v.names[len(v.names)-1], Arguments: string(input)})
	if err != nil {
		return string(input) // the tool reports the mistake
	}
	return c.Arguments
}

// response is the result of the call in the form of the tool of Claude Code.
func (v seenCall) response(text string) any {
	switch v.name {
	case "Bash":
		return map[string]any{"stdout": text, "stderr": "", "interrupted": false, "isImage": false}
	case "Write", "Edit", "MultiEdit":
		return map[string]any{"filePath": v.args["file_path"], "success": true}
	case "Read":
		return map[string]any{"type": "text", "file": map[string]any{"filePath": v.args["file_path"], "content": text}}
	}
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}

// hookGate applies what hooks decide about calls: a question where the gate allows, and a permission only where a rule of the person could
// give it. In both cases the rules that deny or ask count.
type hookGate struct {
	callHooks
	gate *approval.Gate
}

// gateOf returns the gate of an agent, with its hooks.
func gateOf(a *Agent) agent.Gate {
	if a.hooks == nil || !a.hooks.runner.Has(hooks.PreToolUse, hooks.PermissionRequest) {
		return a.Gate
	}
	return hookGate{callHooks{a.hooks}, a.Gate}
}

// Foresee implements [agent.Foreseer]. A call that began early counts only if the hooks let it run.
func (g hookGate) Foresee(c agent.Proposed) bool { return g.gate.Foresee(c) }

// Decide implements [agent.Gate].
func (g hookGate) Decide(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
	out := make([]agent.Verdict, len(calls))
	var rest []agent.Proposed
	var places []int
	for i, c := range calls {
		v, decided, err := g.decide(ctx, &c)
		if err != nil {
			return nil, err
		}
		if out[i] = v; !decided {
			rest, places = append(rest, c), append(places, i)
		}
	}
	if len(rest) == 0 {
		return out, nil
	}
	verdicts, err := g.gate.Decide(ctx, rest)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		out[place] = verdicts[i]
	}
	return out, nil
}

// decide returns the verdict on a call if hooks decide about it.
func (g hookGate) decide(ctx context.Context, c *agent.Proposed) (v agent.Verdict, decided bool, err error) {
	var r hooks.Result
	g.locked(func() {
		r = g.decided[c.Call.ID]
		c.Changed = c.Changed && !r.Rewritten // a hook wrote these arguments, and no person has seen them
		if r.Rewritten {
			r.Rewritten = false
			g.decided[c.Call.ID] = r
		}
	})
	judged := g.gate.Judge(callOf(*c))
	switch {
	case judged.Action == permission.Allow && r.Ask != nil:
		strict := approval.NewGate(approval.Options{Broker: g.agent.Questions, Judge: asking{g.gate, cmp.Or(r.Ask.Reason, "a hook wants you to decide")}})
		verdicts, err := strict.Decide(ctx, []agent.Proposed{*c})
		if err != nil {
			return v, false, err
		}
		return verdicts[0], true, nil
	case judged.Action != permission.Ask || c.Changed:
		return v, false, nil
	case r.Allow != nil && r.Ask == nil && g.could(*c, judged):
		return agent.Verdict{Allow: true, By: "hooks", Code: codeHookAllowed, Reason: g.say([]string{r.Allow.Reason})}, true, nil
	case g.agent.Questions == nil:
		return v, false, nil
	}
	return g.request(ctx, *c, judged)
}

// request runs the hooks of a permission request.
func (g hookGate) request(ctx context.Context, c agent.Proposed, judged permission.Verdict) (v agent.Verdict, decided bool, _ error) {
	allow, rewritten := true, ""
	seen := g.seen(c)
	for _, one := range seen {
		in := one.input(c, nil)
		delete(in, "tool_use_id")
		r := g.fire(ctx, hooks.PermissionRequest, one.names, in, g.meets(c))
		if r.Deny != nil {
			return agent.Verdict{By: "hooks", Code: codeHookDenied, Reason: g.say([]string{cmp.Or(r.Deny.Reason, "a hook denied it")})}, true, nil
		}
		if allow = allow && r.Allow != nil; one.dialect != nil && r.Input != nil {
			rewritten = one.arguments(r.Input)
		}
	}
	if len(seen) == 0 || !allow || !g.could(c, judged) {
		return v, false, nil
	}
	g.locked(func() {
		r := g.decided[c.Call.ID]
		r.Rewritten = rewritten != ""
		g.decided[c.Call.ID] = r
	})
	return agent.Verdict{Allow: true, By: "hooks", Code: codeHookAllowed, Arguments: rewritten}, true, nil
}

// could reports whether a rule of the person could allow a call: one that the question would offer, or one for all calls of the tool.
func (g hookGate) could(c agent.Proposed, judged permission.Verdict) bool {
	call := callOf(c)
	for _, s := range judged.Suggest {
		if g.gate.Judge(call, s.Rules...).Action == permission.Allow {
			return true
		}
	}
	text := call.Tool
	if server, ok := strings.CutPrefix(text, "mcp__"); ok {
		server, name, _ := strings.Cut(server, "__")
		text = "mcp(" + server + "/" + name + ")"
	}
	rule, err := permission.ParseRule(permission.Allow, permission.User, text, call.Tool)
	return err == nil && g.gate.Judge(call, rule).Action == permission.Allow
}

// asking is a judge that asks where another one allows.
type asking struct {
	of     permission.Judge
	reason string
}

// Judge implements [permission.Judge].
func (a asking) Judge(c permission.Call, grants ...permission.Rule) permission.Verdict {
	v := a.of.Judge(c, grants...)
	if v.Action == permission.Allow {
		v.Action, v.Rule, v.Reason, v.Code = permission.Ask, "hooks", a.reason, codeHookAsked
	}
	return v
}
