package cli

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
)

// taken is a plan in JSON.
type taken struct {
	Session session.SessionID `json:"session"`
	Done    bool              `json:"done"` // false: this is what would happen
	Redo    bool              `json:"redo,omitzero"`
	To      session.ID        `json:"to,omitzero"`   // the entry that was brought back; of a redo: the undo
	Head    session.ID        `json:"head,omitzero"` // the entry from which the conversation goes on
	Resumed bool              `json:"resumed,omitzero"`
	Files   []takenFile       `json:"files"`
	Notes   []string          `json:"notes,omitzero"`
}

type takenFile struct {
	Path    string             `json:"path"`
	Action  string             `json:"action"`
	Problem string             `json:"problem,omitzero"`
	Unsure  bool               `json:"unsure,omitzero"` // it may be somebody else's doing: only with --force
	Now     *session.FileState `json:"now,omitzero"`
	Then    *session.FileState `json:"then,omitzero"`
}

// showPlan says what an undo or a redo did or would do.
func (p *program) showPlan(plan *undo.Plan, o taking, done bool) error {
	if o.asJSON {
		out := taken{
			Session: plan.Session, Done: done, Redo: plan.Redo, To: plan.To, Head: plan.Head, Resumed: plan.Finishes != "",
			Files: []takenFile{}, Notes: plan.Notes,
		}
		for _, f := range plan.Files {
			out.Files = append(out.Files, takenFile{plan.Rel(f.Path), action(f), f.Problem, f.Unsure, f.Now, f.Want})
		}
		return writeJSON(p.env.Stdout, out)
	}
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	var b strings.Builder
	fmt.Fprintln(&b, paint.bold(p.shown(heading(plan, done))))
	counts := map[string]int{}
	for _, f := range plan.Files {
		what := action(f)
		line := fmt.Sprintf("  %-8s %s", what, workspace.Quote(plan.Rel(f.Path)))
		if f.Problem != "" && (done && f.Lost || f.Unsure && !o.force) {
			what, line = "left", fmt.Sprintf("  %-8s %s", "leave", workspace.Quote(plan.Rel(f.Path)))
		}
		if counts[what]++; f.Problem != "" {
			line += "  " + paint.yellow("! "+oneLine(f.Problem))
		}
		fmt.Fprintln(&b, line)
	}
	if !o.force && slices.ContainsFunc(plan.Files, func(f undo.File) bool { return f.Unsure }) {
		fmt.Fprintln(&b, paint.dim("What may be somebody else's stays as it is; --force takes it back too, and 'tenon redo' brings it again."))
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(&b, paint.dim(p.shown(note)))
	}
	fmt.Fprintln(&b, p.shown(total(plan, done)))
	_, err := p.env.Stdout.Write([]byte(b.String()))
	return err
}

func heading(plan *undo.Plan, done bool) string {
	what, doing := "Undo", "Undone"
	if plan.Redo {
		what, doing = "Redo", "Redone"
	}
	if !done {
		doing = "Would " + strings.ToLower(what)
	}
	text := fmt.Sprintf("%s in session %s", doing, plan.Session)
	if plan.Title != "" {
		text += ": " + fit(oneLine(plan.Title), 50)
	}
	if plan.Finishes != "" {
		text += " (what an interrupted " + strings.ToLower(what) + " had left)"
	}
	return text
}

func total(plan *undo.Plan, done bool) string {
	var parts []string
	if n := len(plan.Files); n > 0 {
		parts = append(parts, count(n, "file"))
	} else {
		parts = append(parts, "no files")
	}
	if plan.Head != "" {
		where := "the conversation is back "
		if !done {
			where = "the conversation would be back "
		}
		switch {
		case plan.Redo:
			where += "where it was"
		case plan.Title != "":
			where += "before it"
		case string(plan.Head) == string(plan.Session):
			where += "at its beginning"
		default:
			where += "at entry " + string(plan.Head)
		}
		parts = append(parts, where)
	}
	text := strings.Join(parts, "; ")
	switch {
	case !done || plan.Finishes != "":
	case plan.Redo:
		text += "; 'tenon undo' undoes it again"
	default:
		text += "; 'tenon redo' takes it back"
	}
	return text
}

// action is what is done with a file, in one word.
func action(f undo.File) string {
	switch {
	case f.Want == nil:
		return "remove"
	case f.Now == nil:
		return "recreate"
	case f.Now.Hash == f.Want.Hash && f.Now.Link == f.Want.Link && fs.FileMode(f.Now.Mode).Type() == fs.FileMode(f.Want.Mode).Type():
		return "mode"
	}
	return "restore"
}

// firstLines is the beginning of a text.
func firstLines(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + fmt.Sprintf("… %s more\n", count(len(lines)-most, "line"))
}

// harmlessLines makes each line of a text harmless.
func harmlessLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = harmless(line)
	}
	return strings.Join(lines, "\n")
}
