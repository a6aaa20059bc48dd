package undo

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

type taken struct {
	Session session.SessionID `json:"session"`
	Done    bool              `json:"done"` // false: a preview
	Redo    bool              `json:"redo,omitzero"`
	To      session.ID        `json:"to,omitzero"`   // the restored entry; of a redo: the undo
	Head    session.ID        `json:"head,omitzero"` // the entry that the conversation continues
	Resumed bool              `json:"resumed,omitzero"`
	Files   []takenFile       `json:"files"`
	Notes   []string          `json:"notes,omitzero"`
}

type takenFile struct {
	Path    string             `json:"path"`
	Action  string             `json:"action"`
	Problem string             `json:"problem,omitzero"`
	Unsure  bool               `json:"unsure,omitzero"` // the session may not have made the change: only with --force
	Now     *session.FileState `json:"now,omitzero"`
	Then    *session.FileState `json:"then,omitzero"`
}

func showPlan(env *command.Env, plan *undo.Plan, o taking, done bool) error {
	out := taken{
		Session: plan.Session, Done: done, Redo: plan.Redo, To: plan.To, Head: plan.Head, Resumed: plan.Finishes != "",
		Files: []takenFile{}, Notes: plan.Notes,
	}
	for _, f := range plan.Files {
		out.Files = append(out.Files, takenFile{plan.Rel(f.Path), action(f), f.Problem, f.Unsure, f.Now, f.Want})
	}
	paint := env.Paint()
	var b strings.Builder
	fmt.Fprintln(&b, paint.Bold(env.Shown(heading(plan, done))))
	for _, f := range plan.Files {
		what := action(f)
		if f.Problem != "" && (done && f.Lost || f.Unsure && !o.force) {
			what = "leave"
		}
		fmt.Fprintf(&b, "  %-8s %s", what, workspace.Quote(plan.Rel(f.Path)))
		if f.Problem != "" {
			fmt.Fprint(&b, "  "+paint.Yellow("! "+term.OneLine(f.Problem)))
		}
		fmt.Fprintln(&b)
	}
	if !o.force && slices.ContainsFunc(plan.Files, func(f undo.File) bool { return f.Unsure }) {
		fmt.Fprintln(&b, paint.Dim("Changes of uncertain origin stay; --force undoes them too, and 'tenon redo' brings them back."))
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(&b, paint.Dim(strings.TrimSuffix(env.Wrap("", 0, env.Shown(note)), "\n")))
	}
	fmt.Fprintln(&b, env.Shown(total(plan, done)))
	return env.Print(o.asJSON, command.Result{JSON: out, Text: b.String()})
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
		text += ": " + term.Fit(term.OneLine(plan.Title), 50)
	}
	if plan.Finishes != "" {
		text += " (the rest of an interrupted " + strings.ToLower(what) + ")"
	}
	return text
}

func total(plan *undo.Plan, done bool) string {
	var parts []string
	if n := len(plan.Files); n > 0 {
		parts = append(parts, transcript.Count(n, "file"))
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
			where += "where it was before the undo"
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
		text += "; 'tenon redo' reverts it"
	}
	return text
}

// action returns the operation on a file in one word.
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

func firstLines(text string, most int) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + fmt.Sprintf("… %s\n", transcript.Count(len(lines)-most, "more line"))
}

func harmlessLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = term.Harmless(line)
	}
	return strings.Join(lines, "\n")
}
