package tui

import (
	"context"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Host does for the terminal what no [conversation.Conversation] does: it opens conversations and knows this machine. Its methods may block;
// the terminal calls them outside of its loop.
type Host interface {
	// Open opens a session, or attaches to it if another process has it open. Errors are those of opening a session, such as a
	// *models.UnavailableError, which begins the guide of the first run.
	Open(ctx context.Context, w Which) (*Opened, error)
	// Store lends the store of all sessions. If there is none, it calls nothing: there are no sessions.
	Store(use func(index.Store) error) error
	// Models returns the models and pools, the usable ones first.
	Models(ctx context.Context) ([]dialog.Model, error)
	// Skills returns the skills for a directory.
	Skills(dir string) ([]dialog.Skill, error)
	// Commands returns the commands of files for a directory, and a command for each skill. Each Name is a slash, the name and the arguments;
	// Off says why the conversation would refuse it.
	Commands(dir string) ([]dialog.Command, error)
	// Roles returns the roles for a directory, and a last one that means none.
	Roles(dir string) ([]dialog.Role, error)
	// Ways returns the ways to a working model, for the first run: keys, servers on this machine, providers without a key.
	Ways(ctx context.Context) ([]dialog.Way, error)
	// Try keeps a key of a provider, if there is one, and tests a model. It returns the reference of the model that works.
	Try(ctx context.Context, ref, provider, key string) (string, error)
	// Notes are facts about a directory for the first run, such as instructions of other agents that Tenon reads.
	Notes(dir string) []string
	// Untrusted returns the settings of the project that have no effect until the person trusts the directory.
	Untrusted(dir string) []string
	// Files lists the files of a directory for completion, without those that ignore files exclude.
	Files(dir string) complete.Lister
	// Attach returns a file as parts of a prompt, and nothing for a directory, which the model can list. Lines from and to are 1-based; 0:
	// the whole file. The error is a *fs.PathError if there is no such file.
	Attach(ctx context.Context, dir, name string, from, to int) (llm.Content, error)
	// Run runs a command of tenon, such as "doctor", with a standard input, and returns its output.
	Run(ctx context.Context, input string, args ...string) (string, error)
	// Init is the prompt of tenon init.
	Init(dir string) string
	// Save keeps a setting of the terminal in the configuration of the person, such as "theme".
	Save(ctx context.Context, name string, value any) error
}

// Which says which session to open. The zero value is a new session in the directory.
type Which struct {
	Dir      string
	ID       session.SessionID // or a unique prefix
	Last     bool
	Fork     bool
	TakeOver bool
	Model    string // empty: the session or the configuration decides
}

// Opened is an open session.
type Opened struct {
	Conversation conversation.Conversation
	Session      session.SessionID
	Dir          string
	Why          string // why this model
	Resumed      bool
	Owner        string                // the process that has the session open; empty: this one
	Inherited    []session.Event       // of a fork: the entries before it, oldest first
	Self         string                // the name of this terminal for the others
	Contests     conversation.Contests // nil: another process runs them
	Kill         func()                // ends the commands of tools at once, for an exit without Close; nil: there are none
	Unset        bool                  // the person has set up no model
	Warnings     []conversation.Warning
	Tasks        []session.Event // of other agents, before the recent entries; the terminal reads them
}

// Config is the settings of the terminal.
type Config struct {
	Theme     string            // a name of package theme
	Keys      map[string]string // changed keys by action
	Vim       bool
	Mouse     bool
	Panel     bool // next to the transcript, on a wide screen
	Still     bool // reduced motion
	Reader    bool // for a screen reader: plain lines, no boxes, no motion
	Inline    bool // no alternate screen: finished messages go to the scrollback
	Quiet     bool // no notifications
	NoTitle   bool
	ASCII     bool // the terminal shows no other characters
	NoColor   bool
	NoSuspend bool                // no shell could continue the process
	Redact    func(string) string // hides secrets in the kept prompts; nil: hides nothing
	History   string              // file of the earlier prompts; empty: they are not kept
}

// now is the clock of the terminal.
type now func() time.Time
