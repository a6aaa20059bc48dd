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
		body.Files = append(body.Files, session.FileChange{Path: c.Path, Before: stateOf(c.Before), After: stateOf(c.After)})
	}
	return body
}

// Kept reports which contents the journal refers to: the others can be dropped.
func (h *History) Kept() func(hash string) bool {
	kept := map[string]bool{}
	for _, c := range h.changes {
		for _, f := range c.body.Files {
			for _, s := range []*session.FileState{f.Before, f.After} {
				if s != nil && s.Hash != "" {
					kept[s.Hash] = true
				}
			}
		}
	}
	return func(hash string) bool { return kept[hash] }
}
