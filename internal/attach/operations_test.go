//go:build linux || darwin

package attach

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// fake is a conversation that notes the arguments of each call and has fixed results. Its errors come with results.
type fake struct {
	got string
	err error
}

func (f *fake) note(name string, args ...any) { f.got = name + fmt.Sprintf("%+v", args) }

var entry = session.Event{Seq: 7, ID: "e7", Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Body: session.Summarized{Through: "e3", Reason: "asked", Summary: "short"}}

func (f *fake) State(context.Context) (conversation.State, error) {
	f.note("state")
	return conversation.State{
		Session: "s", Seq: 9, Dir: "/a", Title: "t", Run: "r", Model: llm.Model{Provider: "p", ID: "m", Thinks: []llm.Thinks{llm.ThinkHigh}},
		Role: "judge", Thinking: llm.ThinkHigh, Mode: permission.Auto, Network: "none", Answer: llm.Content{llm.Text{Text: "so far"}}, Command: "c",
		Budgets: []conversation.Budget{{Name: "run", Money: 2, Turns: 3}},
		Drafts:  []request.Draft{{ID: "d", Lane: session.FromSteering, Message: session.Message{Message: llm.UserText("hi"), Speaker: session.Speaker{Kind: session.SpeakerPerson, Name: "two"}}}},
		Asking:  []request.Question{{Asking: session.Asking{ID: "q", Calls: []ask.Call{{Call: "c", Arguments: []byte(`{"a":1}`), Effects: []byte(`{}`)}}}, Seq: 8}},
		Jobs: []workspace.JobStatus{{ID: "job1", Command: workspace.Command{Line: "make", Report: func([]byte) {}}, Finished: workspace.Finished{
			Output: workspace.Output{Head: "built"}, ExitCode: 2, Trouble: errors.New("lost"),
		}}},
		Servers:  []conversation.Server{{Name: "gopls", State: "off", Detail: "it failed"}},
		Warnings: []conversation.Warning{{Code: "w", Text: "x"}},
	}, f.err
}

func (f *fake) Follow(_ context.Context, after int64) iter.Seq2[session.Event, error] {
	f.note("follow", after)
	return func(yield func(session.Event, error) bool) {
		_ = yield(entry, nil) && yield(session.Event{After: 7, Body: live.Delta{Type: live.DeltaText, Text: "é\x00"}}, nil) &&
			yield(session.Event{Seq: 8, ID: "e8", Body: session.Opaque{Name: "later", JSON: []byte(`{"x":1}`)}}, nil) && yield(session.Event{}, f.err)
	}
}

func (f *fake) Run(_ context.Context, p conversation.Prompt) iter.Seq2[session.Event, error] {
	f.note("run", p)
	return func(yield func(session.Event, error) bool) { _ = yield(entry, nil) && yield(session.Event{}, f.err) }
}

func (f *fake) Prompt(_ context.Context, p conversation.Prompt) (conversation.Prompted, error) {
	f.note("prompt", p)
	return conversation.Prompted{Draft: "d"}, f.err
}

func (f *fake) Edit(_ context.Context, draft session.ID, m llm.Message) error {
	f.note("edit", draft, m)
	return f.err
}

func (f *fake) Move(_ context.Context, draft session.ID, lane session.Source, before session.ID) error {
	f.note("move", draft, lane, before)
	return f.err
}

func (f *fake) Remove(_ context.Context, draft session.ID) error {
	f.note("remove", draft)
	return f.err
}

func (f *fake) Answer(_ context.Context, q string, answers ...ask.Answer) error {
	f.note("answer", q, answers)
	return f.err
}
func (f *fake) Abort(context.Context) error                   { f.note("abort"); return f.err }
func (f *fake) Set(_ context.Context, c session.Change) error { f.note("set", c); return f.err }

func (f *fake) Pin(_ context.Context, e session.ID, on bool) error {
	f.note("pin", e, on)
	return f.err
}

func (f *fake) Rename(_ context.Context, title string) error { f.note("rename", title); return f.err }

func (f *fake) Revoke(_ context.Context, rule string) error { f.note("revoke", rule); return f.err }

func (f *fake) EndJob(_ context.Context, job string) error { f.note("end_job", job); return f.err }
func (f *fake) Close() error                               { return nil }

func (f *fake) Rewind(_ context.Context, b conversation.Back) (*undo.Plan, error) {
	f.note("rewind", b)
	return &undo.Plan{Session: "s", To: "e3", Title: "t", Files: []undo.File{{Path: "a", Now: &session.FileState{Hash: "h", Size: 3}, Problem: "p"}}, Notes: []string{"n"}}, f.err
}

func (f *fake) Compact(_ context.Context, focus string) (*session.Event, []conversation.Warning, error) {
	f.note("compact", focus)
	return &entry, []conversation.Warning{{Code: "w", Text: "x"}}, f.err
}

func (f *fake) Trim(context.Context) (*session.Event, error) { f.note("trim"); return nil, f.err }

func (f *fake) Command(_ context.Context, line string) (session.Event, error) {
	f.note("command", line)
	if f.err != nil {
		return session.Event{}, f.err
	}
	return entry, nil
}

func (f *fake) Window(context.Context) (conversation.ContextWindow, error) {
	f.note("window")
	return conversation.ContextWindow{Used: 1, Parts: []conversation.WindowPart{{Kind: conversation.WindowTools, Tokens: 3}}, Largest: []conversation.WindowItem{{Name: "n", Entry: "e"}}}, f.err
}

