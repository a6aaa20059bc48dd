package sessions

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
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// pruning is the flags of sessions prune.
type pruning struct {
	older               time.Duration
	larger              int64
	trash               bool
	dryRun, yes, asJSON bool
}

func newPrune(env *command.Env) *cobra.Command {
	var o pruning
	c := &cobra.Command{
		Use:   "prune {--older AGE | --larger SIZE | --trash}",
		Short: "Move old sessions to the trash, or empty the trash",
		Long: `Move sessions of every directory to the trash: sessions not modified for a time (imports
count as modifications), or the oldest sessions beyond a total size of entries and saved
file contents. With --trash, permanently delete the sessions in the trash; with --trash
--older, those that were deleted at least this long ago. Tenon then frees their disk
space. Tenon never prunes by itself.`,
		Example: `  tenon sessions prune --older 90d --dry-run
  tenon sessions prune --larger 1GB --yes
  tenon sessions prune --trash --older 30d --yes`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.older == 0 && o.larger == 0 && !o.trash:
				return command.Usagef(c, "name the sessions to prune: --older, --larger or --trash")
			case o.larger > 0 && (o.trash || o.older > 0):
				return command.Usagef(c, "--larger excludes --older and --trash")
			}
			return env.WithApp(command.ErrNoSessions, func(a *app.App) error { return pruneSessions(env, c, a, o) })
		},
	}
	f := c.Flags()
	f.Var(command.AgeOf(&o.older), "older", "sessions not modified for at least this long, e.g. 90d")
	f.Var(command.ByteSize(&o.larger), "larger", "the oldest sessions beyond this total size, e.g. 1GB")
	f.BoolVar(&o.trash, "trash", false, "permanently delete the sessions in the trash")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would happen, and change nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, one object per line")
	return c
}

type pruned struct {
	Session session.SessionID `json:"session"`
	Title   string            `json:"title"`
	Dir     string            `json:"dir"`
	Updated time.Time         `json:"updated"`
	Size    int64             `json:"size"` // bytes of its entries and saved file contents
	Forever bool              `json:"forever"`
	Done    bool              `json:"done"`
	Locked  string            `json:"locked,omitzero"`  // the process that writes it: it stays
	Changed bool              `json:"changed,omitzero"` // since it was chosen: it stays
}

func pruneSessions(env *command.Env, c *cobra.Command, a *app.App, o pruning) error {
	ctx := c.Context()
	chosen, err := o.choose(ctx, a)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !o.asJSON {
		env.Tell("nothing to prune")
	}
	what := "move %s to the trash"
	if o.trash {
		what = "delete %s permanently"
	}
	what = fmt.Sprintf(what, transcript.Count(len(chosen), "session"))
	if !o.dryRun && !o.yes && len(chosen) > 0 {
		if err := env.Confirm(c, transcript.Capital(what)+"?"); err != nil {
			return err
		}
	}
	if o.trash && !o.dryRun {
		defer compactStore(env, ctx, a) // also the remains of others
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
		if err := showPruned(env, s, o.asJSON); err != nil {
			return err
		}
	}
	if o.asJSON || len(chosen) == 0 {
		return nil
	}
	switch done := transcript.Count(done, "session"); {
	case o.dryRun:
		env.Tell("would %s, %s", what, transcript.Bytes(freed))
	case o.trash:
		env.Tell("%s, %s", done, transcript.Bytes(freed))
	default:
		env.Tell("%s, %s; 'tenon sessions restore' brings them back, 'tenon sessions prune --trash' empties the trash", done, transcript.Bytes(freed))
	}
	return nil
}

// remove prunes a session, unless a process writes it, or it changed after it was chosen, for example by a restore.
func (o pruning) remove(ctx context.Context, a *app.App, s *pruned) error {
	s.Changed = true
	for now, err := range a.Store.List(ctx, index.Query{Prefix: string(s.Session), Deleted: o.trash, Limit: 1}) {
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

func showPruned(env *command.Env, s pruned, asJSON bool) error {
	title := s.Title
	if s.Locked != "" {
		title = "stays: " + s.Locked + " writes it"
	}
	if s.Changed {
		title = "stays: it was used, moved or deleted in the meantime"
	}
	row := []string{string(s.Session), fmt.Sprintf("%-8s", transcript.Age(time.Since(s.Updated))), fmt.Sprintf("%8s", transcript.Bytes(s.Size)), title}
	return env.Print(asJSON, command.Result{JSON: s, Text: term.Fit(term.Harmless(strings.Join(row, "  ")), env.Columns()) + "\n"})
}

// choose returns the sessions to prune, the oldest first.
func (o pruning) choose(ctx context.Context, a *app.App) ([]pruned, error) {
	q := index.Query{Deleted: o.trash}
	if o.older > 0 && !o.trash {
		q.Before = time.Now().Add(-o.older)
	}
	summaries, err := collect(a.Store.List(ctx, q))
	if err != nil {
		return nil, err
	}
	var out []pruned
	total := int64(0)
	for _, s := range summaries { // the last changed first
		if o.trash && time.Since(s.Deleted) < o.older {
			continue
		}
		if at, err := importedAt(ctx, a.Store, s.ID); err != nil {
			return nil, err
		} else if !o.trash && time.Since(at) < o.older {
			continue
		}
		size, err := sizeOf(ctx, a, s.ID)
		if errors.Is(err, session.ErrNotFound) {
			continue // another process purged it
		}
		if err != nil && !errors.Is(err, session.ErrCorrupt) { // a damaged session can be pruned too
			return nil, err
		}
		if total += size; o.larger == 0 || total > o.larger {
			out = append(out, pruned{Session: s.ID, Title: s.Title, Dir: s.Dir, Updated: s.Updated, Size: size, Forever: o.trash})
		}
	}
	slices.Reverse(out)
	return out, nil
}

// importedAt returns the time at which a session was imported. It is zero for other sessions, and if the session is gone or damaged.
func importedAt(ctx context.Context, store index.Store, id session.SessionID) (time.Time, error) {
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

// sizeOf estimates the size of a session in bytes: the entries that can be read, and its files. The error is that of the journal.
func sizeOf(ctx context.Context, a *app.App, id session.SessionID) (size int64, damage error) {
	for e, err := range a.Store.Read(ctx, id, 0) {
		if err != nil {
			damage = err
			break
		}
		n, err := e.MarshalJSON()
		if err != nil {
			return size, err
		}
		size += int64(len(n))
	}
	err := filepath.WalkDir(a.Contents(id), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // it is gone, or takes no space
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return size, damage
}
