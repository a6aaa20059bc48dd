package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// Server configures a server: Command or Address, and what the person says of it.
type Server struct {
	Name string
	ID   string // names its configuration: the list of its tools belongs to it; default: Name

	Command  []string // program and arguments
	Dir      string   // where it runs
	Env      func(ctx context.Context) ([]string, error)
	Confine  bool // in the sandbox of [Options.Confine]
	Sampling bool // the server may ask for the answers of a model
	Off      bool // until [Client.Switch] switches it on

	Address func(ctx context.Context) (string, error) // of a server on the network
	Header  func(ctx context.Context) (http.Header, error)
	OAuth   Registered
	SSE     bool // the transport of 2024-11-05 instead of streamable HTTP

	Timeout  time.Duration // of a call, without the time in which a person answers the server; default 5 min
	Start    time.Duration // until the server answers for the first time; default 30 s
	Allow    []string      // globs of its tools that the model gets; default: all
	Deny     []string      // globs of its tools that the model does not get
	ReadOnly []string      // globs of its tools that only read, as the person says
}

// Options configure a [Client]. The zero value is valid; every function may be nil.
type Options struct {
	Dir     string   // for lists and logs; "": the client remembers nothing
	Version string   // of this program
	Roots   []string // the directories of the workspace

	// Environ returns the environment of servers. It is called when one starts.
	Environ func() []string

	// Confine prepares a command for the sandbox. It returns a function that starts the command, and one that releases the sandbox after
	// its end.
	Confine func(*exec.Cmd) (start func(*exec.Cmd) error, done func() error, err error)

	// OAuth is for servers that need a login.
	OAuth OAuth

	// Elicit asks the person for a server.
	Elicit func(ctx context.Context, e Elicitation) (Elicited, error)

	// Sample answers a request of a server for a model, and returns the reference of the model. Its context is that of the call during which the
	// server asked.
	Sample func(ctx context.Context, q Sampling) (answer llm.Message, model string, err error)

	// Learned is called when a server without a list has given one, and Changed when the tools of a server differ from the accepted ones.
	// They are called from goroutines of the client and must not block.
	Learned func(server string, tools int)
	Changed func(server string, d Difference)

	Redact func(string) string // hides secrets in logs
}

// Client holds the servers of one agent. It is safe for concurrent use.
type Client struct {
	options Options
	servers []*server
	ctx     context.Context // of all connections
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup // goroutines of the client
}

// New returns a client of servers with different names. It starts no process and opens no connection. The caller closes it.
func New(servers []Server, o Options) *Client {
	c := &Client{options: o}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	for _, s := range servers {
		one := &server{Server: s, client: c, turn: make(chan struct{}, 1), log: &journal{redact: o.Redact}}
		one.off.Store(s.Off)
		if o.Dir != "" {
			one.file = filepath.Join(o.Dir, fileName(cmp.Or(s.ID, s.Name))+".json")
			one.log.file = LogFile(o.Dir, s.Name)
		}
		c.servers = append(c.servers, one)
	}
	return c
}

// LogFile returns the file with the log of a server in the directory of [Options.Dir]. An older part is in the file with .old after its name.
func LogFile(dir, server string) string {
	return filepath.Join(dir, "logs", ServerName(server)+"-"+fileName(server)[:8]+".log")
}

func fileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:12])
}

// Tools returns the tools that the person accepted of the servers that are on, by server and name.
func (c *Client) Tools() (tools []tool.Tool) {
	for s, of := range c.Groups {
		if !s.Off {
			tools = append(tools, of...)
		}
	}
	return tools
}

// Groups yields each server as it is now with the tools that the person accepted. Preparing a call of a server that is off fails.
func (c *Client) Groups(yield func(Server, []tool.Tool) bool) {
	for _, s := range c.servers {
		now := s.Server
		now.Off = s.off.Load()
		if !yield(now, s.tools()) {
			return
		}
	}
}

// Status is the state of a server.
type Status struct {
	Name       string      `json:"name"`
	Off        bool        `json:"off,omitzero"`
	Connected  bool        `json:"connected"`
	Known      bool        `json:"known"` // its list is remembered
	Tools      []string    `json:"tools"` // that the model gets, by the names of the server
	Left       int         `json:"left,omitzero"`
	Pending    *Difference `json:"pending,omitempty"`
	Prompts    []string    `json:"prompts,omitzero"`
	Resources  bool        `json:"resources,omitzero"`
	Protocol   string      `json:"protocol,omitzero"` // while it is connected
	NeedsLogin bool        `json:"needs_login,omitzero"`
	Error      string      `json:"error,omitzero"` // of the last connection
}

// Status returns the state of all servers in their order. It connects to none.
func (c *Client) Status() (all []Status) {
	for _, s := range c.servers {
		all = append(all, s.status())
	}
	return all
}

// UnknownError reports a server that is not configured.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no MCP server %q", e.Name) }

// Code is the stable code of the error.
func (e *UnknownError) Code() string { return "mcp.unknown" }

func (c *Client) named(name string) (*server, error) {
	i := slices.IndexFunc(c.servers, func(s *server) bool { return s.Name == name })
	if i < 0 {
		return nil, &UnknownError{name}
	}
	return c.servers[i], nil
}

// Connect connects to a server, unless it is connected, and returns its state. It ignores the back-off after failures.
func (c *Client) Connect(ctx context.Context, name string) (Status, error) {
	s, err := c.named(name)
	if err != nil {
		return Status{}, err
	}
	s.forgive()
	_, err = s.connect(ctx)
	return s.status(), err
}

// Switch switches a server on or off. A server that is off has no process and no connection: its running calls fail, and so does every later one.
// Switch does not wait for the end of the process. A server of which nothing is known connects, as [Client.Learn] does.
func (c *Client) Switch(name string, on bool) error {
	s, err := c.named(name)
	if err != nil {
		return err
	}
	if s.off.Swap(!on) == !on {
		return nil
	}
	c.Do(func(ctx context.Context) {
		if !on {
			s.disconnect()
		} else if s.forgive(); s.remembered() == nil {
			_, _ = s.connect(ctx) // the log and the state have the error
		}
	})
	return nil
}

// Accept makes the list of a server that is pending the accepted one.
func (c *Client) Accept(name string) error {
	s, err := c.named(name)
	if err != nil {
		return err
	}
	return s.accept()
}

// Learn connects to the servers that are on and without a remembered list, in the background. It returns their names, and a channel that is closed
// when all have answered or failed.
func (c *Client) Learn() (names []string, done <-chan struct{}) {
	var all sync.WaitGroup
	for _, s := range c.servers {
		if s.off.Load() || s.remembered() != nil {
			continue
		}
		names = append(names, s.Name)
		all.Add(1)
		c.Do(func(ctx context.Context) {
			defer all.Done()
			_, _ = s.connect(ctx) // the log and the state have the error
		})
	}
	end := make(chan struct{})
	c.Do(func(context.Context) {
		all.Wait()
		close(end)
	})
	return names, end
}

// Close ends all connections and processes, and waits for them. It may be called again.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	var all sync.WaitGroup
	for _, s := range c.servers {
		all.Go(s.disconnect)
	}
	all.Wait()
	c.work.Wait()
	return nil
}

// errClosed ends the calls of a closed client.
var errClosed = errors.New("the session has ended")

// Do runs a function in the background, with a context that ends with the client. Close waits for it. A closed client does nothing.
func (c *Client) Do(f func(ctx context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(func() { f(c.ctx) })
	}
}
