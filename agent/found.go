package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// maxFound is how many files the result of an interrupted call names.
const maxFound = 40

// tellFound adds to the results of calls whose outcome is unknown which files changed meanwhile, where the journal has that.
func tellFound(ctx context.Context, store session.Store, id session.SessionID, lost []session.Body) error {
	unknown := map[string]int{}
	for i, b := range lost {
		if m, ok := b.(session.Message); ok && m.Outcome == session.OutcomeUnknown {
			unknown[m.CallID] = i
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	last := map[string]session.FilesChanged{}
	for e, err := range store.Annotations(ctx, id, session.FilesChanged{}.Kind()) {
		if err != nil {
			return err
		}
		if found, ok := e.Body.(session.FilesChanged); ok && found.Found {
			last[found.Call] = found
		}
	}
	for call, i := range unknown {
		if found, ok := last[call]; ok {
			m := lost[i].(session.Message)
			m.Content = llm.Content{llm.Text{Text: m.Text() + "\n" + foundText(found)}}
			lost[i] = m
		}
	}
	return nil
}

// foundText says which files changed under a call, for the model.
func foundText(found session.FilesChanged) string {
	if len(found.Files) == 0 {
		if found.Note != "" {
			return found.Note
		}
		return "No file that is followed was different from what it had been before the call."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Files that were different from what they had been before the call (%d):", len(found.Files)+found.More)
	for i, f := range found.Files {
		if i == maxFound {
			fmt.Fprintf(&b, "\n… and %d more", len(found.Files)+found.More-i)
			break
		}
		what := "changed"
		switch {
		case f.Before == nil:
			what = "new"
		case f.After == nil:
			what = "removed"
		}
		if f.Unsure != "" {
			what += ", perhaps by somebody else"
		}
		fmt.Fprintf(&b, "\n%q: %s", f.Path, what)
	}
	if found.Note != "" {
		b.WriteString("\n" + found.Note)
	}
	return b.String()
}