func (f *fake) Rules(context.Context) ([]conversation.Rule, error) {
	f.note("rules")
	return []conversation.Rule{{Action: permission.Deny, Scope: permission.User, Text: "shell(rm *)", Words: "w", Granted: true}}, f.err
}

func (f *fake) Fork(_ context.Context, at session.ID) (session.SessionID, error) {
	f.note("fork", at)
	return "forked", f.err
}

// calls is every operation with arguments.
func calls(ctx context.Context) map[string]func(conversation.Conversation) []any {
	events := func(all iter.Seq2[session.Event, error]) (out []any) {
		for e, err := range all {
			out = append(out, e, text(err))
		}
		return out
	}
	one := func(v any, err error) []any { return []any{v, text(err)} }
	message := llm.Message{Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: "a"}, llm.Image{MIME: "image/png", Data: []byte{1, 2, 0xff}}}}
	prompt := conversation.Prompt{Message: message, Speaker: session.Speaker{Kind: session.SpeakerHook, Name: "h"}, Lane: session.FromSteering, From: "e1"}
	type con = conversation.Conversation
	return map[string]func(con) []any{
		"State":  func(c con) []any { return one(c.State(ctx)) },
		"Follow": func(c con) []any { return events(c.Follow(ctx, 5)) },
		"Prompt": func(c con) []any { return one(c.Prompt(ctx, prompt)) },
		"Run":    func(c con) []any { return events(c.Run(ctx, prompt)) },
		"Edit":   func(c con) []any { return one(nil, c.Edit(ctx, "d", message)) },
		"Move":   func(c con) []any { return one(nil, c.Move(ctx, "d", session.FromFollowUp, "b")) },
		"Remove": func(c con) []any { return one(nil, c.Remove(ctx, "d")) },
		"Answer": func(c con) []any {
			return one(nil, c.Answer(ctx, "q", ask.Answer{Allow: true, Grant: 1}, ask.Answer{Reason: "no"}))
		},
		"Abort": func(c con) []any { return one(nil, c.Abort(ctx)) },
		"Set":   func(c con) []any { return one(nil, c.Set(ctx, session.Change{Mode: "plan", Thinking: llm.ThinkHigh})) },
		"Rewind": func(c con) []any {
			return one(c.Rewind(ctx, conversation.Back{To: "e3", Turns: 2, Scope: undo.Files, Force: true}))
		},
		"Compact": func(c con) []any { e, w, err := c.Compact(ctx, "focus"); return []any{*e, w, text(err)} },
		"Trim":    func(c con) []any { return one(c.Trim(ctx)) },
		"Command": func(c con) []any { return one(c.Command(ctx, "ls\n\"x\"")) },
		"Pin":     func(c con) []any { return one(nil, c.Pin(ctx, "e1", true)) },
		"Rename":  func(c con) []any { return one(nil, c.Rename(ctx, "new")) },
		"Window":  func(c con) []any { return one(c.Window(ctx)) },
		"Rules":   func(c con) []any { return one(c.Rules(ctx)) },
		"Revoke":  func(c con) []any { return one(nil, c.Revoke(ctx, "shell(ls)")) },
		"EndJob":  func(c con) []any { return one(nil, c.EndJob(ctx, "job1")) },
		"Fork":    func(c con) []any { return one(c.Fork(ctx, "e2")) },
	}
}

// text is the text of an error and of what it is.
func text(err error) string {
	if err == nil {
		return ""
	}
	late, _ := errors.AsType[*request.LateError](err)
	return fmt.Sprintf("%v %+v", err, late)
}

// Every method of a conversation has the same arguments, results and errors in another process.
func TestEveryOperationCrosses(t *testing.T) {
	here, there := &fake{}, &fake{}
	client := serve(t, there, dataDir(t), "s")
	all := calls(t.Context())
	for m := range reflect.TypeFor[conversation.Conversation]().Methods() {
		if all[m.Name] == nil && m.Name != "Close" {
			t.Errorf("%s is not tested", m.Name)
		}
	}
	for name, f := range all {
		for _, err := range []error{nil, fmt.Errorf("cannot: %w", &request.LateError{What: "question", ID: "q", By: 4})} {
			if err == nil && (name == "Follow" || name == "Run") {
				continue // they end with an error here
			}
			here.err, there.err = err, err
			want, got := shown(f(here)), shown(f(client))
			if got != want || here.got != there.got {
				t.Errorf("%s: got\n%s of %s\nwant\n%s of %s", name, got, there.got, want, here.got)
			}
		}
	}
}

// shown is results as text, with the targets of pointers and without what cannot cross.
func shown(results []any) (out string) {
	for _, r := range results {
		if s, ok := r.(conversation.State); ok {
			for i := range s.Jobs {
				s.Jobs[i].Command.Report, s.Jobs[i].Trouble = nil, nil
			}
		}
		if p, ok := r.(*undo.Plan); ok && p != nil {
			out += fmt.Sprintf("%+v %+v\n", p.Files[0].Now, append(p.Notes, p.Title, p.Files[0].Problem, string(p.To)))
			continue
		}
		out += fmt.Sprintf("%+v\n", r)
	}
	return out
}
