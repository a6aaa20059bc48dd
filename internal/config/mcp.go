package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/redact"
)

// MCPName is the name of the file in the root of a project that lists its MCP servers, in the format of Claude Code.
const MCPName = ".mcp.json"

// MCPServer configures an MCP server: a command, or an address.
type MCPServer struct {
	Command string                  `json:"command" is:"command" doc:"The program of a server on this machine."`
	Args    []string                `json:"args" is:"argument" doc:"The arguments of the program."`
	Env     map[string]redact.Value `json:"env" is:"secret" keys:"variable" doc:"Environment variables of the program, preferably as references: $NAME or $(command). It gets no others but the usual ones, such as PATH and HOME."`

	URL       redact.Value            `json:"url" is:"url" doc:"The address of a server on the network."`
	Transport MCPTransport            `json:"transport" doc:"The transport of a server on the network. Default: http."`
	Headers   map[string]redact.Value `json:"headers" is:"secret" keys:"header" doc:"HTTP headers, preferably as references: Bearer $NAME."`

	OAuth MCPOAuth `json:"oauth" doc:"The registered client for logins. Default: Tenon registers itself at the server."`

	Timeout  time.Duration `json:"timeout" min:"0.000000001" doc:"The longest time of a call. Default: 5m."`
	Enabled  *bool         `json:"enabled" doc:"Whether Tenon uses the server. Default: true."`
	Tools    MCPTools      `json:"tools" doc:"The tools that the model gets."`
	ReadOnly []string      `json:"read_only" is:"glob" doc:"Names of tools that only read, with * and ?. They run like other reads. Tenon does not believe what a server says about that."`
	Sandbox  bool          `json:"sandbox" doc:"Whether the program runs in the sandbox of commands."`
	Sampling bool          `json:"sampling" doc:"Whether the server may ask your model for answers during a call, at the expense of the run."`

	Project bool `json:"-"` // it comes from the project's file
}

// MCPTools selects tools of a server.
type MCPTools struct {
	Allow []string `json:"allow" is:"glob" doc:"Names of the tools that the model gets, with * and ?. Default: all."`
	Deny  []string `json:"deny" is:"glob" doc:"Names of the tools that the model does not get, with * and ?."`
}

// MCPOAuth is a registered OAuth client.
type MCPOAuth struct {
	ClientID     string       `json:"client_id" is:"argument" doc:"The ID of the client, or the https address of the document that describes it."`
	ClientSecret redact.Value `json:"client_secret" is:"secret" doc:"The secret of the client, preferably as a reference."`
	Grant        MCPGrant     `json:"grant" doc:"How Tenon gets tokens: login (a person logs in), client_credentials (the client has rights of its own). Default: login."`
	KeyFile      string       `json:"private_key_file" is:"path" doc:"The file with the private key, in PEM, with which a client of the grant client_credentials signs its requests, instead of a secret."`
	TokenURL     redact.Value `json:"token_url" is:"url" doc:"Where the client gets tokens without a login. Default: where the server says, if that is on its own host."`
	IDP          MCPIDP       `json:"idp" doc:"The identity provider that vouches for you, instead of a login."`
	Port         int          `json:"port" min:"1" max:"65535" doc:"The port of the callback on this machine. Default: any free port."`
	Scopes       []string     `json:"scopes" is:"argument" doc:"The scopes to ask for. Default: those that the server names."`
}

// MCPIDP is an identity provider that vouches for a person at a server.
type MCPIDP struct {
	TokenURL     redact.Value `json:"token_url" is:"url" doc:"Where the identity provider exchanges tokens."`
	ClientID     string       `json:"client_id" is:"argument" doc:"The ID of the client at the identity provider."`
	ClientSecret redact.Value `json:"client_secret" is:"secret" doc:"The secret of the client there, if it has one, preferably as a reference."`
	IDToken      redact.Value `json:"id_token" is:"secret" doc:"Your ID token of the identity provider, preferably as a reference: $(command)."`
}

// MCPGrant is a way to get tokens.
type MCPGrant string

// The grants.
const (
	GrantLogin             MCPGrant = "login"
	GrantClientCredentials MCPGrant = "client_credentials"
)

// MCPTransport is a transport of a server on the network.
type MCPTransport string

// The transports.
const (
	MCPOverHTTP MCPTransport = "http"
	MCPOverSSE  MCPTransport = "sse"
)

// projectServer is a server in the file of a project.
type projectServer struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Timeout float64           `json:"timeout"` // milliseconds
	OAuth   struct {
		ClientID string `json:"clientId"`
		Port     int    `json:"callbackPort"`
	} `json:"oauth"`
}

