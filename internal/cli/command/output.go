package command

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/term"
)

// Result is the output of a command.
type Result struct {
	JSON any    // with --json: printed on one line, or one line for each value of [Lines]; a func() (any, error) returns it
	Text string // otherwise, on standard output
	Note string // and after that on standard error
}

type lines []any

// Lines makes [Env.Print] write each value as JSON on its own line.
func Lines[T any](values []T) any {
	out := make(lines, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// Print writes a result, without known keys.
func (env *Env) Print(asJSON bool, r Result) error {
	if !asJSON {
		_, err := io.WriteString(env.Stdout, env.hidden(r.Text))
		if r.Note != "" {
			env.Tell("%s", r.Note)
		}
		return err
	}
	if f, ok := r.JSON.(func() (any, error)); ok {
		var err error
		if r.JSON, err = f(); err != nil {
			return err
		}
	}
	all, ok := r.JSON.(lines)
	if !ok {
		all = lines{r.JSON}
	}
	for _, value := range all {
		data, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(env.Stdout, env.hidden(string(data))+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Tell writes a line for people to standard error, without known keys.
func (env *Env) Tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if width := term.Width(env.Stderr); width != nil {
		var b strings.Builder
		for line := range strings.Lines(text) {
			b.WriteString(term.Wrap("", 0, line, width(), "  ") + "\n")
		}
		text = b.String()
	}
	_, _ = io.WriteString(env.Stderr, env.hidden(strings.TrimSuffix(text, "\n")+"\n")) // no place is left for an error of standard error
}

// hidden returns the text without known keys.
func (env *Env) hidden(text string) string {
	if env.secrets == nil {
		return text
	}
	return env.secrets.Redact(text)
}

// WriteJSON writes a value as one line of JSON.
func WriteJSON(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// Confirm asks a person on the terminal. The error is nil if the answer is yes.
func (env *Env) Confirm(c *cobra.Command, question string) error {
	if term.Width(env.Stdin) == nil {
		return Usagef(c, "this needs --yes: there is no terminal to ask on")
	}
	fmt.Fprint(env.Stderr, question+" [y/N] ")
	line, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return Codef("cli.declined", "the answer is no: nothing was changed")
}

// Table returns rows in aligned columns, below a head unless heads is nil. A column is as wide as its widest cell; if its head begins
// with ">", its cells are aligned to the right. The last column is cut at the width of the terminal. Cells are shown on one line.
func (env *Env) Table(heads []string, rows [][]string) string {
	all := rows
	if heads != nil {
		all = append([][]string{heads}, rows...)
	}
	var widths []int
	flat := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")
	for _, row := range all {
		for i, cell := range row {
			row[i] = flat.Replace(cell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], term.Cells(strings.TrimPrefix(row[i], ">")))
		}
	}
	columns := env.Columns()
	var b strings.Builder
	for n, row := range all {
		var line strings.Builder
		for i, cell := range row {
			right := i < len(heads) && strings.HasPrefix(heads[i], ">")
			if n == 0 {
				cell = strings.TrimPrefix(cell, ">")
			}
			pad := strings.Repeat(" ", max(0, widths[i]-term.Cells(cell)))
			switch {
			case right:
				cell = pad + cell
			case i < len(row)-1:
				cell += pad
			}
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell)
		}
		text := strings.TrimRight(term.Fit(term.Harmless(line.String()), columns), " ")
		if n == 0 && heads != nil {
			text = env.Paint().Bold(text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// Figures are columns that are aligned to the right.
type Figures []struct {
	Head  string
	Width int
	From  int // the width of the narrowest terminal that has the column
}

// Row returns the cells of the columns that a terminal has; without cells the heads.
func (f Figures) Row(columns int, cells ...string) string {
	var b strings.Builder
	for i, c := range f {
		if c.From > columns {
			continue
		}
		if cell := c.Head; len(cells) == 0 {
			fmt.Fprintf(&b, "%*s", c.Width, cell)
		} else {
			fmt.Fprintf(&b, "%*s", c.Width, cells[i])
		}
	}
	return b.String()
}

// Line returns a name and its row. A long name has its own line.
func (f Figures) Line(columns int, name string, cells ...string) string {
	row, before := f.Row(columns, cells...), ""
	first := max(columns-len(f.Row(columns)), 2)
	if term.Cells(name) > first-1 {
		before, name = term.Fit(name, columns)+"\n", ""
	}
	return before + name + strings.Repeat(" ", first-term.Cells(name)) + row + "\n"
}

// Wrap returns text in lines that fit a terminal, with an indent from the second line on. The label is used cells wide.
func (env *Env) Wrap(label string, used int, text string) string {
	if term.Width(env.Stdout) == nil {
		return label + text + "\n"
	}
	return term.Wrap(label, used, text, env.Columns(), strings.Repeat(" ", used)) + "\n"
}

// Paint returns the colors of standard output.
func (env *Env) Paint() term.Palette { return term.PaletteFor(env.Stdout, env.Getenv) }

// UsageJSON is llm.Usage in JSON: with all tokens, also if they are 0, and without the cost.
type UsageJSON struct {
	Input      int64   `json:"input"`
	CacheRead  int64   `json:"cache_read"`
	CacheWrite int64   `json:"cache_write"`
	Output     int64   `json:"output"`
	Reasoning  int64   `json:"reasoning"`
	Cost       float64 `json:"-"`
}

// Round removes the error of sums of floating-point numbers, far below the price of one token.
func Round(dollars float64) float64 {
	const fine = 1e9
	return math.Round(dollars*fine) / fine
}
