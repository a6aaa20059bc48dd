package undo

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
)

// maxRecorded is the maximum of files in one entry of the journal.
const maxRecorded = 20_000

// Record returns the entry of the journal for changes of files.
func Record(call string, changes []workspace.Change) session.FilesChanged {
	body := session.FilesChanged{Call: call, Cause: session.ByTool}
	for _, c := range changes {
		if c.Done {
			body.Cause = session.ByCommand
		}
		if len(body.Files) == maxRecorded {
			body.More++
			continue
		}
		f := session.FileChange{Path: c.Path, Before: stateOf(c.Before), After: stateOf(c.After), Unsure: c.Unsure}
		body.Files = append(body.Files, renamed(f, written))
	}
	return body
}

// written returns a path, or the target of a link, in the form of the journal, which is text: names that are not UTF-8, or that look like
// quoted ones, are quoted.
func written(name string) string {
	if utf8.ValidString(name) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return strconv.Quote(name)
}

// unwritten is the inverse of written.
func unwritten(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

// renamed returns a change with other names.
func renamed(f session.FileChange, name func(string) string) session.FileChange {
	f.Path = name(f.Path)
	for _, s := range []**session.FileState{&f.Before, &f.After} {
		if *s != nil && (*s).Link != "" {
			other := **s
			other.Link = name(other.Link)
			*s = &other
		}
	}
	return f
}
