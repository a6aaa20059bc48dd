package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

// pruning is the flags of sessions prune.
type pruning struct {
	older               time.Duration
	larger              int64
	trash               bool
	dryRun, yes, asJSON bool
}

func (p *program) sessionsPrune() *cobra.Command {
	var o pruning
	c := &cobra.Command{
		Use:   "prune {--older AGE | --larger SIZE | --trash}",
		Short: "Move old sessions to the trash, or empty it",
		Long: `Move sessions of every directory to the trash: those that were not changed, nor imported, for a time, or the oldest beyond a size,
which is that of their entries and of what was kept of files beside them. With --trash the sessions in the trash are deleted for ever;
with --trash --older those that are there for so long, and their space is given back to the system. Nothing is ever pruned unasked.`,
		Example: `  tenon sessions prune --older 90d --dry-run
  tenon sessions prune --larger 1GB --yes
  tenon sessions prune --trash --older 30d --yes`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.older == 0 && o.larger == 0 && !o.trash:
				return usagef(c, "say what to prune: --older, --larger or --trash")
			case o.larger > 0 && (o.trash || o.older > 0):
				return usagef(c, "--larger stands alone")
			}
			return p.withApp(errNoSessions, func(a *app.App) error { return p.prune(c, a, o) })
		},
	}
	f := c.Flags()
	f.Var(ageOf(&o.older), "older", "sessions that were not changed, nor imported, for so long, such as 90d")
	f.Var(byteSize(&o.larger), "larger", "the oldest sessions, as long as all together are larger, such as 1GB")
	f.BoolVar(&o.trash, "trash", false, "what is in the trash, for ever")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would happen, and do nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.asJSON, "json", false, "as JSON, one object to a line")
	return c
}

// pruned is a session that is pruned.
type pruned struct {
	Session session.SessionID `json:"session"`
	Title   string            `json:"title"`
	Dir     string            `json:"dir"`
	Updated time.Time         `json:"updated"`
	Size    int64             `json:"size"` // bytes of its entries and of what was kept beside them
	Forever bool              `json:"forever"`
	Done    bool              `json:"done"`
	Locked  string            `json:"locked,omitzero"`  // by whom: it stays
	Changed bool              `json:"changed,omitzero"` // since it was chosen: it stays
}

func (p *program) prune(c *cobra.Command, a *app.App, o pruning) error {
	ctx := c.Context()
	chosen, err := o.choose(ctx, a)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !o.asJSON {
		fmt.Fprintln(p.env.Stderr, "nothing to prune")
	}
	what := "move %s to the trash"
	if o.trash {
		what = "delete %s for ever"
	}
	what = fmt.Sprintf(what, count(len(chosen), "session"))
	if !o.dryRun && !o.yes && len(chosen) > 0 {
		if err := p.confirm(c, strings.ToUpper(what[:1])+what[1:]+"?"); err != nil {
			return err
		}
	}
	if o.trash && !o.dryRun {
		defer p.compact(ctx, a) // also what others have left
	}
	var freed int64
	done := 0
	for _, s := range chosen {
		if !o.dryRun {
			if err := o.remove(ctx, a, &s); err != nil {
				return err
			}
		}
		if s.Locked == "" && !s.Changed {
			done++
			freed += s.Size
		}
		if err := p.showPruned(s, o.asJSON); err != nil {
			return err
		}
	}
	if o.asJSON || len(chosen) == 0 {
		return nil
	}
	if o.dryRun {
		_, err = fmt.Fprintf(p.env.Stderr, "would %s, %s\n", what, bytesWords(freed))
		return err
	}
	hint := ""
	if !o.trash {
		hint = "; in the trash, where 'tenon sessions restore' finds them, and 'tenon sessions prune --trash' empties it"
	}
	_, err = fmt.Fprintf(p.env.Stderr, "%s, %s%s\n", count(done, "session"), bytesWords(freed), hint)
	return err
}

