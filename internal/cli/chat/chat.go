// Package chat is tenon without a command: the interactive terminal. It joins the command line, the configuration and package tui.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/tui"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Options are the flags of the terminal.
type Options struct {
	Rules    command.RuleFlags
	Dir      string
	Model    string
	Role     string
	Last     bool
	Session  string
	TakeOver bool
	Inline   bool
}

// Flags declares the flags of the terminal.
func Flags(env *command.Env, c *cobra.Command) *Options {
	o := &Options{}
	f := c.Flags()
	f.StringVarP(&o.Model, "model", "m", "", "`MODEL`: provider/model[@variant] or a pool; see tenon models")
	env.RoleFlag(c, &o.Role)
	f.StringVarP(&o.Dir, "dir", "C", "", "work in this `DIR`; default: here, or the session's")
	f.BoolVar(&o.Last, "continue", false, "continue the most recent session of the directory")
	f.StringVar(&o.Session, "session", "", "continue the session with this `ID` or unique ID prefix")
	f.BoolVar(&o.TakeOver, "take-over", false, "with --session: take it from the process that has it open")
	f.BoolVar(&o.Inline, "inline", false, "write finished messages to the scrollback")
	o.Rules.Flags(c)
	env.CompleteSessions(c, "session")
	command.CompleteWith(c, "dir", command.Directories)
	return o
}

// NewAttach returns tenon attach.
func NewAttach(env *command.Env) *cobra.Command {
	o := &Options{}
	c := &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Join a session that another process has open",
		Long: `Join a session that another process on this machine has open, such as a terminal or
'tenon run'. All of them see the same. Each can prompt, answer questions and cancel; the
first answer counts. Leaving ends nothing. Without SESSION, an ID or a unique prefix,
Tenon joins the only open session of this directory, or of all, or lists them.`,
		Args: command.MaxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := running(env, c.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			if !Possible(env) {
				return errors.New("cannot attach: standard input and output are not a terminal that can show it; read the session with: tenon sessions show " + string(id))
			}
			return open(env, c.Context(), o, tui.Which{ID: id})
		},
	}
	c.Flags().BoolVar(&o.Inline, "inline", false, "write finished messages to the scrollback")
	return c
}

// running returns the session with an ID prefix that a process has open now.
func running(env *command.Env, ctx context.Context, prefix string) (session.SessionID, error) {
	dir, err := app.DataDir(env.Getenv)
	if err != nil {
		return "", err
	}
	all, err := attach.List(ctx, dir)
	if err != nil {
		return "", err
	}
	dirs := map[session.SessionID]string{}
	if len(all) > 1 {
		err = env.WithStore(nil, func(store index.Store) error {
			for s, err := range store.List(ctx, index.Query{}) {
				if err != nil {
					return err
				}
				dirs[s.ID] = s.Dir
			}
			return nil
		})
	}
	here, problem := app.Directory("")
	if err = cmp.Or(err, problem); err != nil {
		return "", err
	}
	var names []string
	var found, near []session.SessionID
	for _, s := range all {
		names = append(names, strings.TrimSuffix(fmt.Sprintf("%s (%s in %s", s.ID, s.Owner, dirs[s.ID]), " in ")+")")
		if strings.HasPrefix(string(s.ID), prefix) {
			found = append(found, s.ID)
			if dirs[s.ID] == here {
				near = append(near, s.ID)
			}
		}
	}
	if prefix == "" && len(near) == 1 {
		found = near
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return "", command.Codef("attach.none", "no process has a session open; tenon --continue opens the most recent one")
	case len(found) == 0:
		return "", command.Codef("attach.none", "no process has session %s open; open are: %s", prefix, strings.Join(names, ", "))
	}
	return "", command.Codef("attach.several", "several sessions are open: %s; name one", strings.Join(names, ", "))
}

// Possible reports whether the streams are a terminal that can show the program.
func Possible(env *command.Env) bool {
	return terminal(env.Stdin) && terminal(env.Stdout) && env.Getenv("TERM") != "dumb"
}

func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Run opens the terminal until the person leaves.
func Run(env *command.Env, c *cobra.Command, o *Options) error {
	switch {
	case o.Last && o.Session != "":
		return command.Usagef(c, "--continue and --session exclude each other")
	case o.TakeOver && o.Session == "":
		return command.Usagef(c, "--take-over needs --session")
	}
	if err := o.Rules.Check(c); err != nil {
		return err
	}
	which := tui.Which{Dir: o.Dir, ID: session.SessionID(o.Session), Last: o.Last, TakeOver: o.TakeOver, Model: o.Model}
	return open(env, c.Context(), o, which)
}

func open(env *command.Env, ctx context.Context, o *Options, w tui.Which) error {
	dir, err := app.Directory(w.Dir)
	if err != nil {
		return err
	}
	settings, err := settingsOf(env, dir)
	if err != nil {
		return err
	}
	settings.Inline = settings.Inline || o.Inline || settings.Reader
	farewell, err := tui.Run(ctx, tui.Options{
		Host: &host{env, *o}, Config: settings, Which: w, Dir: dir, Version: command.BuildOf(env.Version).Version,
		In: env.Stdin, Out: env.Stdout, Environ: os.Environ(),
	})
	if farewell != "" {
		fmt.Fprintln(env.Stdout, farewell)
	}
	if errors.Is(err, tui.ErrForced) {
		return command.ExitCode(command.ExitInterrupted)
	}
	return err
}

// settingsOf reads the settings of the terminal.
func settingsOf(env *command.Env, dir string) (tui.Config, error) {
	s, err := env.SetUp(dir)
	if err != nil {
		return tui.Config{}, err
	}
	t := s.Config.Terminal
	on := func(b *bool) bool { return b == nil || *b }
	c := tui.Config{
		Theme: string(t.Theme), Keys: t.Keys, Vim: t.Vim, Mouse: on(t.Mouse), Panel: on(t.Panel), NoTitle: !on(t.Title),
		Quiet: !on(t.Notifications), Still: t.ReducedMotion, Reader: t.ScreenReader, Inline: t.Inline,
		NoColor: env.Getenv("NO_COLOR") != "", ASCII: !unicode(env.Getenv), Redact: s.Secrets.Redact,
		NoSuspend: !app.Suspends(),
	}
	if c.NoColor {
		c.Theme = string(config.ThemePlain)
	}
	if data, err := app.DataDir(env.Getenv); err == nil {
		c.History = filepath.Join(data, "prompts.jsonl")
	}
	return c, nil
}

// unicode reports whether the locale of the terminal has more than ASCII. A locale that is not set is taken for a modern one.
func unicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") || v != "c" && v != "posix" && !strings.Contains(v, "ascii") && !strings.Contains(v, ".")
		}
	}
	return true
}
