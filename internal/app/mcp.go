package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/slash"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/catalog"
	"github.com/tenon-agent/tenon/tool/mcp"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// mcpName is the directory in the data directory with the lists and logs of MCP servers.
const mcpName = "mcp"

// MCPDir returns the directory with the lists and logs of MCP servers.
func MCPDir(getenv func(string) string) string {
	data, err := DataDir(getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(data, mcpName)
}

// disabled reports whether the configuration switches a server off.
func disabled(c config.MCPServer) bool { return c.Enabled != nil && !*c.Enabled }

// MCPServers returns the enabled MCP servers of the configuration, by name. They run in a directory.
func MCPServers(s *Setup, dir string) (all []mcp.Server) {
	return slices.DeleteFunc(mcpServers(s, dir), func(o mcp.Server) bool { return o.Off })
}

func mcpServers(s *Setup, dir string) (all []mcp.Server) {
	for _, name := range slices.Sorted(maps.Keys(s.Config.MCP)) {
		if c := s.Config.MCP[name]; c.Command != "" || c.URL.IsSet() {
			all = append(all, MCPServer(s, name, c, dir))
		}
	}
	return all
}

// MCPServer returns a configured server, which runs in a directory.
func MCPServer(s *Setup, name string, c config.MCPServer, dir string) mcp.Server {
	out := mcp.Server{
		Name: name, ID: idOf(name, c, s.Config.Root), Dir: dir, Confine: c.Sandbox, Sampling: c.Sampling, Off: disabled(c), Timeout: c.Timeout,
		Allow: c.Tools.Allow, Deny: c.Tools.Deny, ReadOnly: c.ReadOnly,
	}
	if c.Command != "" {
		program := c.Command
		if rest, home := strings.CutPrefix(program, "~/"); home {
			program = filepath.Join(s.home(), rest)
		}
		out.Command = append([]string{program}, c.Args...)
		out.Env = func(ctx context.Context) (env []string, err error) {
			for _, name := range slices.Sorted(maps.Keys(c.Env)) {
				value, err := secretOf(ctx, s, c.Env[name])
				if err != nil {
					return nil, err
				}
				env = append(env, name+"="+value)
			}
			return env, nil
		}
		return out
	}
	out.SSE = c.Transport == config.MCPOverSSE
	out.OAuth = registered(s, c.OAuth)
	out.Address = func(ctx context.Context) (string, error) {
		address, err := c.URL.Get(ctx)
		s.Secrets.Hide(redact.InURL(address)...)
		return address, err
	}
	out.Header = func(ctx context.Context) (http.Header, error) {
		h := http.Header{}
		for name, v := range c.Headers {
			value, err := secretOf(ctx, s, v)
			if err != nil {
				return nil, err
			}
			h.Set(name, value)
		}
		return h, nil
	}
	return out
}

// registered returns the client of a server.
func registered(s *Setup, c config.MCPOAuth) mcp.Registered {
	secret := func(v redact.Value) func(context.Context) (string, error) {
		if !v.IsSet() {
			return nil
		}
		return func(ctx context.Context) (string, error) { return secretOf(ctx, s, v) }
	}
	out := mcp.Registered{
		ID: c.ClientID, Scopes: c.Scopes, Secret: secret(c.ClientSecret), TokenURL: c.TokenURL.Get,
		Service: c.Grant == config.GrantClientCredentials || c.KeyFile != "",
	}
	if c.KeyFile != "" {
		out.Key = func(context.Context) (string, error) {
			data, err := os.ReadFile(s.paths(s.Config.Root, []string{c.KeyFile})[0])
			return string(data), err
		}
	}
	if i := c.IDP; i.IDToken.IsSet() {
		out.Identity = &mcp.Identity{ID: i.ClientID, Secret: secret(i.ClientSecret), Token: secret(i.IDToken), TokenURL: i.TokenURL.Get}
	}
	return out
}

// secretOf returns a value of the configuration. If it comes from a reference, no output shows it from now on.
func secretOf(ctx context.Context, s *Setup, v redact.Value) (string, error) {
	text, err := v.Get(ctx)
	if err == nil && text != v.String() {
		_, bare, _ := strings.Cut(text, " ") // Bearer TOKEN
		s.Secrets.Hide(text, bare)
	}
	return text, err
}

// idOf names what the list of a server is remembered for. A server of a project is another one than that of the same name elsewhere.
func idOf(name string, c config.MCPServer, root string) string {
	if !c.Project {
		root = ""
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{name, root, c.Command, c.URL.String()}, c.Args...), "\x00")))
	return hex.EncodeToString(sum[:])
}

