package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session"
)

// importing is what the flags of an import say.
type importing struct {
	from, dir             string
	list, all, everywhere bool
	again, asJSON         bool
}

func (p *program) sessionsImport() *cobra.Command {
	var o importing
	c := &cobra.Command{
		Use:   "import [ID | PATH]...",
		Short: "Take over sessions of other programs, or exports",
		Long: `Take over sessions that Claude Code, Codex, OpenCode, Crush or pi wrote, or that 'tenon sessions export' wrote. Each
becomes a session like any other: 'tenon run --session ID' goes on with it. What has no place in it is told.

What was imported before and has changed since is taken up where it was, unless somebody has gone on in the session, or its past is
another one now: then it is left as it is, and --again makes another session of it.

Without ID and PATH it lists what the programs have of this directory; --all takes all of that over.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if o.from != "auto" {
				if err := oneOf(transfer.Programs(), o.from); err != nil {
					return usagef(c, "--from: %w", err)
				}
			}
			if o.list && o.all {
				return usagef(c, "--list and --all exclude each other")
			}
			found, err := o.find(c, p.env.Getenv, args)
			if err != nil {
				return err
			}
			if o.list || len(args) == 0 && !o.all {
				return p.listSources(c.Context(), found, o, len(args) == 0)
			}
			return p.importAll(c.Context(), found, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.from, "from", "auto", "only of this `program`: "+strings.Join(transfer.Programs(), ", "))
	f.BoolVar(&o.list, "list", false, "only list what there is")
	f.BoolVar(&o.all, "all", false, "all that --list shows")
	f.BoolVar(&o.everywhere, "everywhere", false, "of every directory")
	f.BoolVar(&o.again, "again", false, "also what was imported before, as another session")
	f.StringVarP(&o.dir, "dir", "C", "", "of another `directory`")
	f.BoolVar(&o.asJSON, "json", false, "as JSON, one object to a line")
	completeWith(c, "dir", directories)
	completeWith(c, "from", cobra.FixedCompletions(append([]string{"auto"}, transfer.Programs()...), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// oneOf returns an error when a name is none of those that are known.
func oneOf(known []string, name string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return fmt.Errorf("%q is none of %s", name, strings.Join(known, ", "))
}

func (o importing) program() string {
	if o.from == "auto" {
		return ""
	}
	return o.from
}

// find returns the sources that the arguments mean: files, IDs in those files or in the usual places; without any, those of a
// directory.
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
			return nil, fmt.Errorf("%s has %d sessions: name one by its ID beside it, or take over all with --all; --list shows them",
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

// usual looks in the places of the programs, when that is asked for.
func (o importing) usual(ctx context.Context, getenv func(string) string, paths, ids []string) ([]transfer.Source, error) {
	if len(paths) > 0 {
		return nil, nil
	}
	dir, err := directory(o.dir)
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

// named returns the source whose ID is prefix, or begins so.
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
		return transfer.Source{}, fmt.Errorf("there is no session %q to import; see 'tenon sessions import --list --everywhere', "+
			"or name its file", prefix)
	case 1:
		return found[0], nil
	}
	return transfer.Source{}, fmt.Errorf("%q is the beginning of %d sessions; write more of one", prefix, len(found))
}

// source is a row of a list, in JSON.
type source struct {
	transfer.Source
	Imported session.SessionID `json:"imported,omitzero"` // what it is here, when it was imported
	Changed  bool              `json:"changed,omitzero"`  // since then
}

func (p *program) listSources(ctx context.Context, found []transfer.Source, o importing, hint bool) error {
	past := transfer.Past{}
	err := p.withStore(nil, func(store session.Store) (err error) {
		past, err = transfer.Imported(ctx, store)
		return err
	})
	if err != nil {
		return err
	}
	if len(found) == 0 && !o.asJSON {
		_, err := fmt.Fprintln(p.env.Stderr, "no other program has sessions of this directory; see --everywhere, or name a file")
		return err
	}
	if !o.asJSON && hint && !o.list {
		fmt.Fprintln(p.env.Stderr, "take over one by its ID, or all with --all")
	}
	paint, columns := paletteFor(p.env.Stdout, p.env.Getenv), p.columns()
	out := bufio.NewWriter(p.env.Stdout)
	if !o.asJSON {
		fmt.Fprintln(out, paint.bold(fmt.Sprintf("%-8s  %-13s  %-8s  %s", "PROGRAM", "ID", "CHANGED", "TITLE")))
	}
	for _, s := range found {
		before, changed, ok := past.Has(s)
		if o.asJSON {
			if err := writeJSON(out, source{s, before.Session, changed}); err != nil {
				return err
			}
			continue
		}
		title := oneLine(s.Title)
		if o.everywhere {
			title += "  " + oneLine(s.Dir)
		}
		if ok {
			title = "✓ " + string(before.Session) + "  " + title
		}
		if changed {
			title = "(changed) " + title
		}
		fmt.Fprintln(out, fit(fmt.Sprintf("%-8s  %-13s  %-8s  %s", s.Program, fit(oneLine(s.ID), 13), age(time.Since(s.Updated)), title), columns))
	}
	return out.Flush()
}

// skipped says that a source was not imported, in JSON.
type skipped struct {
	Source  transfer.Source   `json:"source"`
	Session session.SessionID `json:"session"` // that it is already
	Skipped bool              `json:"skipped"`
	Why     string            `json:"why,omitzero"` // it cannot go on with what is new in the source
}

func (p *program) importAll(ctx context.Context, found []transfer.Source, o importing) (err error) {
	if len(found) == 0 {
		return errors.New("there is nothing to import; see --everywhere, or name a file")
	}
	setup, err := p.setUp()
	if err != nil {
		return err
	}
	a, err := app.Open(p.env.Getenv, buildOf(p.env.Version).Version)
	if err != nil {
		return err
	}
	defer func() {
		if e := a.Close(); err == nil {
			err = e
		}
	}()
	past, err := transfer.Imported(ctx, a.Store)
	if err != nil {
		return err
	}
	failed, options := 0, transfer.Options{Version: buildOf(p.env.Version).Version, Redact: setup.Secrets.Redact}
	for _, s := range found {
		r, err := o.take(ctx, a.Store, past, s, options)
		diverged, ok := errors.AsType[*transfer.DivergedError](err)
		switch {
		case ok:
			err = p.tellSkipped(s, diverged.Session, diverged.Why, o)
		case err != nil && len(found) > 1 && ctx.Err() == nil:
			failed++
			fmt.Fprintf(p.env.Stderr, "not imported: %s\n", harmless(err.Error()))
			continue
		case err == nil:
			past[transfer.Key{Program: s.Program, ID: s.ID}] = transfer.Before{Session: r.Session, Size: s.Size, Updated: s.Updated}
			err = p.tellImported(r, o)
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s could not be imported", failed, count(len(found), "session"))
	}
	return nil
}

// take imports a source: all of it, what is new since it was imported, or nothing.
func (o importing) take(
	ctx context.Context, store session.Store, past transfer.Past, s transfer.Source, options transfer.Options,
) (*transfer.Report, error) {
	before, changed, ok := past.Has(s)
	switch {
	case !ok || o.again:
		return transfer.Import(ctx, store, s, options)
	case changed:
		return transfer.GoOn(ctx, store, before.Session, s, options)
	}
	return &transfer.Report{Source: s, Session: before.Session, GoesOn: true}, nil
}

func (p *program) tellSkipped(s transfer.Source, id session.SessionID, why string, o importing) error {
	if o.asJSON {
		return writeJSON(p.env.Stdout, skipped{s, id, true, why})
	}
	text := fmt.Sprintf("%s of %s is here already as %s", fit(oneLine(s.ID), 40), s.Program, id)
	if why != "" {
		text += ", and has changed since, but " + why + ": --again takes it over as it is now, as another session"
	}
	_, err := fmt.Fprintln(p.env.Stdout, text)
	return err
}

func (p *program) tellImported(r *transfer.Report, o importing) error {
	switch {
	case r.GoesOn && r.Entries == 0:
		return p.tellSkipped(r.Source, r.Session, "", o)
	case o.asJSON:
		return writeJSON(p.env.Stdout, r)
	}
	paint, columns := paletteFor(p.env.Stdout, p.env.Getenv), p.columns()
	out := bufio.NewWriter(p.env.Stdout)
	fmt.Fprintf(out, "%s  %s\n", paint.bold(string(r.Session)), p.shown(r.Title))
	from := "from "
	if r.GoesOn {
		from = "more from "
	}
	parts := []string{from + r.Source.Program, count(r.Messages, "message"), count(r.Calls, "call")}
	if r.Branches > 0 {
		parts = append(parts, count(r.Branches, "branch")+" beside the last")
	}
	if r.Summaries > 0 {
		parts = append(parts, count(r.Summaries, "summary"))
	}
	parts = append(parts, usageWords(r.Usage))
	fmt.Fprintln(out, wrapped("  ", 2, strings.Join(parts, ", "), columns, "  "))
	if r.Unanswered > 0 {
		fmt.Fprintf(out, "  %s without a result: it has one that says so\n", count(r.Unanswered, "call"))
	}
	for i, l := range r.Lost {
		if i == 0 {
			fmt.Fprintln(out, "  not kept:")
		}
		fmt.Fprintln(out, wrapped("    ", 4, fmt.Sprintf("%d × %s; first at %s:", l.Count, oneLine(l.Kind), oneLine(l.Place)), columns, "      "))
		fmt.Fprintln(out, paint.dim("      "+fit(oneLine(l.First), columns-6)))
	}
	return out.Flush()
}
