package dialog

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// NewSessions returns a picker of sessions: resume, fork, delete, rename. Set fills it. [Moved] asks for a preview.
func NewSessions(current session.SessionID, o *Options) *Picker[index.Summary] {
	title := func(s index.Summary) string { return cmp.Or(s.Title, "(empty)") }
	return NewPicker(List[index.Summary]{
		Title: "Sessions", Accept: "resume", Empty: "There is no session yet.", Moves: true,
		Columns: []Column{{Head: "TITLE"}, {Head: "CHANGED", Right: true}, {Head: "MSGS", Right: true, Drop: 1}, {Head: "COST", Right: true, Drop: 2}, {Head: "DIRECTORY", Drop: 3}, {Head: "OPEN IN"}},
		Keys: []Key[index.Summary]{
			{Action: keys.ForkRow, Words: "fork"},
			{Action: keys.Rename, Words: "rename", Input: func(s index.Summary) string { return s.Title }, Stay: true},
			{
				Action: keys.Delete, Words: "delete", Confirm: func(s index.Summary) string { return "Move the session " + title(s) + " to the trash?" },
				Stay: true, Can: func(s index.Summary) bool { return s.ID != current },
			},
		},
		Row: func(s index.Summary) Row[index.Summary] {
			cost := ""
			if s.Usage.Cost > 0 {
				cost = transcript.Dollars(s.Usage.Cost)
			}
			return Row[index.Summary]{
				Cells: []string{title(s), transcript.Age(o.now().Sub(s.Updated)), fmt.Sprint(s.Messages), cost, s.Dir, s.Owner},
				Find:  string(s.ID) + " " + strings.Join(s.Tags, " "), Current: s.ID == current, Detail: s.Dir + "\n" + s.Model,
			}
		},
	}, o)
}

// NewQueue returns a picker of drafts: edit, move, remove, send now.
func NewQueue(o *Options) *Picker[request.Draft] {
	return NewPicker(List[request.Draft]{
		Title: "Queued prompts", Accept: "edit", Empty: "No prompt waits. A prompt that you send during a run waits here.", Fixed: true, Columns: []Column{{}},
		Keys: []Key[request.Draft]{
			{Action: keys.Background, Words: "send now", Stay: true},
			{Action: keys.MoveUp, Words: "earlier", Stay: true},
			{Action: keys.MoveDown, Words: "later", Stay: true},
			{Action: keys.Delete, Words: "remove", Stay: true},
		},
		Row: func(d request.Draft) Row[request.Draft] {
			section, text := "After the run", d.Message.Text()
			if d.Lane == session.FromSteering {
				section = "At the next turn"
			}
			return Row[request.Draft]{Section: section, Cells: []string{text}, Detail: text}
		},
	}, o)
}

// NewJobs returns a picker of background jobs: read the output, end a job.
func NewJobs(o *Options) *Picker[workspace.JobStatus] {
	return NewPicker(List[workspace.JobStatus]{
		Title: "Background jobs", Accept: "output", Empty: "There is no background job.",
		Columns: []Column{{Head: "JOB"}, {Head: "COMMAND"}, {Head: "STATE"}, {Head: "STARTED", Right: true}},
		Keys: []Key[workspace.JobStatus]{{
			Action: keys.Delete, Words: "end", Confirm: func(j workspace.JobStatus) string { return "End the job " + j.ID + "?" },
			Stay: true, Can: func(j workspace.JobStatus) bool { return j.Ended.IsZero() },
		}},
		Row: func(j workspace.JobStatus) Row[workspace.JobStatus] {
			state := fmt.Sprintf("exit code %d", j.ExitCode)
			switch {
			case j.Ended.IsZero():
				state = "running"
			case j.Killed:
				state = "killed"
			}
			return Row[workspace.JobStatus]{Cells: []string{j.ID, j.Command.Line, state, transcript.Age(o.now().Sub(j.Started))}, Detail: JobText(j)}
		},
	}, o)
}

// NewServers returns a picker of MCP servers, which switches them on and off.
func NewServers(o *Options) *Picker[conversation.Server] {
	return NewPicker(List[conversation.Server]{
		Title: "MCP servers", Accept: "on or off", Stay: true, Empty: "There is no MCP server. To add one: tenon mcp add",
		Columns: []Column{{Head: "SERVER"}, {Head: "STATE"}, {Head: "TOOLS", Right: true}, {Drop: 1}},
		Row: func(s conversation.Server) Row[conversation.Server] {
			return Row[conversation.Server]{Cells: []string{s.Name, s.State, strconv.Itoa(s.Tools), s.Detail}, Detail: s.Detail}
		},
	}, o)
}

// JobText is the command of a job with its output.
func JobText(j workspace.JobStatus) string {
	text := j.Command.Line + "\n\n" + j.Head
	if j.Bytes > 0 {
		text += "\n... " + transcript.Bytes(j.Bytes) + " more are in " + j.File + "\n" + j.Tail
	}
	return text
}

// NewFiles returns a picker of changed files with their diffs.
func NewFiles(o *Options) *Picker[undo.FileDiff] {
	return NewPicker(List[undo.FileDiff]{
		Title: "Changed files", Accept: "diff", Empty: "The session changed no file.", Columns: []Column{{Head: "FILE"}, {Head: "LINES", Right: true}, {}},
		Row: func(f undo.FileDiff) Row[undo.FileDiff] {
			return Row[undo.FileDiff]{Cells: []string{f.Path, fmt.Sprintf("+%d -%d", f.Added, f.Removed), f.Note}, Detail: cmp.Or(f.Diff, f.Note)}
		},
		Draw: func(f undo.FileDiff, width int) []string { return preview(cmp.Or(f.Diff, f.Note), width, o) },
	}, o)
}

// NewDiff returns a page with the diff of a file.
func NewDiff(f undo.FileDiff, o *Options) *Page {
	return NewDrawn(f.Path, func(width int) []string { return preview(cmp.Or(f.Diff, f.Note), width, o) }, o)
}