// MCPOptions returns the options of a client of servers that is not part of a session.
func MCPOptions(s *Setup, b Bounds, version string) mcp.Options {
	return mcp.Options{
		Dir: MCPDir(s.getenv), Version: version, Roots: append([]string{b.Root}, b.Roots...), Redact: s.Secrets.Redact,
		Environ: func() []string { return sandbox.Environment(os.Environ(), nil, s.secretVars()) },
		Confine: func(c *exec.Cmd) (func(*exec.Cmd) error, func() error, error) { return confine(b, c) },
		// Some servers offer tools only to a client that can ask a person or a model: without these, their lists would differ from those in a session.
		Elicit: func(context.Context, mcp.Elicitation) (mcp.Elicited, error) { return mcp.Elicited{}, nil },
		Sample: func(context.Context, mcp.Sampling) (llm.Message, string, error) {
			return llm.Message{}, "", errors.New("no session is open")
		},
		OAuth: mcp.OAuth{
			Hide: s.Secrets.Hide,
			Load: func(ctx context.Context, server string) (string, error) {
				return s.Keys.Reveal(ctx, LoginName(server), "")
			},
			Save: func(ctx context.Context, server, text string) error {
				key, err := keys.New(text)
				if err == nil {
					s.Secrets.Hide(text)
					_, err = s.Keys.Set(ctx, LoginName(server), "", key)
				}
				return err
			},
		},
	}
}

// LoginName returns the name under which the keys have the login at an MCP server.
func LoginName(server string) string { return "mcp." + mcp.ServerName(server) }

