// Package app puts Tenon together: where its data lies, which model answers, which tools there are, and the agent made of
// them. It decides nothing about how that is shown.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// App is the store of sessions and what agents are made of.
type App struct {
	Store   session.Store
	version string
}

// Open opens the store, and makes it if there is none. Close the App after all of its agents.
func Open(getenv func(string) string, version string) (*App, error) {
	dir, err := DataDir(getenv)
	if err != nil {
		return nil, err
	}
	if err := makeDataDir(dir); err != nil {
		return nil, err
	}
	return open(filepath.Join(dir, databaseName), version)
}

// OpenExisting is [Open] for commands that only look at sessions: where there is no store it makes none, and the error
// is an [fs.ErrNotExist].
func OpenExisting(getenv func(string) string, version string) (*App, error) {
	dir, err := DataDir(getenv)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, databaseName)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no sessions yet: %w", err)
	}
	return open(name, version)
}

func open(name, version string) (*App, error) {
	store, err := sqlite.Open(name)
	if errors.Is(err, session.ErrUnwritable) {
		return nil, fmt.Errorf("%w; or set TENON_DATA_DIR to a directory that you can write", err)
	}
	if err != nil {
		return nil, err
	}
	return &App{Store: store, version: version}, nil
}

// Close closes the store.
func (a *App) Close() error { return a.Store.Close() }

// Spec is what differs between agents.
type Spec struct {
	Dir    string     // working directory, absolute, links resolved
	Client llm.Client // it tries again by itself
	System string
	Gate   agent.Gate
	Limits agent.Limits
	Owner  string // what the agent serves, such as "tenon run"

	Thinking    llm.Thinks
	MaxTokens   int             // of one answer; 0: what the model allows
	Cache       llm.CachePolicy // marks for the provider's prompt cache
	Temperature *float64        // nil: the provider's default
	Schema      json.RawMessage // that the last answer must satisfy; nil: none

	// Secrets takes keys out of what tools return, before anything else sees it. Nil: nothing is taken out.
	Secrets *keys.Redactor
}

// Agent is an agent with the workspace that its tools work in.
type Agent struct {
	*agent.Agent
	workspace *workspace.Workspace
}

// New makes an agent with a new session.
func (a *App) New(ctx context.Context, s Spec) (*Agent, error) {
	return a.build(s, func(o agent.Options) (*agent.Agent, error) { return agent.New(ctx, a.Store, o) })
}

// Resume makes an agent that goes on with a session. The error is a [*session.LockedError] while another process writes it.
func (a *App) Resume(ctx context.Context, id session.SessionID, s Spec) (*Agent, error) {
	return a.build(s, func(o agent.Options) (*agent.Agent, error) { return agent.Open(ctx, a.Store, id, o) })
}

func (a *App) build(s Spec, make func(agent.Options) (*agent.Agent, error)) (*Agent, error) {
	ws, err := workspace.Open(s.Dir, workspace.Options{})
	if err != nil {
		return nil, err
	}
	ag, err := make(agent.Options{
		Client: s.Client, Tools: redacted(tools(ws), s.Secrets), System: s.System, Gate: s.Gate, Limits: s.Limits,
		Thinking: s.Thinking, MaxTokens: s.MaxTokens, Cache: s.Cache, Temperature: s.Temperature, Schema: s.Schema,
		Dir: s.Dir, Version: a.version, Owner: owner(s.Owner),
	})
	if err != nil {
		_ = ws.Close()
		return nil, err
	}
	return &Agent{ag, ws}, nil
}

// Close ends the run that is on, gives the session back and lets go of the workspace.
func (a *Agent) Close() error {
	return errors.Join(a.Agent.Close(), a.workspace.Close())
}

// Kill ends the commands of the tools at once. The run sees it as their end; it is for a program that leaves without Close.
func (a *Agent) Kill() { a.workspace.Kill() }

// tools is the built-in tools.
func tools(ws *workspace.Workspace) []tool.Tool {
	return slices.Concat(files.New(ws), search.New(ws), shell.New(ws, shell.Options{}))
}

// owner names this process for people who find a session locked.
func owner(what string) string {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Sprintf("%s, pid %d", what, os.Getpid())
	}
	return fmt.Sprintf("%s, pid %d on %s", what, os.Getpid(), host)
}
