package dialog

import (
	"fmt"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
)

// Changed is a file of the [NewContest] dialog. [keys.AllowKey] applies the changes, [keys.Delete] discards the worktrees.
type Changed struct{ undo.FileDiff }

// NewContest shows the changes of the selected one of several parallel runs. The person applies them, discards all worktrees, or closes the
// dialog, and everything stays.
func NewContest(c conversation.Contest, m conversation.Merge, o *Options) *Picker[Changed] {
	files := make([]Changed, 0, len(m.Files)+len(m.Conflicts))
	for _, f := range append(m.Files[:len(m.Files):len(m.Files)], m.Conflicts...) {
		files = append(files, Changed{f})
	}
	switch {
	case c.Selected == "":
		files = []Changed{{undo.FileDiff{Note: "no result was selected"}}}
	case len(files) == 0:
		files = []Changed{{undo.FileDiff{Note: "the selected result changes no file"}}}
	}
	copies := transcript.Count(len(c.Worktrees), "worktree")
	return newFilled(files, List[Changed]{
		Title: "Parallel runs", Accept: "diff", Stay: true, Fixed: true, Columns: []Column{{Head: "FILE"}, {Head: "LINES", Right: true}, {}},
		Head: func(width int) []string {
			var lines []string
			if c.Reason != "" {
				lines = painted(o.Theme.Text, wrap("selected: "+term.OneLine(c.Reason), width))
			}
			if c.Failed {
				lines = append(lines, o.Theme.Warn.Paint("! the command fails with this result"))
			}
			return lines
		},
		Keys: []Key[Changed]{
			{Action: keys.AllowKey, Words: "apply", Can: func(Changed) bool { return len(m.Files) > 0 }},
			{Action: keys.Delete, Words: "discard", Confirm: func(Changed) string { return "Discard all results, in " + copies + "?" }},
		},
		Row: func(f Changed) Row[Changed] {
			lines := ""
			if f.Added+f.Removed > 0 {
				lines = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
			}
			return Row[Changed]{Cells: []string{f.Path, lines, f.Note}, Detail: f.Diff}
		},
		Draw: func(f Changed, width int) []string { return preview(f.Diff, width, o) },
	}, o)
}
