package run

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

const (
	mostDiff = 30 // lines of the diffs of a call
	mostTail = 10 // last lines of a failed command
	mostTodo = 20
)

// details returns the lines below the line of a call, for a person who watches: the diffs of an edit, the last lines of a failed command, and the list
// of tasks. The lines fit the width.
func details(c *transcript.Call, tasks []session.TodoItem, width int, paint term.Palette) (lines []string) {
	const indent = "    "
	add := func(color func(string) string, text string) {
		lines = append(lines, indent+color(term.Fit(term.Harmless(strings.ReplaceAll(text, "\t", "  ")), max(width-len(indent)-1, 20))))
	}
	switch {
	case c.State == transcript.Failed && c.Name == "shell":
		for _, line := range tail(c.Result.Text(), mostTail) {
			add(paint.Dim, line)
		}
	case c.OK() && c.Name == "todo":
		for _, line := range tail(transcript.Todo(tasks), mostTodo) {
			color := plain
			if strings.Contains(line, "**") { // in progress
				color = paint.Bold
			}
			add(color, strings.ReplaceAll(strings.TrimPrefix(line, "- "), "**", ""))
		}
	case c.OK():
		for _, line := range diff(c.Diffs) {
			color := paint.Dim
			switch {
			case strings.HasPrefix(line, "+"):
				color = paint.Green
			case strings.HasPrefix(line, "-"):
				color = paint.Red
			}
			add(color, line)
		}
	}
	return lines
}

func plain(s string) string { return s }

// tail returns the last lines of a text that are not empty, without the line of the exit code.
func tail(text string, most int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line != "" && !strings.HasPrefix(line, "[exit code") {
			lines = append(lines, line)
		}
	}
	if n := len(lines) - most; n > 0 {
		lines = append([]string{fmt.Sprintf("… %s before", transcript.Count(n, "line"))}, lines[n:]...)
	}
	return lines
}

// diff returns the changed lines of the diffs of a call with their context. The line of a call names the file, unless there are several.
func diff(diffs []session.FileDiff) []string {
	var lines []string
	for _, d := range diffs {
		if len(diffs) > 1 {
			lines = append(lines, filepath.ToSlash(d.Path))
		}
		_, hunks, _ := strings.Cut("\n"+d.Text, "\n@@")
		for line := range strings.Lines("@@" + hunks) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	if n := len(lines) - mostDiff; n > 0 {
		lines = append(lines[:mostDiff], fmt.Sprintf("… %s more; see 'tenon diff'", transcript.Count(n, "line")))
	}
	return lines
}
