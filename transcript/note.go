package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// NoteKind is the kind of a [Note], for its looks.
type NoteKind string

// The kinds of notes.
const (
	NoteInfo    NoteKind = "info"
	NoteText    NoteKind = "text"    // something to read: a plan, a remark
	NoteWarning NoteKind = "warning" // a problem that does not end the run
	NoteError   NoteKind = "error"
	NoteCut     NoteKind = "cut"  // the context window has less
	NoteBack    NoteKind = "back" // the conversation continues an earlier entry
	NoteEnd     NoteKind = "end"  // of a run
)

// Note is something between messages.
type Note struct {
	Kind   NoteKind
	Title  string // one line
	Detail string // Markdown
	Plain  string // plain text
}

// Describe returns the note for an event between messages; false if people need not see it. Notes about tasks and parallel runs need the events
// before them: [Transcript.Add] makes those.
func Describe(b session.Body) (Note, bool) {
	switch b := b.(type) {
	case session.Summarized:
		return Note{Kind: NoteCut, Title: summarized(b), Detail: b.Summary}, true
	case session.Trimmed:
		return Note{Kind: NoteCut, Title: Count(len(b.Messages), "old result") + " trimmed"}, true
	case live.Compacting:
		switch {
		case b.Error != "":
			return Note{Kind: NoteWarning, Title: "the summary failed: " + line(b.Error)}, true
		case !b.Done:
			return Note{Kind: NoteInfo, Title: "summarizing the conversation: " + summaryReason(b.Reason)}, true
		}
	case session.Revert:
		return Note{Kind: NoteBack, Title: "the model rewinds (" + line(b.Category) + "): " + line(b.Lesson), Detail: b.Lesson}, true
	case session.Cleanup:
		return Note{Kind: NoteInfo, Title: "the model drops a result: " + line(b.Reason), Detail: b.Summary}, true
	case session.Head:
		title := "back to an earlier entry"
		switch b.Reason {
		case "":
		case "undo":
			title = "undone"
		case "redo":
			title = "redone"
		default:
			title += ": " + strings.ReplaceAll(b.Reason, "_", " ")
		}
		return Note{Kind: NoteBack, Title: title}, true
	case session.Epoch:
		title := "context window: " + Epoch(b.Reason)
		if b.Model.ID != "" {
			title += ", " + b.Model.Ref()
		}
		return Note{Kind: NoteInfo, Title: title, Plain: b.System}, true
	case session.ModelChanged:
		return Note{Kind: NoteInfo, Title: "model: " + joined(b.Model.Ref(), b.Reason)}, true
	case session.RunEnded:
		return ended(b), true
	case session.Context:
		return context(b), len(b.Blocks) > 0
	case session.Todo:
		return Note{Kind: NoteText, Title: "plan", Detail: Todo(b.Items)}, true
	case session.Goal:
		return goal(b)
	case session.Note:
		return Note{Kind: NoteText, Title: "note", Detail: b.Text}, true
	case session.Rejected:
		return Note{Kind: NoteError, Title: "a message was rejected: " + b.Reason, Plain: b.Message.Text()}, true
	case session.FilesChanged:
		return files(b), len(b.Files)+b.More > 0
	case live.Notice:
		return Note{Kind: NoteWarning, Title: line(b.Text)}, true
	case live.Waiting:
		title := fmt.Sprintf("attempt %d of %d follows in %s", b.Attempt, b.Of, Duration(time.Duration(b.Delay)))
		return Note{Kind: NoteWarning, Title: title + Because(b.Cause)}, true
	case live.Routed:
		title := "continuing with " + line(b.Model)
		if b.Key != "" {
			title += ", key " + line(b.Key)
		}
		return Note{Kind: NoteWarning, Title: title + Because(b.Cause)}, true
	case session.Opaque:
		return Note{Kind: NoteInfo, Title: "an entry of a kind that this version does not know: " + b.Name}, true
	}
	return Note{}, false
}

// Because returns the cause of a problem in parentheses; empty without a cause.
func Because(cause *llm.Error) string {
	if cause == nil {
		return ""
	}
	return " (" + line(cause.Error()) + ")"
}

func summarized(b session.Summarized) string {
	title := "a summary replaces the older turns"
	if b.By != "" {
		title += ", by " + line(b.By)
	}
	if b.Before > 0 && b.After > 0 {
		title += fmt.Sprintf(": about %s tokens instead of %s", Tokens(b.After), Tokens(b.Before))
	}
	return title
}

func summaryReason(reason string) string {
	switch reason {
	case "full":
		return "the context window is nearly full"
	case "overflow":
		return "the request was too long for the model"
	case "asked":
		return "a person asked for it"
	}
	return line(reason)
}

func ended(b session.RunEnded) Note {
	n := Note{Kind: NoteEnd, Title: strings.ReplaceAll(string(b.Reason), "_", " ")}
	if b.Reason == session.ReasonError || b.Reason == session.ReasonRefused {
		n.Kind = NoteError
	}
	if b.Message != "" {
		n.Title += ": " + b.Message
	}
	n.Title += " · " + Count(b.Turns, "turn")
	if b.Usage.Total() > 0 || b.Usage.Cost > 0 {
		n.Title += " · " + Usage(b.Usage)
	}
	if b.Elapsed > 0 {
		n.Title += " · " + Duration(time.Duration(b.Elapsed))
	}
	return n
}

func context(b session.Context) Note {
	var names []string
	var all strings.Builder
	for _, block := range b.Blocks {
		names = append(names, block.Name)
		fmt.Fprintf(&all, "%s\n%s\n\n", block.Name, block.Text)
	}
	return Note{Kind: NoteInfo, Title: line("context: " + strings.Join(names, ", ")), Plain: all.String()}
}

func files(b session.FilesChanged) Note {
	what := "files changed"
	switch b.Cause {
	case session.ByUndo:
		what = "undo: files restored"
	case session.ByRedo:
		what = "redo: files changed again"
	}
	const most = 50
	var list strings.Builder
	for i, f := range b.Files {
		if i == most {
			fmt.Fprintf(&list, "… and %d more\n", len(b.Files)-i)
			break
		}
		fmt.Fprintln(&list, f.Path)
	}
	return Note{Kind: NoteInfo, Title: fmt.Sprintf("%s: %d", what, len(b.Files)+b.More), Plain: list.String()}
}

// Todo returns a list of tasks in Markdown.
func Todo(items []session.TodoItem) string {
	var b strings.Builder
	for _, t := range items {
		box := " "
		if t.Status == "completed" {
			box = "x"
		}
		text := line(t.Text)
		if t.Status == "in_progress" {
			text = "**" + text + "**"
		}
		fmt.Fprintf(&b, "- [%s] %s\n", box, text)
	}
	return b.String()
}