// remove prunes a session, unless somebody writes it or did something with it since it was chosen, such as bring it back from the trash.
func (o pruning) remove(ctx context.Context, a *app.App, s *pruned) error {
	s.Changed = true
	for now, err := range a.Store.List(ctx, session.Query{Prefix: string(s.Session), Deleted: o.trash, Limit: 1}) {
		if err != nil {
			return err
		}
		s.Changed = !now.Updated.Equal(s.Updated)
	}
	if s.Changed {
		return nil
	}
	err := remove(ctx, a, s.Session, o.trash)
	if l, ok := errors.AsType[*session.LockedError](err); ok {
		s.Locked = cmp.Or(l.Owner, "another process")
		return nil
	}
	s.Done = err == nil
	return err
}

func (p *program) showPruned(s pruned, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, s)
	}
	title := oneLine(s.Title)
	if s.Locked != "" {
		title = "stays: " + oneLine(s.Locked) + " writes it"
	}
	if s.Changed {
		title = "stays: it was used, moved or deleted meanwhile"
	}
	line := fmt.Sprintf("%s  %-8s  %8s  %s", s.Session, age(time.Since(s.Updated)), bytesWords(s.Size), title)
	_, err := fmt.Fprintln(p.env.Stdout, fit(line, p.columns()))
	return err
}

// choose is what is to be pruned, the oldest first.
func (o pruning) choose(ctx context.Context, a *app.App) ([]pruned, error) {
	q := session.Query{Deleted: o.trash}
	if o.older > 0 && !o.trash {
		q.Before = time.Now().Add(-o.older)
	}
	var summaries []session.Summary
	for s, err := range a.Store.List(ctx, q) {
		if err != nil {
			return nil, err
		}
		if o.trash && time.Since(s.Deleted) < o.older {
			continue
		}
		summaries = append(summaries, s)
	}
	var out []pruned
	total := int64(0)
	for _, s := range summaries { // the last changed first
		if at, err := importedAt(ctx, a.Store, s.ID); err != nil {
			return nil, err
		} else if !o.trash && time.Since(at) < o.older {
			continue
		}
		size, err := sizeOf(ctx, a, s.ID)
		if errors.Is(err, session.ErrNotFound) {
			continue // another process purged it
		}
		if err != nil && !errors.Is(err, session.ErrCorrupt) { // what is damaged can be pruned too
			return nil, err
		}
		if total += size; o.larger == 0 || total > o.larger {
			out = append(out, pruned{Session: s.ID, Title: s.Title, Dir: s.Dir, Updated: s.Updated, Size: size, Forever: o.trash})
		}
	}
	slices.Reverse(out)
	return out, nil
}

// importedAt is when a session was imported; the zero time: it was not, or by a version that did not say so, or it is gone or damaged.
func importedAt(ctx context.Context, store session.Store, id session.SessionID) (time.Time, error) {
	for e, err := range store.Read(ctx, id, 0, session.Created{}.Kind()) {
		if errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrCorrupt) {
			break
		}
		if err != nil {
			return time.Time{}, err
		}
		if c, ok := e.Body.(session.Created); ok {
			return c.Imported.At, nil
		}
	}
	return time.Time{}, nil
}

// sizeOf is about how many bytes a session takes. Of one that is damaged it is less than that, with the error.
func sizeOf(ctx context.Context, a *app.App, id session.SessionID) (int64, error) {
	size, damage := journalSize(ctx, a, id)
	for _, dir := range a.Places(id) {
		err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // it is gone, or nothing that takes space
			}
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return size, damage
}

// journalSize is about how many bytes the entries of a session take, as far as they can be read.
func journalSize(ctx context.Context, a *app.App, id session.SessionID) (size int64, err error) {
	for e, err := range a.Store.Read(ctx, id, 0) {
		if err != nil {
			return size, err
		}
		n, err := e.MarshalJSON()
		if err != nil {
			return size, err
		}
		size += int64(len(n))
	}
	return size, nil
}
