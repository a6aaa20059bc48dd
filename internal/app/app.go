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
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/web"
)

// App is the store of sessions and what agents are made of.
type App struct {
	Store   session.Store
	dir     string // where what belongs to sessions lies beside the store
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
	return open(sqlite.Open, filepath.Join(dir, databaseName), version)
}

// OpenExisting is [Open] for commands that only look at sessions: where there is no store it makes none, and the error
// is an [fs.ErrNotExist]. One that cannot be written is there to be read.
func OpenExisting(getenv func(string) string, version string) (*App, error) {
	dir, err := DataDir(getenv)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, databaseName)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no sessions yet: %w", err)
	}
	return open(sqlite.OpenToRead, name, version)
}

func open(how func(string) (*sqlite.Store, error), name, version string) (*App, error) {
	store, err := how(name)
	if errors.Is(err, session.ErrUnwritable) {
		return nil, fmt.Errorf("%w; or set TENON_DATA_DIR to a directory that you can write", err)
	}
	if err != nil {
		return nil, err
	}
	return &App{Store: store, dir: filepath.Dir(name), version: version}, nil
}

// Close closes the store.
func (a *App) Close() error { return a.Store.Close() }

// Spec is what differs between agents.
type Spec struct {
	Client llm.Client // it tries again by itself
	System string
	Limits agent.Limits
	Owner  string         // what the agent serves, such as "tenon run"
	After  session.Origin // of a new session: the one that it comes after

	Bounds  Bounds // where it works, and what may be touched
	Policy  *permission.Policy
	Ask     bool          // people can be asked, through [Agent.Questions]
	AskTime time.Duration // after which a question that nobody answers is taken for denied; 0: never
	Keep    func(ctx context.Context, rules []permission.Rule) error

	Web    web.Options
	Editor files.Editing // how the model changes files best

	Window   Windowing
	Titles   Titling
	Guidance Guiding
	Skills   SkillSet

	Thinking    llm.Thinks
	MaxTokens   int             // of one answer; 0: what the model allows
	Cache       llm.CachePolicy // marks for the provider's prompt cache
	Temperature *float64        // nil: the provider's default
	Schema      json.RawMessage // that the last answer must satisfy; nil: none

	// Secrets takes keys out of what tools return, before anything else sees it. Nil: nothing is taken out.
	Secrets *keys.Redactor

	now func() time.Time // in tests
}

// owner names this process for people who find a session locked.
func owner(what string) string {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Sprintf("%s, pid %d", what, os.Getpid())
	}
	return fmt.Sprintf("%s, pid %d on %s", what, os.Getpid(), host)
}