// projectServers adds the servers of the project's file. A server of the user wins over one of the same name, because the rules of the user
// are about the user's server. A mistake in the file is a warning: other agents use the file, too.
func (c *Config) projectServers(trusted func() (bool, error), env *environment) error {
	file := filepath.Join(c.Root, MCPName)
	if !exists(file) {
		return nil
	}
	c.MCPFile = file
	ok, err := trusted()
	if c.MCPInert = !ok; ok && err == nil {
		c.readServers(env)
	}
	return err
}

func (c *Config) readServers(env *environment) {
	ignored := func(format string, args ...any) {
		c.Warnings = append(c.Warnings, c.MCPFile+": "+fmt.Sprintf(format, args...))
	}
	data, err := readRegular(c.MCPFile)
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		ignored("%v", err)
		return
	}
	like := map[string][]string{} // the servers by their names in those of tools
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		like[inTools(name)] = append(like[inTools(name)], name)
	}
	for _, name := range slices.Sorted(maps.Keys(file.MCPServers)) {
		var from projectServer
		if err := json.Unmarshal(file.MCPServers[name], &from); err != nil {
			ignored("the server %s is ignored: %v", clip(name), err)
			continue
		}
		before, own := c.MCP[name]
		other := slices.IndexFunc(like[inTools(name)], func(s string) bool { return s != name })
		switch {
		case own && (before.Command != "" || before.URL.IsSet()):
			ignored("the server %s is ignored: your own configuration has a server of this name", clip(name))
			continue
		case other >= 0:
			ignored("the server %s is ignored: its tools would have the names of those of the server %s", clip(name), like[inTools(name)][other])
			continue
		case !isName(name):
			ignored("the server %s is ignored: expected a name of letters, digits, dots, hyphens and underscores", clip(name))
			continue
		}
		x := expander{env: env, missing: map[string]bool{}}
		to, err := x.server(from, before)
		if err != nil {
			ignored("the server %s is ignored: %v", clip(name), err)
			continue
		}
		for _, variable := range slices.Sorted(maps.Keys(x.missing)) {
			ignored("the server %s: the environment variable %s is not set; write ${%s:-DEFAULT} for a default", clip(name), variable, variable)
		}
		if c.MCP == nil {
			c.MCP = map[string]MCPServer{}
		}
		if c.MCP[name] = to; !own {
			like[inTools(name)] = append(like[inTools(name)], name)
		}
	}
}

// inTools returns the name of a server without what differs from its name in those of its tools.
func inTools(name string) string {
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '.' }), "_")
}

// expander replaces the variables of a project's file.
type expander struct {
	env     *environment
	missing map[string]bool
}

// variables finds ${NAME} and ${NAME:-default}.
var variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`) })

func (x *expander) text(s string) string {
	return variables().ReplaceAllStringFunc(s, func(ref string) string {
		found := variables().FindStringSubmatch(ref)
		x.env.note([]part{{variable: found[1]}})
		switch value := x.env.getenv(found[1]); {
		case value != "":
			return value
		case found[2] != "":
			return found[3]
		}
		x.missing[found[1]] = true
		return ref
	})
}

func (x *expander) values(from map[string]string) map[string]redact.Value {
	to := make(map[string]redact.Value, len(from))
	for name, s := range from {
		to[name] = redact.Literal(x.text(s), s)
	}
	return to
}

// server returns a server of the project with the settings of the user for it.
func (x *expander) server(from projectServer, own MCPServer) (MCPServer, error) {
	own.Project = true
	own.Command, own.Env, own.Headers = x.text(from.Command), x.values(from.Env), x.values(from.Headers)
	own.Args = nil
	for _, arg := range from.Args {
		own.Args = append(own.Args, x.text(arg))
	}
	if own.OAuth.ClientID == "" {
		own.OAuth.ClientID, own.OAuth.Port = from.OAuth.ClientID, from.OAuth.Port
	}
	if own.Timeout == 0 && from.Timeout >= 1000 && from.Timeout < 1e9 {
		own.Timeout = time.Duration(from.Timeout) * time.Millisecond
	}
	switch from.Type {
	case "", "stdio":
		if own.Command == "" {
			return own, fmt.Errorf("it has no command; a server with a url needs a type, such as http")
		}
		return own, nil
	case "http", "streamable-http":
		own.Transport = MCPOverHTTP
	case "sse":
		own.Transport = MCPOverSSE
	default:
		return own, fmt.Errorf("its type %s is unknown; the types are stdio, http and sse", clip(from.Type))
	}
	own.Command, own.Args = "", nil
	address := x.text(from.URL)
	if message := wrongURL("url", address); message != "" {
		return own, fmt.Errorf("its url %s", message)
	}
	own.URL = redact.Literal(address, strings.TrimSpace(from.URL))
	return own, nil
}
