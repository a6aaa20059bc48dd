// Package mcp is tenon mcp: the MCP servers of the configuration.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/mcp"
)

// New returns tenon mcp.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers, whose tools the model gets",
		Long: `Manage MCP servers, whose tools the model gets. They are in mcp of tenon.json and in the
.mcp.json of a project, which has no effect before you trust its directory. Tenon starts
a server when the model first uses one of its tools.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newList(env), newShow(env), newAdd(env), newRemove(env), newLogin(env), newLogout(env), newTest(env), newLogs(env))
	return c
}

// place is the configured servers of a directory.
type place struct {
	setup  *app.Setup
	bounds app.Bounds
}

func placeOf(env *command.Env, dir string) (*place, error) {
	setup, bounds, err := env.Bounds(dir)
	if err != nil {
		return nil, err
	}
	return &place{setup, bounds}, nil
}

func (p *place) names() []string { return slices.Sorted(maps.Keys(p.setup.Config.MCP)) }

// inert says that the servers of the project have no effect.
func (p *place) inert() string { return p.setup.Config.MCPFile + " has no effect before: tenon trust" }

// named returns a configured server.
func (p *place) named(name string) (config.MCPServer, error) {
	c, ok := p.setup.Config.MCP[name]
	if ok && (c.Command != "" || c.URL.IsSet()) {
		return c, nil
	}
	err := fmt.Errorf("%w%s; see: tenon mcp list", &mcp.UnknownError{Name: name}, near(name, p.names()))
	if p.setup.Config.MCPInert {
		err = fmt.Errorf("%w. %s has no effect before: tenon trust", err, p.setup.Config.MCPFile)
	}
	return c, err
}

func near(name string, names []string) string {
	if n := command.Nearest(name, names); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// client returns a client of some servers.
func (p *place) client(version string, o func(*mcp.Options), names ...string) *mcp.Client {
	var servers []mcp.Server
	for _, name := range names {
		servers = append(servers, app.MCPServer(p.setup, name, p.setup.Config.MCP[name], p.bounds.Root))
	}
	options := app.MCPOptions(p.setup, p.bounds, version)
	if o != nil {
		o(&options)
	}
	return mcp.New(servers, options)
}

// listed is a server as JSON.
type listed struct {
	Name      string          `json:"name"`
	From      string          `json:"from"` // user or project
	Transport string          `json:"transport"`
	Target    string          `json:"target"` // the command or the address, without secrets
	Enabled   bool            `json:"enabled"`
	Known     bool            `json:"known"` // its tools are remembered
	Tools     []string        `json:"tools"`
	Pending   *mcp.Difference `json:"pending,omitempty"`
	Prompts   []string        `json:"prompts,omitempty"`
	Details   []mcp.Offer     `json:"details,omitempty"`
}

func (p *place) listed(name, version string) listed {
	c := p.setup.Config.MCP[name]
	l := listed{
		Name: name, From: "user", Transport: "stdio", Target: strings.Join(append([]string{c.Command}, c.Args...), " "),
		Enabled: c.Enabled == nil || *c.Enabled,
	}
	if c.Project {
		l.From = "project"
	}
	if c.URL.IsSet() {
		l.Transport, l.Target = string(cmp.Or(c.Transport, config.MCPOverHTTP)), c.URL.String()
	}
	client := p.client(version, nil, name)
	status := client.Status()[0]
	_ = client.Close() // it has no connection
	l.Known, l.Tools, l.Pending, l.Prompts = status.Known, status.Tools, status.Pending, status.Prompts
	return l
}

// state describes a server in some words.
func (l listed) state() string {
	switch {
	case !l.Enabled:
		return "disabled"
	case !l.Known:
		return "not connected yet"
	case l.Pending != nil:
		return tool.Count(len(l.Tools), "tool") + ", changed: " + l.Pending.String()
	}
	return tool.Count(len(l.Tools), "tool")
}

func newList(env *command.Env) *cobra.Command {
	var asJSON bool
	var dir string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers; connects to none",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := placeOf(env, dir)
			if err != nil {
				return err
			}
			all := []listed{}
			var rows [][]string
			for _, name := range p.names() {
				if c := p.setup.Config.MCP[name]; c.Command == "" && !c.URL.IsSet() {
					continue
				}
				l := p.listed(name, env.Version)
				all = append(all, l)
				rows = append(rows, []string{l.Name, l.From, l.Transport, term.OneLine(l.state()), term.OneLine(l.Target)})
			}
			r := command.Result{JSON: command.Lines(all), Text: env.Table([]string{"NAME", "FROM", "TRANSPORT", "STATE", "TARGET"}, rows)}
			if len(all) == 0 {
				r.Text = "no MCP servers; add one with: tenon mcp add NAME -- COMMAND\n"
			}
			if p.setup.Config.MCPInert {
				r.Note = p.inert() + "\n"
			}
			return env.Print(asJSON, r)
		},
	}
	command.DirFlag(c, &dir, "list the servers of this `directory`; default: the current one")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func newShow(env *command.Env) *cobra.Command {
	var asJSON bool
	var dir string
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show an MCP server with its tools, as last seen",
		Args:  command.ExactArgs("the name of a server"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := placeOf(env, dir)
			if err != nil {
				return err
			}
			if _, err := p.named(args[0]); err != nil {
				return err
			}
			l := p.listed(args[0], env.Version)
			client := p.client(env.Version, nil, args[0])
			defer client.Close()
			var b strings.Builder
			fmt.Fprintf(&b, "%s (%s, %s): %s\n%s\n", l.Name, l.From, l.Transport, term.OneLine(l.state()), term.OneLine(l.Target))
			for _, t := range client.Tools() {
				spec := t.Spec()
				l.Details = append(l.Details, mcp.Offer{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
				b.WriteString(env.Wrap("  "+spec.Name+"  ", 4, term.OneLine(spec.Description)))
			}
			for _, prompt := range client.Prompts() {
				b.WriteString(env.Wrap("  /"+prompt.Name+"  ", 4, term.OneLine(prompt.Description)))
			}
			return env.Print(asJSON, command.Result{JSON: l, Text: b.String()})
		},
		ValidArgsFunction: complete(env),
	}
	command.DirFlag(c, &dir, "show the server of this `directory`; default: the current one")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func complete(env *command.Env) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		p, err := placeOf(env, "")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// tested is the outcome of a test as JSON.
type tested struct {
	mcp.Status
	Accepted bool `json:"accepted,omitempty"`
}

func newTest(env *command.Env) *cobra.Command {
	var accept, asJSON bool
	var dir string
	c := &cobra.Command{
		Use:   "test [NAME...]",
		Short: "Connect to MCP servers and remember their tools",
		Long: `Connect to MCP servers, all without a name, and remember their tools. If a server has other tools
