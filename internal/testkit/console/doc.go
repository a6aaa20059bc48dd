// Package console is a terminal for tests: a program runs in a real pseudo-terminal, an emulator draws what it writes, and a test types and
// waits for what it wants to see. A test reads like a person's steps:
//
//	c := console.Start(t, exec.Command("tenon"), console.Size{Width: 80, Height: 24}, console.Dark)
//	c.Until("›")
//	c.Send("fix the typo")
//	c.Press("enter")
//	c.Until("Allow this change?")
//
// Nothing sleeps: a wait looks again after each output. It works on Linux and macOS; Windows has no pseudo-terminals of this kind.
package console

// Size is the size of a terminal in cells.
type Size struct{ Width, Height int }

// Answers says what a terminal answers to queries.
type Answers int

const (
	Dark   Answers = iota // a modern terminal with a dark background
	Light                 // a modern terminal with a light background
	Silent                // a terminal that answers no query and has none of the newer protocols
)
