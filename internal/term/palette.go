package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Palette colours what is written to one stream, or does not.
type Palette struct{ On bool }

func (p Palette) Dim(s string) string { return p.paint("2", s) }

func (p Palette) Bold(s string) string { return p.paint("1", s) }

func (p Palette) Red(s string) string { return p.paint("31", s) }

func (p Palette) Green(s string) string { return p.paint("32", s) }

func (p Palette) Yellow(s string) string { return p.paint("33", s) }

func (p Palette) paint(code, s string) string {
	if !p.On || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// PaletteFor is the palette for a stream by the usual rules: NO_COLOR switches colours off, CLICOLOR_FORCE on, else they
// are for terminals that are not dumb.
func PaletteFor(w io.Writer, getenv func(string) string) Palette {
	if getenv("NO_COLOR") != "" {
		return Palette{}
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return Palette{On: true}
	}
	return Palette{On: Width(w) != nil && getenv("TERM") != "dumb" && getenv("CLICOLOR") != "0"}
}

// Width returns a function for the current number of columns of a stream, or nil when it is no terminal. A writer that has
// a method TerminalWidth is one too.
func Width(stream any) func() int {
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
