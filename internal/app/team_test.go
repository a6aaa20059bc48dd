package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
)

// owning is an agent that can have some sub-agents at a time, all with one model, on disk.
func owning(t testing.TB, children int, m permission.Mode, model llm.Client) (*App, *Agent) {
	t.Helper()
	dir := t.TempDir()
	getenv := vars("TENON_DATA_DIR", filepath.Join(dir, "data"), "TENON_CONFIG_DIR", filepath.Join(dir, "config"), "HOME", filepath.Join(dir, "home"))
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(project, fmt.Sprintf("%d.txt", i)), []byte(strings.Repeat("a line\n", 50)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSetup(getenv, project, "test")
	if err != nil {
		t.Fatal(err)
	}
	s.Config.Agents.Open, s.Config.Agents.Running = children, children
	spec := s.Spec()
	spec.Client, spec.Bounds, spec.Titles.Off = model, s.Bounds(project), true
	p := Permissions{Mode: m}
	if spec.Policy, err = s.Policy(spec.Bounds, p); err != nil {
		t.Fatal(err)
	}
	roles, err := s.Roles(project)
	if err != nil {
		t.Fatal(err)
	}
	spec.Team = teaming(s, false, p, roles)
	a, err := Open(getenv, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	ag, err := a.New(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ag.Close() })
	return a, ag
}

// give gives a task to each of some sub-agents.
func (a *Agent) give(t testing.TB, children int) {
	t.Helper()
	for i := range children {
		if _, _, err := a.team.Start(t.Context(), session.TaskCreated{Text: fmt.Sprint("work ", i), Background: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// completed waits for the tasks.
func (a *Agent) completed(t testing.TB) {
	t.Helper()
	if _, err := a.team.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := a.team.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Status() != team.StatusCompleted || one.Report().Denials > 0 {
			t.Fatalf("%+v", one.Report())
		}
	}
}

// ofChildren is a model that answers sub-agents. To their owner, whom reports wake, it says nothing.
func ofChildren(answer func(context.Context, *llm.Request) (llm.Message, error)) llm.Client {
	return llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
		if !slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == "complete" }) {
			return llm.AssistantText("Well."), nil
		}
		return answer(ctx, req)
	})
}

func callsOf(all ...llm.ToolCall) (llm.Message, error) {
	var m llm.Message
	for i, c := range all {
		c.ID = fmt.Sprint(c.Name, i)
		m.Content = append(m.Content, c)
	}
	return m, nil
}

// answersIn counts the answers in a request.
func answersIn(req *llm.Request) (n int) {
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			n++
		}
	}
	return n
}

// A change of the mode of the owner takes effect in a sub-agent while it works, also in a worktree.
func TestASubAgentFollowsTheModeOfItsOwner(t *testing.T) {
	for _, copied := range []bool{false, true} {
		t.Run(fmt.Sprint("in a worktree: ", copied), func(t *testing.T) {
			modes := []permission.Mode{permission.Plan, permission.Edits}
			reached, set := make(chan int), make(chan struct{})
			model := ofChildren(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
				said := answersIn(req)
				if said == len(modes)+1 {
					return callsOf(llm.ToolCall{Name: "complete", Arguments: `{"summary": "done"}`})
				}
				if said > 0 {
					select {
					case reached <- said:
						<-set
					case <-ctx.Done():
						return llm.Message{}, ctx.Err()
					}
				}
				return callsOf(llm.ToolCall{Name: "write", Arguments: fmt.Sprintf(`{"path": "%d.txt", "content": "x"}`, said)})
			})
			o := openedAt(t, t.TempDir(), "", Opening{Client: model, Permissions: Permissions{Mode: permission.Edits}})
			task, _, err := o.agent.team.Start(t.Context(), session.TaskCreated{Text: "write", Background: true, Worktree: copied})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range modes {
				select {
				case <-reached:
				case <-t.Context().Done():
				}
				err := o.Conversation.Set(t.Context(), session.Change{Mode: string(m)})
				set <- struct{}{}
				if err != nil {
					t.Fatal(err)
				}
			}
			all, err := o.agent.team.Wait(t.Context(), task.Task)
			if err != nil || all[0].Report() == nil {
				t.Fatalf("%+v, %v", all, err)
			}
			if r := all[0].Report(); r.Denials != 1 || len(r.Denied) != 1 || !strings.HasPrefix(r.Denied[0], "write 1.txt (permission.") || !slices.Equal(r.Changed, []string{"0.txt", "2.txt"}) {
				t.Errorf("%+v", r)
			}
			for i, want := range []bool{true, false, true} {
				if _, err := os.Stat(filepath.Join(all[0].Dir, fmt.Sprint(i, ".txt"))); want != (err == nil) {
					t.Errorf("%d.txt: %v", i, err)
				}
			}
		})
	}
}

// A tool that says nothing about its effects does not run in a sub-agent with a write scope, whatever the mode, and the report names the call.
func TestAForeignToolStaysOutsideTheScope(t *testing.T) {
	ran := false
	foreign := tool.New("mcp__server__push", "Push.", nil, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
		ran = true
		return tool.TextResult("pushed"), nil
	}, tool.WithTitle(func(struct{}) string { return "main" }))
	a, owner := owning(t, 1, permission.Yolo, ofChildren(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		if answersIn(req) == 0 {
			return callsOf(llm.ToolCall{Name: "mcp__server__push", Arguments: "{}"}, llm.ToolCall{Name: "read", Arguments: `{"path": "1.txt"}`})
		}
		return callsOf(llm.ToolCall{Name: "complete", Arguments: `{"summary": "pushed"}`})
	}))
	staff, err := team.New(team.Options{Store: owner.store, Open: func(ctx context.Context, as team.Assignment) (team.Member, error) {
		as.Tools = append(as.Tools, foreign)
		ag, err := a.employ(ctx, owner, as)
		return member{ag}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := staff.Bind(t.Context(), owner.Agent); err != nil {
		t.Fatal(err)
	}
	defer staff.Close()
	for _, scoped := range []bool{true, false} {
		c := session.TaskCreated{Text: "push", Background: true}
		if scoped {
			c.Scope.Paths = []string{"docs"}
		}
		task, _, err := staff.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		all, err := staff.Wait(t.Context(), task.Task)
		if err != nil {
			t.Fatal(err)
		}
		if denied := slices.Equal(all[0].Report().Denied, []string{"mcp__server__push main (permission.scope)"}); denied != scoped || ran == scoped {
			t.Errorf("with a scope: %t; it ran: %t; %+v", scoped, ran, all[0].Report())
		}
	}
}
