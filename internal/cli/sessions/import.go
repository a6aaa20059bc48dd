package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// importing is the flags of sessions import.
type importing struct {
	from, dir             string
	list, all, everywhere bool
	again, asJSON         bool
}

func newImport(env *command.Env) *cobra.Command {
	var o importing
	c := &cobra.Command{
		Use:   "import [ID | PATH]...",
		Short: "Import sessions of other programs, or exports",
		Long: `Import sessions of Claude Code, Codex, OpenCode, Crush or pi, or the output of
'tenon sessions export'. Each becomes a normal session: 'tenon run --session ID'
continues it. Tenon reports everything that it cannot import.

Tenon imports a session once. If the session has changed since, --again imports it as
another session.

Without ID and PATH, list the sessions of this directory in those programs; --all
imports them.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if o.list && o.all {
				return command.Usagef(c, "--list and --all exclude each other")
			}
			found, err := o.find(c, env.Getenv, args)
			if err != nil {
				return err
			}
			if o.list || len(args) == 0 && !o.all {
				return listSources(env, c.Context(), found, o, len(args) == 0)
			}
			return importAll(env, c.Context(), found, o)
		},
	}
	f := c.Flags()
	o.from = "auto"
	command.ChoiceFlag(c, &o.from, "from", append([]string{"auto"}, transfer.Programs()...), "program", "only this program: "+strings.Join(transfer.Programs(), ", "))
	f.BoolVar(&o.list, "list", false, "only list sessions")
	f.BoolVar(&o.all, "all", false, "import everything that --list shows")
	f.BoolVar(&o.everywhere, "everywhere", false, "from every directory")
	f.BoolVar(&o.again, "again", false, "import again, as another session")
	command.DirFlag(c, &o.dir, "from this `directory`")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
	return c
}

func (o importing) program() string {
	if o.from == "auto" {
		return ""
	}
	return o.from
}

// find returns the sources of the arguments: files, and IDs in those files or in the directories of the programs. Without arguments it
// returns the sources of a directory.
func (o importing) find(c *cobra.Command, getenv func(string) string, args []string) ([]transfer.Source, error) {
	var paths, ids []string
	for _, a := range args {
		if _, err := os.Lstat(a); err == nil {
			paths = append(paths, a)
		} else if strings.ContainsRune(a, filepath.Separator) || filepath.Ext(a) != "" || !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open %s: %w", a, errors.Unwrap(err))
		} else {
			ids = append(ids, a)
		}
	}
	here, err := o.usual(c.Context(), getenv, paths, ids)
	if err != nil {
		return nil, err
	}
	var found []transfer.Source
	for _, path := range paths {
		some, err := transfer.Open(c.Context(), o.program(), path)
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			here = append(here, some...)
			continue
		}
		if len(some) > 1 && !o.all && !o.list {
			return nil, fmt.Errorf("%s has %d sessions: add the ID of one, or import all with --all; --list shows them",
				path, len(some))
		}
		found = append(found, some...)
	}
	for _, id := range ids {
		s, err := named(here, id)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if len(args) == 0 {
		return here, nil
	}
	return found, nil
}

// usual searches the directories of the programs, unless the arguments name files.
func (o importing) usual(ctx context.Context, getenv func(string) string, paths, ids []string) ([]transfer.Source, error) {
	if len(paths) > 0 {
		return nil, nil
	}
	dir, err := app.Directory(o.dir)
	if err != nil {
		return nil, err
	}
	places := transfer.Places{Home: getenv("HOME"), Getenv: getenv, Dir: dir}
	if places.Home == "" {
		places.Home = getenv("USERPROFILE")
	}
	found, err := transfer.Find(ctx, o.program(), places)
	if err != nil || !o.everywhere && len(ids) == 0 {
		return found, err
	}
	places.Dir = ""
	more, err := transfer.Find(ctx, o.program(), places)
	seen := map[transfer.Key]bool{}
	var out []transfer.Source
	for _, s := range append(found, more...) {
		if k := (transfer.Key{Program: s.Program, ID: s.ID}); !seen[k] {
			seen[k] = true
			out = append(out, s)
		}
	}
	return out, err
}

// named returns the source with this ID or unique ID prefix.
func named(all []transfer.Source, prefix string) (transfer.Source, error) {
	var found []transfer.Source
	for _, s := range all {
		if s.ID == prefix {
			return s, nil
		}
		if strings.HasPrefix(s.ID, prefix) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return transfer.Source{}, fmt.Errorf("no session %q to import; see 'tenon sessions import --list --everywhere', or name its file", prefix)
	case 1:
		return found[0], nil
	}
	return transfer.Source{}, fmt.Errorf("the ID prefix %q matches %d sessions; use a longer one", prefix, len(found))
}

type source struct {
	transfer.Source
	Imported session.SessionID `json:"imported,omitzero"` // its session here, if it was imported
	Changed  bool              `json:"changed,omitzero"`  // since then
}

func listSources(env *command.Env, ctx context.Context, found []transfer.Source, o importing, hint bool) error {
	past := transfer.Past{}
	err := env.WithStore(nil, func(store index.Store) (err error) {
		past, err = transfer.Imported(ctx, store)
		return err
	})
	if err != nil {
		return err
	}
	var values []source
	var rows [][]string
	for _, s := range found {
		before, changed, ok := past.Has(s)
		values = append(values, source{s, before.Session, changed})
		title := term.OneLine(s.Title)
		if o.everywhere {
			title += "  " + term.OneLine(s.Dir)
		}
		if ok {
			title = "✓ " + string(before.Session) + "  " + title
		}
		if changed {
			title = "(changed) " + title
		}
		rows = append(rows, []string{s.Program, term.Fit(term.OneLine(s.ID), 13), transcript.Age(time.Since(s.Updated)), title})
	}
	r := command.Result{JSON: command.Lines(values), Text: env.Table([]string{"PROGRAM", "ID", "CHANGED", "TITLE"}, rows)}
	switch {
	case len(found) == 0:
		r.Text, r.Note = "", "no other program has sessions of this directory; see --everywhere, or name a file"
	case hint && !o.list:
		r.Note = "import one by its ID, or all with --all"
	}
	return env.Print(o.asJSON, r)
}

type skipped struct {
	Source  transfer.Source   `json:"source"`
	Session session.SessionID `json:"session"` // imported before
	Skipped bool              `json:"skipped"`
	Changed bool              `json:"changed,omitzero"` // since then
}

func importAll(env *command.Env, ctx context.Context, found []transfer.Source, o importing) (err error) {
	if len(found) == 0 {
		return errors.New("nothing to import; see --everywhere, or name a file")
	}
	setup, err := env.SetUp("")
	if err != nil {
		return err
	}
	a, err := app.Open(env.Getenv, command.BuildOf(env.Version).Version)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, a.Close()) }()
	past, err := transfer.Imported(ctx, a.Store)
	if err != nil {
		return err
	}
	failed, options := 0, transfer.Options{Version: command.BuildOf(env.Version).Version, Redact: setup.Secrets.Redact}
	for _, s := range found {
		if before, changed, ok := past.Has(s); ok && !o.again {
			if err := showSkipped(env, s, before.Session, changed, o); err != nil {
				return err
			}
			continue
		}
		r, err := transfer.Import(ctx, a.Store, s, options)
		switch {
		case err != nil && len(found) > 1 && ctx.Err() == nil:
			failed++
			env.Tell("not imported: %s", term.Harmless(err.Error()))
			continue
		case err == nil:
			past[transfer.Key{Program: s.Program, ID: s.ID}] = transfer.Before{Session: r.Session, Size: s.Size, Updated: s.Updated}
			err = showImported(env, r, o)
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be imported", failed, transcript.Count(len(found), "session"))
	}
	return nil
}

func showSkipped(env *command.Env, s transfer.Source, id session.SessionID, changed bool, o importing) error {
	text := fmt.Sprintf("%s of %s is here already as %s", term.Fit(term.OneLine(s.ID), 40), s.Program, id)
	if changed {
		text += " and has changed since; --again imports it as another session"
	}
	return env.Print(o.asJSON, command.Result{JSON: skipped{s, id, true, changed}, Text: text + "\n"})
}

func showImported(env *command.Env, r *transfer.Report, o importing) error {
	paint, columns := env.Paint(), env.Columns()
	var out strings.Builder
	fmt.Fprintf(&out, "%s  %s\n", paint.Bold(string(r.Session)), env.Shown(r.Title))
	parts := []string{"from " + r.Source.Program, transcript.Count(r.Messages, "message"), transcript.Count(r.Calls, "call")}
	if r.Branches > 0 {
		parts = append(parts, transcript.Count(r.Branches, "abandoned branch"))
	}
	if r.Summaries > 0 {
		parts = append(parts, transcript.Count(r.Summaries, "summary"))
	}
	parts = append(parts, transcript.Usage(r.Usage))
	fmt.Fprintln(&out, term.Wrap("  ", 2, strings.Join(parts, ", "), columns, "  "))
	if r.Unanswered > 0 {
		fmt.Fprintf(&out, "  %s had no result; Tenon added one that says so\n", transcript.Count(r.Unanswered, "call"))
	}
	for i, l := range r.Lost {
		if i == 0 {
			fmt.Fprintln(&out, "  not imported:")
		}
		fmt.Fprintln(&out, term.Wrap("    ", 4, fmt.Sprintf("%d × %s; first at %s:", l.Count, term.OneLine(l.Kind), term.OneLine(l.Place)), columns, "      "))
		fmt.Fprintln(&out, paint.Dim("      "+term.Fit(term.OneLine(l.First), columns-6)))
	}
	return env.Print(o.asJSON, command.Result{JSON: r, Text: out.String()})
}
