package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// wrapHelp lets the help of all commands keep to the width of a terminal. Elsewhere it stays as it is.
func (p *program) wrapHelp(root *cobra.Command) {
	const widest = 100 // longer lines are hard to read
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		columns := width(p.env.Stdout)
		if columns == nil {
			usual(c, args)
			return
		}
		out := c.OutOrStdout()
		var b strings.Builder
		c.SetOut(&b)
		usual(c, args)
		c.SetOut(out)
		_, _ = io.WriteString(out, wrappedHelp(b.String(), min(columns(), widest))) // out remembers the error
	})
}

// wrappedHelp breaks paragraphs, and what is said about flags and commands, into lines of at most columns. What else is indented stays as
// it is: people copy it.
func wrappedHelp(text string, columns int) string {
	var b strings.Builder
	paragraph, last := "", "" // and its last line, which is the heading of what is indented below it
	flush := func() {
		if paragraph != "" {
			b.WriteString(wrapped("", 0, paragraph, columns, "") + "\n")
		}
		paragraph = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if line != "" && line[0] != ' ' {
			paragraph += " " + line
			last = line
			continue
		}
		flush()
		if strings.HasSuffix(last, "Flags:") || strings.HasSuffix(last, "Commands:") {
			line = hanging(line, columns)
		}
		b.WriteString(line + "\n")
	}
	flush()
	return b.String()
}

// hanging breaks a line of two columns so that the second one stays in its place or, where it would be too narrow, stands below the first.
func hanging(line string, columns int) string {
	const narrow, indent = 24, 10
	first := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.Index(line[first:], "  ")
	if gap < 0 {
		gap = strings.IndexByte(line[first:], ' ') // behind the longest name of a command
	}
	if gap < 0 || cellsOf(line) <= columns {
		return line
	}
	text := strings.TrimLeft(line[first+gap:], " ")
	label := line[:len(line)-len(text)]
	if columns-len(label) < narrow {
		label = line[:first+gap] + "\n" + strings.Repeat(" ", indent)
		return wrapped(label, indent, text, columns, strings.Repeat(" ", indent))
	}
	return wrapped(label, len(label), text, columns, strings.Repeat(" ", len(label)))
}
