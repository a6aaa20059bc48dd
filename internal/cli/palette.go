package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// palette colours what is written to one stream, or does not.
type palette struct{ on bool }

func (p palette) dim(s string) string    { return p.paint("2", s) }
func (p palette) bold(s string) string   { return p.paint("1", s) }
func (p palette) red(s string) string    { return p.paint("31", s) }
func (p palette) green(s string) string  { return p.paint("32", s) }
func (p palette) yellow(s string) string { return p.paint("33", s) }

func (p palette) paint(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// paletteFor is the palette for a stream by the usual rules: NO_COLOR switches colours off, CLICOLOR_FORCE on, else they
// are for terminals that are not dumb.
func paletteFor(w io.Writer, getenv func(string) string) palette {
	if getenv("NO_COLOR") != "" {
		return palette{}
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return palette{on: true}
	}
	return palette{on: width(w) != nil && getenv("TERM") != "dumb" && getenv("CLICOLOR") != "0"}
}

// width returns a function that tells how many columns a stream has now, or nil when it is no terminal. A writer that has
// a method TerminalWidth is one too.
func width(stream any) func() int {
	const usual = 80
	switch s := stream.(type) {
	case interface{ TerminalWidth() int }:
		return s.TerminalWidth
	case *os.File:
		fd := int(s.Fd())
		if !term.IsTerminal(fd) || !understandsEscapes(s) {
			return nil
		}
		return func() int {
			if w, _, err := term.GetSize(fd); err == nil && w > 0 {
				return w
			}
			return usual
		}
	default:
		return nil
	}
}