// confine prepares a command of a server for the sandbox of commands.
func confine(b Bounds, c *exec.Cmd) (func(*exec.Cmd) error, func() error, error) {
	if b.Sandbox == nil && b.Off != "" {
		return nil, nil, errors.New("cannot run the server in the sandbox: " + b.Off)
	}
	if b.Sandbox == nil { // a free mode
		return (*exec.Cmd).Start, func() error { return nil }, nil
	}
	var names []string
	for _, v := range c.Env {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	confined, err := b.Sandbox.Pass(names...).Wrap(c)
	if err != nil {
		return nil, nil, err
	}
	return confined.Start, confined.Close, nil
}

// servers are the MCP servers of an agent: its own ones, or those of its owner.
type servers struct {
	agent   *Agent
	client  *mcp.Client // nil: none
	joining sync.Mutex  // held by who changes the tools of the agent

	first   sync.Once
	waiting sync.Mutex
	unseen  []string        // servers of which nothing was known at the start
	seen    <-chan struct{} // closed when these have answered or failed
}

// newServers returns the servers of an agent. It starts none.
func newServers(a *Agent, version string) *servers {
	m, s := &servers{agent: a}, a.spec.Servers
	if a.spec.child != nil {
		m.client = a.spec.child.owner.mcp.client
		return m
	}
	if s == nil || len(s.Config.MCP) == 0 {
		return m
	}
	o := MCPOptions(s, a.spec.Bounds, version)
	o.Confine = func(c *exec.Cmd) (func(*exec.Cmd) error, func() error, error) { return confine(a.site.now(), c) }
	o.Learned, o.Changed, o.Elicit, o.Sample = m.learned, m.changed, m.elicit, m.sample
	m.client = mcp.New(mcpServers(s, a.spec.Bounds.Root), o)
	return m
}

// close ends the servers of the agent, but not those of its owner.
func (m *servers) close() error {
	if m.client == nil || m.agent.spec.child != nil {
		return nil
	}
	return m.client.Close()
}

// learn connects to the servers of which no list is remembered, in the background.
func (m *servers) learn() {
	if m.client != nil && m.agent.spec.child == nil {
		m.waiting.Lock()
		defer m.waiting.Unlock()
		m.unseen, m.seen = m.client.Learn()
	}
}

// newWait is how long the first run waits for servers of which nothing is known. Without the wait, a run of one turn would not have their tools.
const newWait = 5 * time.Second

// await lets the first run of the agent wait for the servers of which nothing is known.
func (m *servers) await(ctx context.Context, _ session.RunStarted) error {
	m.waiting.Lock()
	names, seen := m.unseen, m.seen
	m.waiting.Unlock()
	if len(names) == 0 {
		return nil
	}
	m.first.Do(func() {
		tell := func(format string, args ...any) { m.agent.Announce(live.Notice{Text: fmt.Sprintf(format, args...)}) }
		clock := time.NewTimer(newWait)
		defer clock.Stop()
		select {
		case <-seen:
		default:
			tell("connecting for the first time: %s", strings.Join(names, ", "))
			select {
			case <-seen:
			case <-clock.C:
			case <-ctx.Done():
				return
			}
		}
		for _, s := range m.client.Status() {
			switch {
			case s.Known || !slices.Contains(names, s.Name):
			case s.Error != "":
				tell("the MCP server %s does not work: %s; see: tenon mcp logs %s", s.Name, s.Error, s.Name)
			default:
				tell("the MCP server %s has not answered within %s; its tools join at the turn after its answer", s.Name, newWait)
			}
		}
	})
	return nil
}

// connected returns the tools of connections. A sub-agent with a write scope gets only those that read: no one can say what the others change.
func (m *servers) connected() External {
	e := m.agent.spec.External
	if m.client == nil {
		return e
	}
	e.Groups = slices.Clone(e.Groups)
	for s, tools := range m.client.Groups {
		if m.agent.spec.writable != nil {
			tools = slices.DeleteFunc(tools, unscoped)
		}
		if len(tools) > 0 {
			e.Groups = append(e.Groups, catalog.Group{Name: s.Name, Tools: tools, Off: s.Off})
		}
	}
	return e
}

// unscoped reports whether a tool can change what no scope covers.
func unscoped(t tool.Tool) bool {
	r, ok := t.(interface{ Reads() bool })
	return !ok || !r.Reads()
}

// learned adds the tools of a server to the session from the next turn on.
func (m *servers) learned(server string, tools int) {
	m.agent.Announce(live.Notice{Text: fmt.Sprintf("the MCP server %s has %s; see: tenon mcp show %s", server, tool.Count(tools, "tool"), server)})
	m.join()
}

func (m *servers) join() {
	m.joining.Lock()
	defer m.joining.Unlock()
	if err := m.agent.external.change(context.Background(), m.connected()); err != nil {
		m.agent.Announce(live.Notice{Text: fmt.Sprintf("cannot add the tools of MCP servers: %v", err)})
	}
}

// configured returns an error if a change names a server that is not configured.
func (m *servers) configured(change string) error {
	name := strings.TrimPrefix(change, "-")
	if m.client != nil && slices.ContainsFunc(m.client.Status(), func(s mcp.Status) bool { return s.Name == name }) {
		return nil
	}
	return &mcp.UnknownError{Name: name}
}

// change switches a server on or off. Its tools join or leave at the next turn.
func (m *servers) change(change string) error {
	name, off := strings.CutPrefix(change, "-")
	if err := m.client.Switch(name, !off); err != nil {
		return err
	}
	m.join()
	return nil
}

// list returns the servers with their states.
func (m *servers) list() (all []conversation.Server) {
	if m.client == nil {
		return nil
	}
	for _, s := range m.client.Status() {
		one := conversation.Server{Name: s.Name, State: "not started", Tools: len(s.Tools), Detail: s.Error}
		switch {
		case s.Off:
			one.State, one.Detail = conversation.ServerOff, ""
		case s.Pending != nil:
			one.State, one.Detail = "changed tools", s.Pending.String()+"; to accept them: tenon mcp test --accept "+s.Name
		case s.Connected:
			one.State = "connected"
		case s.NeedsLogin:
			one.State, one.Detail = "needs login", "to log in: tenon mcp login "+s.Name
		case s.Error != "":
			one.State = "failed"
		}
		all = append(all, one)
	}
	return all
}

// The answers to a question about changed tools.
const (
	acceptTools = "Use the new list"
	refuseTools = "Keep the accepted tools"
)

// changed shows that a server has other tools than the accepted ones, and asks if someone can answer.
func (m *servers) changed(server string, d mcp.Difference) {
	text := fmt.Sprintf("the MCP server %s changed its tools: %s", server, d)
	m.agent.Announce(live.Notice{Text: text + "; new and changed tools are not used until you accept them: tenon mcp test --accept " + server})
	if m.agent.Questions == nil {
		return
	}
	m.client.Do(func(ctx context.Context) {
		got, err := m.agent.Questions.Ask(ctx, session.Asking{Questions: []ask.Question{{
			Text: strings.ToUpper(text[:1]) + text[1:] + ". Use them?", Options: []ask.Option{{Label: acceptTools}, {Label: refuseTools}},
		}}})
		if err != nil || len(got) != 1 || !slices.Contains(got[0].Choices, acceptTools) {
			return
		}
		if err := m.client.Accept(server); err != nil {
			m.agent.Announce(live.Notice{Text: err.Error()})
			return
		}
		m.join()
		m.agent.Announce(live.Notice{Text: "the new tools of the MCP server " + server + " join at the next turn"})
	})
}

// The answers to a question of a server.
const (
	answerServer  = "Answer"
	visited       = "Done"
	declineServer = "Decline"
)

// elicit asks the person for a server.
func (m *servers) elicit(ctx context.Context, e mcp.Elicitation) (mcp.Elicited, error) {
	text, yes := fmt.Sprintf("The MCP server %s asks: %s", e.Server, e.Message), answerServer
	if e.URL != "" {
		text, yes = fmt.Sprintf("%s\nIt wants you to open %s. Tenon does not open it.", text, e.URL), visited
	}
	got, err := m.ask(ctx, []ask.Question{{Text: text, Options: []ask.Option{{Label: yes}, {Label: declineServer}}}})
	if err != nil || len(got) != 1 || !slices.Contains(got[0].Choices, yes) {
		return mcp.Elicited{}, err
	}
	out := mcp.Elicited{Accept: true}
	if len(e.Fields) == 0 {
		return out, nil
	}
	var questions []ask.Question
	for _, f := range e.Fields {
		q := ask.Question{Text: f.Text, Multiple: f.Multiple, Default: f.Default}
		if !f.Required {
			q.Text += " (optional)"
		}
		for _, option := range f.Options {
			q.Options = append(q.Options, ask.Option{Label: option})
		}
		questions = append(questions, q)
	}
	if got, err = m.ask(ctx, questions); err != nil {
		return mcp.Elicited{}, err
	}
	for _, g := range got {
		out.Values = append(out.Values, g.Choices)
	}
	return out, nil
}

// sample lets the model of the session answer a request of a server. The run of the call pays for it, and the journal says so.
func (m *servers) sample(ctx context.Context, q mcp.Sampling) (answer llm.Message, model string, err error) {
	client := m.agent.client()
	model = client.Model().Ref()
	if isOffline(client) {
		return answer, model, errors.New("there is no model")
	}
	for i := range q.Messages {
		for j, part := range q.Messages[i].Content {
			if t, ok := part.(llm.Text); ok {
				q.Messages[i].Content[j] = llm.Text{Text: m.agent.spec.Secrets.Redact(t.Text)}
			}
		}
	}
	req := &llm.Request{System: m.agent.spec.Secrets.Redact(q.System), Messages: q.Messages, Settings: llm.Settings{MaxTokens: q.MaxTokens, Thinking: llm.ThinkOff}}
	for e, err := range budget.Of(ctx).Client(client).Stream(ctx, req) {
		if err != nil {
			return answer, model, err
		}
		switch e := e.(type) {
		case llm.Charged:
			conversation.Spent(m.agent.Agent, "a request of the MCP server "+q.Server+" to the model failed", e.Model, e.Usage)
		case llm.Done:
			answer = e.Message
		}
	}
	answer.Usage.Cost = client.Model().Price.Cost(answer.Usage)
	conversation.Spent(m.agent.Agent, "the MCP server "+q.Server+" asked the model", model, answer.Usage)
	return answer, model, nil
}

func (m *servers) ask(ctx context.Context, questions []ask.Question) ([]ask.Answer, error) {
	if m.agent.Questions == nil {
		return nil, nil // declined
	}
	got, err := m.agent.Questions.Ask(ctx, session.Asking{Questions: questions})
	if errors.Is(err, approval.ErrNobody) {
		return nil, nil // declined
	}
	return got, err
}

// prompts returns the prompts that the servers of the configuration are known to have, as commands. It connects to none.
func prompts(s *Setup) (all []slash.Command) {
	if len(s.Config.MCP) == 0 {
		return nil
	}
	c := mcp.New(MCPServers(s, ""), mcp.Options{Dir: MCPDir(s.getenv)})
	defer c.Close()
	for _, p := range c.Prompts() {
		var hint []string
		for _, a := range p.Arguments {
			if a.Required {
				hint = append(hint, "<"+a.Name+">")
			} else {
				hint = append(hint, "["+a.Name+"]")
			}
		}
		all = append(all, slash.Command{Name: p.Name, Description: cmp.Or(slash.OneLine(p.Description), "A prompt of an MCP server"), Hint: slash.OneLine(strings.Join(hint, " "))})
	}
	return all
}

// expand returns the prompt of a server that a person called as a command, with the call before it.
func (m *servers) expand(ctx context.Context, name, arguments string) (llm.Content, error) {
	if m.client == nil {
		return nil, &mcp.PromptError{Name: name}
	}
	content, err := m.client.Expand(ctx, name, slash.Words(arguments))
	if err != nil {
		return nil, err
	}
	return append(llm.Content{llm.Text{Text: strings.TrimSpace("/" + name + " " + arguments)}}, content...), nil
}

// mentions finds @server:uri in a prompt.
var mentions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)@([A-Za-z0-9][A-Za-z0-9._-]*):(\S+)`) })

// hook adds the resources that a prompt of the person names as @server:uri.
func (m *servers) hook() agent.Hook {
	h := agent.Hook{Name: "mcp"}
	if m.client != nil {
		h.Prompt = m.mentioned
	}
	if m.client != nil && m.agent.spec.child == nil {
		h.BeforeRun = m.await
	}
	return h
}

func (m *servers) mentioned(ctx context.Context, prompt session.Message) (add string, err error) {
	if prompt.Speaker.Kind != "" && prompt.Speaker.Kind != session.SpeakerPerson {
		return "", nil
	}
	typed, _ := firstText(prompt.Message) // not in the attached files, nor in what a server wrote
	var b strings.Builder
	for _, found := range mentions().FindAllStringSubmatch(typed.Text, 8) {
		server, uri := found[1], strings.TrimRight(found[2], ".,;!?)\"'")
		content, err := m.client.Read(ctx, server, uri)
		if _, other := errors.AsType[*mcp.UnknownError](err); other {
			continue
		}
		if err != nil {
			m.agent.Announce(live.Notice{Text: fmt.Sprintf("cannot read @%s:%s: %v", server, uri, err)})
			fmt.Fprintf(&b, "The resource @%s:%s cannot be read: %v\n", server, uri, err)
			continue
		}
		fmt.Fprintf(&b, "The resource @%s:%s:\n%s\n", server, uri, content.Text())
	}
	return m.agent.spec.Secrets.Redact(b.String()), nil
}
