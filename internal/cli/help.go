package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
)

// wrapHelp wraps the help of all commands at the width of the terminal, or at 80 columns elsewhere.
func wrapHelp(env *command.Env, root *cobra.Command) {
	const usualColumns, widest = 80, 100 // longer lines are hard to read
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		columns := usualColumns
		if width := term.Width(env.Stdout); width != nil {
			columns = min(width(), widest)
		}
		out := c.OutOrStdout()
		var b strings.Builder
		c.SetOut(&b)
		usual(c, args)
		c.SetOut(out)
		_, _ = io.WriteString(out, wrappedHelp(b.String(), columns)) // out keeps the error
	})
}

// wrappedHelp breaks paragraphs and descriptions of flags and commands into lines of at most columns. Other indented lines do not change,
// because people copy them.
func wrappedHelp(text string, columns int) string {
	var b strings.Builder
	paragraph, last := "", "" // last is its last line, the heading of an indented list
	flush := func() {
		if paragraph != "" {
			b.WriteString(term.Wrap("", 0, paragraph, columns, "") + "\n")
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

// hanging breaks a line of two columns so that the second one stays aligned, or moves below the first if it would be too narrow.
func hanging(line string, columns int) string {
	const narrow, indent = 24, 10
	first := len(line) - len(strings.TrimLeft(line, " "))
	gap := strings.Index(line[first:], "  ")
	if gap < 0 {
		gap = strings.IndexByte(line[first:], ' ') // after the longest name of a command
	}
	if gap < 0 || term.Cells(line) <= columns {
		return line
	}
	text := strings.TrimLeft(line[first+gap:], " ")
	label := line[:len(line)-len(text)]
	if columns-len(label) < narrow {
		label = line[:first+gap] + "\n" + strings.Repeat(" ", indent)
		return term.Wrap(label, indent, text, columns, strings.Repeat(" ", indent))
	}
	return term.Wrap(label, len(label), text, columns, strings.Repeat(" ", len(label)))
}
