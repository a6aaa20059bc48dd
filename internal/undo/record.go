package undo

import (
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
)

// maxRecorded is how many files one entry of the journal tells of.
const maxRecorded = 20_000

// Record is the journal's entry for changes of files.
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
		body.Files = append(body.Files, session.FileChange{Path: c.Path, Before: stateOf(c.Before), After: stateOf(c.After), Unsure: c.Unsure})
	}
	return body
}
