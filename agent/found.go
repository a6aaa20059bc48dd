package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// maxFound is how many files the result of an interrupted call names.
const maxFound = 40

// restore reads the journal: the branch, the queue, and the run that was on when its process died or its journal failed. That run gets its
// end. It returns the newest run.
func restore(ctx context.Context, f *feed) (session.RunID, error) {
	if err := f.open(ctx); err != nil {
		return "", err
	}
	lastRun, err := newestRun(ctx, f.branch)
	if err != nil {
		return "", err
	}
	requests, _ := f.now()
	lost, err := view.Recover(ctx, f.branch, requests.Waits)
	if err == nil {
		err = tellFound(ctx, f.store, f.writer.Session(), lost)
	}
	if err != nil {
		return "", err
	}
	defer f.stampAs(f.stampAs(session.Stamp{Run: lastRun}))
	_, err = f.append(ctx, lost...)
	return lastRun, err
}

// newestRun is the run that wrote last on a branch.
func newestRun(ctx context.Context, p view.Path) (session.RunID, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.Run != "" || view.Foreign(e) {
			return e.Run, err
		}
	}
	return "", nil
}

// tellFound adds to the results of calls whose outcome is unknown which files changed meanwhile, where the journal has that.
func tellFound(ctx context.Context, store index.Store, id session.SessionID, lost []session.Body) error {
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
	for e, err := range store.Read(ctx, id, 0, session.FilesChanged{}.Kind()) {
		if err != nil {
			return err
		}
		if found, ok := e.Body.(session.FilesChanged); ok && found.Found && !e.Imported {
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
			what += ", perhaps by someone else"
		}
		fmt.Fprintf(&b, "\n%q: %s", f.Path, what)
	}
	if found.Note != "" {
		b.WriteString("\n" + found.Note)
	}
	return b.String()
}
