package transfer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// The values of [Source].Program.
const (
	Tenon    = "tenon"
	Claude   = "claude"
	Codex    = "codex"
	OpenCode = "opencode"
	Crush    = "crush"
	Pi       = "pi"
)

// Programs returns the names of the programs in display order.
func Programs() []string { return []string{Tenon, Claude, Codex, OpenCode, Crush, Pi} }

// Source is a session that can be imported.
type Source struct {
	Program string    `json:"program"`
	ID      string    `json:"id"`             // of the session in its program
	File    string    `json:"file"`           // absolute path of its file
	Dir     string    `json:"dir,omitzero"`   // the working directory, if known before reading
	Title   string    `json:"title,omitzero"` // or the beginning of the first message
	Updated time.Time `json:"updated"`
	Size    int64     `json:"size"` // bytes, or rows of a database
}

// origin is the record of the source in the imported session.
func (s Source) origin() session.Import {
	return session.Import{
		Program: s.Program, ID: strings.ToValidUTF8(s.ID, "\uFFFD"), File: strings.ToValidUTF8(s.File, "\uFFFD"),
		Size: s.Size, Updated: s.Updated.UTC().Truncate(time.Microsecond), At: session.Now(),
	}
}

// Places says where programs keep their sessions.
type Places struct {
	Home   string              // home directory; empty: do not look there
	Getenv func(string) string // environment variables with other locations; nil: none
	Dir    string              // only sessions of this working directory; empty: all
}

// base returns the directory of a program: that of an environment variable, or one in the home directory. It is empty if neither
// is known.
func (p Places) base(variable string, below ...string) string {
	if p.Getenv != nil && variable != "" && p.Getenv(variable) != "" {
		return p.Getenv(variable)
	}
	if p.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// format describes the sessions of one program.
type format struct {
	program string
	find    func(ctx context.Context, p Places) ([]Source, error)        // in the usual places; nil: none
	look    func(ctx context.Context, file string) (Source, bool, error) // identifies a file; nil: the sessions are in a database
	read    func(ctx context.Context, s Source, b *builder) error        // nil: Tenon's own format, which needs no tree
}

// formats returns all formats, in the order in which look tries them.
func formats() []format {
	return []format{
		{Tenon, nil, lookTenon, nil},
		lineFormat(Codex, codexFiles, lookCodex, readCodex),
		lineFormat(Pi, piFiles, lookPi, readPi),
		{OpenCode, findOpenCode, nil, readOpenCode},
		lineFormat(Claude, claudeFiles, lookClaude, readClaude),
		{Crush, findCrush, nil, readCrush},
	}
}

// lineFormat is the format of a program that keeps each session in a file with an object on each line. look takes facts from the
// first lines; the file is a session of the program if look finds its ID.
func lineFormat(
	program string, files func(Places) []string, look func(*Source, object), read func(context.Context, Source, *builder) error,
) format {
	facts := func(ctx context.Context, file string) (Source, bool, error) {
		s, err := sourceOf(program, file)
		if err != nil {
			return s, false, err
		}
		n := 0
		err = beginning(ctx, file, func(l object) bool {
			look(&s, l)
			n++
			return (s.ID != "" || program == Claude) && (s.Title == "" || s.Dir == "" && program == Claude)
		})
		return s, s.ID != "", err
	}
	find := func(ctx context.Context, p Places) (found []Source, err error) {
		for _, file := range files(p) {
			if err := ctx.Err(); err != nil {
				return found, err
			}
			s, ok, e := facts(ctx, file)
			if err = errors.Join(err, e); ok && e == nil {
				found = append(found, s)
			}
		}
		return found, err
	}
	return format{program, find, facts, read}
}

func formatOf(program string) (format, error) {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.program == program })
	if i < 0 {
		return format{}, fmt.Errorf("unknown program %q; use one of %s", program, strings.Join(Programs(), ", "))
	}
	return all[i], nil
}

// Find returns the sessions in the usual places of the programs, the last changed first. An empty program means
// all of them. The error reports unreadable places; the sessions found are valid nevertheless.
func Find(ctx context.Context, program string, p Places) (found []Source, err error) {
	if p.Getenv == nil {
		p.Getenv = func(string) string { return "" }
	}
	for _, f := range formats() {
		if f.find == nil || program != "" && program != f.program {
			continue
		}
		some, e := f.find(ctx, p)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("sessions of %s: %w", f.program, e))
		}
		for _, s := range some {
			if p.Dir == "" || s.Dir == p.Dir || s.Program == Crush || s.Dir == "" && s.Program == Claude {
				found = append(found, s)
			}
		}
	}
	byUpdate(found)
	return found, err
}

func byUpdate(s []Source) {
	slices.SortStableFunc(s, func(a, b Source) int { return b.Updated.Compare(a.Updated) })
}
