package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// The programs whose sessions can be imported, as [Source].Program has them.
const (
	Tenon    = "tenon"
	Claude   = "claude"
	Codex    = "codex"
	OpenCode = "opencode"
	Crush    = "crush"
	Pi       = "pi"
)

// Programs returns the names of the programs, in the order in which they are shown.
func Programs() []string { return []string{Tenon, Claude, Codex, OpenCode, Crush, Pi} }

// Source is a session that can be imported.
type Source struct {
	Program string    `json:"program"`
	ID      string    `json:"id"`             // of the session, as the program has it
	File    string    `json:"file"`           // that it is in, absolute
	Dir     string    `json:"dir,omitzero"`   // the working directory, as far as that is known before it is read
	Title   string    `json:"title,omitzero"` // or the beginning of the first message
	Updated time.Time `json:"updated"`
	Size    int64     `json:"size"` // bytes, or rows of a database
}

// origin is what a session that is made of it says about it.
func (s Source) origin() session.Import {
	return session.Import{
		Program: s.Program, ID: strings.ToValidUTF8(s.ID, "\uFFFD"), File: strings.ToValidUTF8(s.File, "\uFFFD"),
		Size: s.Size, Updated: s.Updated.UTC().Truncate(time.Microsecond),
	}
}

// taken is the origin of a session that is made now.
func (s Source) taken() session.Import {
	i := s.origin()
	i.At = session.Now()
	return i
}

// Places is where programs keep their sessions.
type Places struct {
	Home   string              // the person's home; empty: no place below it is looked at
	Getenv func(string) string // the variables by which the programs are told otherwise; nil: none
	Dir    string              // only sessions of this working directory; empty: of every one
}

func (p Places) env(name string) string {
	if p.Getenv == nil {
		return ""
	}
	return p.Getenv(name)
}

// format is what is known about the sessions of one program.
type format struct {
	program string
	find    func(ctx context.Context, p Places) ([]Source, error) // in the usual places; nil: there are none
	read    func(ctx context.Context, s Source, b *builder) error // nil: our own, which need no tree
}

func formats() []format {
	return []format{
		{Tenon, nil, nil},
		{Claude, findClaude, readClaude},
		{Codex, findCodex, readCodex},
		{OpenCode, findOpenCode, readOpenCode},
		{Crush, findCrush, readCrush},
		{Pi, findPi, readPi},
	}
}

func formatOf(program string) (format, error) {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.program == program })
	if i < 0 {
		return format{}, fmt.Errorf("there is no program %q; it is one of %s", program, strings.Join(Programs(), ", "))
	}
	return all[i], nil
}

// Find looks in the places where programs keep their sessions, and returns what is there, the last changed first. An empty program
// is all of them. What cannot be read is told in the error, beside what was found.
func Find(ctx context.Context, program string, p Places) ([]Source, error) {
	var found []Source
	var errs []error
	for _, f := range formats() {
		if f.find == nil || program != "" && program != f.program {
			continue
		}
		some, err := f.find(ctx, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("sessions of %s: %w", f.program, err))
		}
		found = append(found, some...)
	}
	byUpdate(found)
	return found, joinErrors(errs)
}

func byUpdate(s []Source) {
	slices.SortStableFunc(s, func(a, b Source) int { return b.Updated.Compare(a.Updated) })
}
