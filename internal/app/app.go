// Package app assembles Tenon: the data directory, the model, the tools, and an agent that uses them. It prints nothing.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/tool/web"
)

// App is the data of Tenon, and the state that all agents of a process share.
type App struct {
	conversation.Data
	stop    func() // ends the goroutine of open
	version string
	day     *agent.Day
	servers *lsp.Limit // of all directories

	mu          sync.Mutex
	directories map[string]*directory // in which agents work, by root
}

// Open opens the store, or creates it. Close the App after all of its agents.
func Open(getenv func(string) string, version string) (*App, error) {
	dir, err := DataDir(getenv)
	if err != nil {
		return nil, err
	}
	if err := makeDataDir(dir); err != nil {
		return nil, err
	}
	a, err := open(sqlite.Open, getenv, filepath.Join(dir, databaseName), version)
	if err == nil {
		a.reconcile()
	}
	return a, err
}

// OpenExisting is [Open] for commands that only read sessions: it creates no store, and opens a store without write
// permission for reading. If there is no store, the error is an [fs.ErrNotExist].
func OpenExisting(getenv func(string) string, version string) (*App, error) {
	dir, err := DataDir(getenv)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, databaseName)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no sessions yet: %w", err)
	}
	return open(sqlite.OpenToRead, getenv, name, version)
}

func open(how func(string) (*sqlite.Store, error), getenv func(string) string, name, version string) (*App, error) {
	store, err := how(name)
	if errors.Is(err, session.ErrUnwritable) {
		return nil, fmt.Errorf("%w; or set TENON_DATA_DIR to a directory that you can write", err)
	}
	if err != nil {
		return nil, err
	}
	data := conversation.Data{Store: store, Dir: filepath.Dir(name), Owner: Owner("recovery"), Bounds: configured(getenv, version)}
	return &App{Data: data, version: version, day: agent.NewDay(), servers: lsp.NewLimit(mostServers), stop: suspendBetween(store), directories: map[string]*directory{}}, nil
}

// Close closes the store.
func (a *App) Close() error {
	a.stop()
	return a.Store.Close()
}

// OnWait sets the function that Tenon calls when a write waits for another process.
func (a *App) OnWait(f func(*session.BusyError)) {
	if s, ok := a.Store.(interface {
		OnWait(func(*session.BusyError))
	}); ok && f != nil {
		s.OnWait(f)
	}
}

// Backup writes the journals of all sessions to a new file. It does not include saved file contents and artifacts.
func (a *App) Backup(ctx context.Context, file string) error {
	s, ok := a.Store.(interface {
		Backup(ctx context.Context, file string) error
	})
	if !ok {
		return errors.New("cannot write a backup: this store does not support backups")
	}
	return s.Backup(ctx, file)
}

// RestoreBackup replaces the journals of all sessions with those of a backup. It renames a damaged database and returns the new name.
func RestoreBackup(ctx context.Context, getenv func(string) string, file string) (aside string, err error) {
	dir, err := DataDir(getenv)
	if err == nil {
		err = makeDataDir(dir)
	}
	if err != nil {
		return "", err
	}
	return sqlite.Restore(ctx, filepath.Join(dir, databaseName), file)
}

// pauser is a store that can wait before it begins a transaction.
type pauser interface {
	Pause(ctx context.Context) (resume func(), err error)
}

// Spec describes one agent.
type Spec struct {
	Client   llm.Client // retries by itself
	System   string     // system prompt; empty: the built-in one, see [Prompt]
	Limits   agent.Limits
	Override agent.Limits   // see agent.Options
	Owner    string         // the frontend, such as "tenon run"
	After    session.Origin // of a new session: the session that it follows or, with Fork, continues
	Fork     bool

	TakeOver bool // take the session from a living process

	Bounds  Bounds // the directory, and the paths and hosts that the tools may use
	Policy  *permission.Policy
	Ask     bool          // people can answer questions, through [Agent.Questions]
	AskTime time.Duration // limit for an answer, after which the call is denied; 0: none
	Keep    func(ctx context.Context, rules []permission.Rule) error

	Judge     func() (llm.Client, error) // the model that reviews the goal of a session; nil: none
	CheckTime time.Duration              // limit for a command that verifies a goal; 0: ten minutes

	Web   web.Options
	LSP   LSP
	APIs  []*API   // whose operations are tools
	Tools []string // tools that the model gets in addition to the usual ones

	External External
	Servers  *Setup // whose MCP servers the agent uses; nil: none

	Window   Windowing
	Titles   Titling
	Guidance Guiding
	Skills   SkillSet
	Hooks    HookSet
	Team     *Teaming // nil: it starts no sub-agents

	llm.Settings // of every request of the conversation

	// Secrets hides keys in the results of tools. Nil: it hides nothing.
	Secrets *redact.Redactor

	parent session.SessionID // of a parallel run: the session that began it
	budget *budget.Budget    // from which it draws

	narrow   [][]permission.Rule // of the commands for whose prompts it works
	child    *childhood          // nil: no sub-agent
	writable []string            // the write scope, absolute, with links resolved; nil: no limit

	now  func() time.Time // in tests
	idle time.Duration    // until the notification that the person is awaited; 0: a minute
}

// Owner names this process for people who find a session locked.
func Owner(what string) string {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Sprintf("%s, pid %d", what, os.Getpid())
	}
	return fmt.Sprintf("%s, pid %d on %s", what, os.Getpid(), host)
}