than those that you accepted, show the difference. The model does not get new and changed
tools before you accept them with --accept.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, names []string) error {
			p, err := placeOf(env, dir)
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := p.named(name); err != nil {
					return err
				}
			}
			if len(names) == 0 {
				for _, s := range app.MCPServers(p.setup, p.bounds.Root) {
					names = append(names, s.Name)
				}
			}
			if p.setup.Config.MCPInert {
				env.Tell("%s", p.inert())
			}
			return p.test(c.Context(), env, names, accept, asJSON)
		},
		ValidArgsFunction: complete(env),
	}
	command.DirFlag(c, &dir, "test the servers of this `directory`; default: the current one")
	c.Flags().BoolVar(&accept, "accept", false, "accept new and changed tools")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// test connects to servers one after the other, and prints what they have.
func (p *place) test(ctx context.Context, env *command.Env, names []string, accept, asJSON bool) error {
	client := p.client(env.Version, nil, names...)
	defer client.Close()
	var failed error
	for _, name := range names {
		t := tested{}
		var err error
		t.Status, err = client.Connect(ctx, name)
		if err == nil && t.Pending != nil && accept {
			if err = client.Accept(name); err == nil {
				t.Accepted = true
			}
		}
		failed = cmp.Or(failed, err)
		if err := env.Print(asJSON, command.Result{JSON: t, Text: t.text(err)}); err != nil {
			return err
		}
	}
	if failed != nil {
		return command.ExitCode(1)
	}
	return nil
}

// text describes the outcome in one or two lines.
func (t tested) text(err error) string {
	switch {
	case t.NeedsLogin:
		return fmt.Sprintf("%s: needs a login; run: tenon mcp login %s\n", t.Name, t.Name)
	case err != nil:
		return fmt.Sprintf("%s: %s; see: tenon mcp logs %s\n", t.Name, term.OneLine(err.Error()), t.Name)
	}
	text := fmt.Sprintf("%s: connected with protocol %s, %s: %s\n", t.Name, t.Protocol, tool.Count(len(t.Tools), "tool"), term.OneLine(strings.Join(t.Tools, ", ")))
	if t.Left > 0 {
		text += fmt.Sprintf("  more than %d tools are left out\n", len(t.Tools))
	}
	if t.Pending != nil && !t.Accepted {
		text += fmt.Sprintf("  changed: %s; accept with: tenon mcp test --accept %s\n", term.OneLine(t.Pending.String()), t.Name)
	} else if t.Accepted {
		text += "  accepted: " + term.OneLine(t.Pending.String()) + "\n"
	}
	return text
}

func newLogs(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the log of an MCP server",
		Args:  command.ExactArgs("the name of a server"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := mcp.LogFile(app.MCPDir(env.Getenv), args[0])
			var text []byte
			for _, name := range []string{file + ".old", file} {
				part, err := os.ReadFile(name)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				text = append(text, part...)
			}
			if len(text) == 0 {
				return fmt.Errorf("there is no log of %q; connect with: tenon mcp test %s", args[0], args[0])
			}
			return env.Print(false, command.Result{Text: term.Harmless(string(text))})
		},
		ValidArgsFunction: complete(env),
	}
}
