package mcp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
)

// The scopes.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

type addOptions struct {
	url, transport, scope string
	env, headers          []string
	noTest                bool
}

func newAdd(env *command.Env) *cobra.Command {
	var o addOptions
	c := &cobra.Command{
		Use:   "add NAME [flags] [--] COMMAND-OR-URL [ARGS...]",
		Short: "Add an MCP server to your configuration or to the project",
		Long: `Add an MCP server to your configuration, or with --scope project to the .mcp.json of the
project, which other agents read, too. Tenon then connects to it and remembers its tools.

Write secrets as references: --env 'TOKEN=$TOKEN' keeps the name of the variable and not
its value.`,
		Example: `  tenon mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  tenon mcp add --transport http docs https://mcp.example.com/mcp
  tenon mcp add --env 'TOKEN=$GITHUB_TOKEN' github -- github-mcp-server stdio`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usagef(c, "the name of the server is missing")
			}
			server, err := o.server(c, args[1:])
			if err != nil {
				return err
			}
			return o.add(c.Context(), env, c, args[0], server)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.url, "url", "", "the `address` of a server on the network")
	command.ChoiceFlag(c, &o.transport, "transport", []string{"stdio", "http", "sse"}, "transport", "stdio, http or sse; default: by the command or url")
	command.ChoiceFlag(c, &o.scope, "scope", []string{scopeUser, scopeProject}, "scope", "user (default) or project")
	f.StringArrayVarP(&o.env, "env", "e", nil, "a variable of the server as `NAME=VALUE`; can be repeated")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "an HTTP header as `'NAME: VALUE'`; can be repeated")
	f.BoolVar(&o.noTest, "no-test", false, "do not connect to the server")
	return c
}

// server returns the entry of the configuration.
func (o *addOptions) server(c *cobra.Command, rest []string) (map[string]any, error) {
	address := o.url
	if address == "" && len(rest) == 1 && (strings.HasPrefix(rest[0], "https://") || strings.HasPrefix(rest[0], "http://")) {
		address, rest = rest[0], nil
	}
	entry := map[string]any{}
	switch {
	case address != "" && (len(rest) > 0 || o.transport == "stdio"):
		return nil, command.Usagef(c, "a server has a command or a url, not both")
	case address != "":
		if to, err := url.Parse(address); err != nil || to.Host == "" {
			return nil, command.Usagef(c, "%q is not an address", address)
		}
		entry["url"] = address
		if o.transport == "sse" {
			entry["transport"] = "sse"
		}
	case len(rest) == 0:
		return nil, command.Usagef(c, "the command or the url of the server is missing")
	case o.transport == "http" || o.transport == "sse":
		return nil, command.Usagef(c, "the transport %s needs a url", o.transport)
	default:
		entry["command"] = rest[0]
		if len(rest) > 1 {
			entry["args"] = rest[1:]
		}
	}
	env, err := pairs(c, o.env, "=", "env")
	if err != nil {
		return nil, err
	}
	headers, err := pairs(c, o.headers, ":", "header")
	if err != nil {
		return nil, err
	}
	if len(env) > 0 {
		entry["env"] = env
	}
	if len(headers) > 0 {
		entry["headers"] = headers
	}
	return entry, nil
}

func pairs(c *cobra.Command, texts []string, sign, flag string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, sign)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, command.Usagef(c, "--%s needs a name and a value, joined by %q", flag, sign)
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

func (o *addOptions) add(ctx context.Context, env *command.Env, c *cobra.Command, name string, entry map[string]any) error {
	p, err := placeOf(env, "")
	if err != nil {
		return err
	}
	if strings.ContainsAny(name, "/~ \t") {
		return command.Usagef(c, "%q is not a name; use letters, digits, dots, hyphens and underscores", name)
	}
	file, key := p.setup.Config.UserFile, "/mcp/"+name
	if o.scope == scopeProject {
		file, key = filepath.Join(p.setup.Config.Root, config.MCPName), "/mcpServers/"+name
		entry = shared(entry)
	}
	if before, there := p.setup.Config.MCP[name]; there && (before.Command != "" || before.URL.IsSet()) {
		return fmt.Errorf("there is an MCP server %s already; remove it with: tenon mcp remove %s", name, name)
	}
	if err := config.Set(ctx, file, key, entry); err != nil {
		return err
	}
	tidy(file, key)
	text := fmt.Sprintf("added %s to %s\n", name, file)
	if err := env.Print(false, command.Result{Text: text}); err != nil {
		return err
	}
	if p, err = placeOf(env, ""); err != nil { // with the new entry
		return err
	}
	if p.setup.Config.MCPInert && o.scope == scopeProject {
		return env.Print(false, command.Result{Text: "it has no effect before: tenon trust\n"})
	}
	if o.noTest {
		return nil
	}
	return p.test(ctx, env, []string{name}, false, false)
}

// tidy lets others read the file of a project, and leaves no lock next to it.
func tidy(file, key string) {
	if strings.HasPrefix(key, "/mcpServers/") {
		_, _ = os.Remove(file+".lock"), os.Chmod(file, 0o644)
	}
}

// shared is an entry in the format of .mcp.json. Its references are ${NAME}.
func shared(entry map[string]any) map[string]any {
	if entry["url"] != nil {
		entry["type"] = "http"
		if entry["transport"] != nil {
			entry["type"] = "sse"
		}
		delete(entry, "transport")
	}
	for _, part := range []string{"env", "headers"} {
		values, _ := entry[part].(map[string]string)
		for name, value := range values {
			if i := strings.Index(value, "$"); i >= 0 && !strings.HasPrefix(value[i:], "${") && !strings.Contains(value[i+1:], "$") {
				values[name] = value[:i] + "${" + value[i+1:] + "}"
			}
		}
	}
	return entry
}

func newRemove(env *command.Env) *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an MCP server from your configuration or the project",
		Args:  command.ExactArgs("the name of a server"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := placeOf(env, "")
			if err != nil {
				return err
			}
			file, key := p.setup.Config.UserFile, "/mcp/"+args[0]
			if scope == scopeProject || scope == "" && p.setup.Config.MCP[args[0]].Project {
				file, key = filepath.Join(p.setup.Config.Root, config.MCPName), "/mcpServers/"+args[0]
			}
			found, err := config.Remove(c.Context(), file, key)
			tidy(file, key)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("%s has no MCP server %q%s", file, args[0], near(args[0], p.names()))
			}
			return env.Print(false, command.Result{Text: fmt.Sprintf("removed %s from %s\n", args[0], file)})
		},
		ValidArgsFunction: complete(env),
	}
	command.ChoiceFlag(c, &scope, "scope", []string{scopeUser, scopeProject}, "scope", "user or project; default: where the server is")
	return c
}
