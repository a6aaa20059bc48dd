package family_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/family"
)

// agents returns the tools of an owner of sub-agents, and job.
func agents(t *testing.T) map[string]tool.Tool {
	t.Helper()
	crew, err := team.New(team.Options{
		Store: struct{ index.Store }{}, Open: func(context.Context, team.Assignment) (team.Member, error) { return nil, errors.New("none") },
		Roles: func() []team.RoleInfo {
			return []team.RoleInfo{{Name: "explorer", Description: "Looks."}, {Name: "planner", Description: "Plans."}, {Name: "Docs", Description: "Writes."}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tool.Tool{"job": builtin(t, false)["job"]}
	for _, one := range crew.Tools() {
		all[one.Spec().Name] = one
	}
	return all
}

// Each family gives tasks in the words that it knows, and reads those of the others. The tools accept the arguments.
func TestSubAgentsInTheWordsOfAllFamilies(t *testing.T) {
	tools := agents(t)
	for _, test := range []struct{ name, arguments, tool, want string }{
		{"Task", `{"description":"Find it","prompt":"p","subagent_type":"explorer","run_in_background":true}`, "agent", `{"background":true,"name":"Find it","role":"explorer","task":"p"}`},
		{"Task", `{"description":"Find it","prompt":"p","subagent_type":"general-purpose"}`, "agent", `{"name":"Find it","task":"p"}`},
		{"Agent", `{"description":"Find it","name":"finder","prompt":"p","subagent_type":"Explore","isolation":"worktree"}`, "agent", `{"name":"finder","role":"explorer","task":"p","worktree":true}`},
		{"task", `{"prompt":"p","subagent_type":"Docs"}`, "agent", `{"role":"Docs","task":"p"}`},
		{"agent", `{"task":"p","role":"Plan","scope":{"read_only":true}}`, "agent", `{"role":"planner","scope":{"read_only":true},"task":"p"}`},
		{"spawn_agent", `{"message":"p","agent_type":"explorer"}`, "agent", `{"role":"explorer","task":"p"}`},
		{"wait_agent", `{"ids":["t1"],"timeout_ms":3000}`, "agent_wait", `{"tasks":["t1"],"timeout":3}`},
		{"send_input", `{"id":"t1","message":"m"}`, "agent_send", `{"task":"t1","text":"m"}`},
		{"SendMessage", `{"to":"t1","message":"m"}`, "agent_send", `{"task":"t1","text":"m"}`},
		{"close_agent", `{"id":"t1"}`, "agent_cancel", `{"task":"t1"}`},
		{"TaskOutput", `{"task_id":"h3k9","block":true,"timeout":60000}`, "agent_wait", `{"tasks":["h3k9"],"timeout":60}`},
		{"TaskOutput", `{"task_id":"h3k9","block":false,"timeout":60000}`, "agent_list", `{}`},
		{"TaskOutput", `{"task_id":"job1","block":false}`, "job", `{"action":"output","id":"job1"}`},
		{"TaskStop", `{"task_id":"h3k9"}`, "agent_cancel", `{"task":"h3k9"}`},
		{"TaskStop", `{"task_id":"job1"}`, "job", `{"action":"kill","id":"job1"}`},
	} {
		for _, f := range families {
			got, err := family.New(f, specs(tools)).Call(llm.ToolCall{ID: "c", Name: test.name, Arguments: test.arguments})
			if err != nil || got.Name != test.tool || got.Arguments != test.want {
				t.Errorf("%s: %s %s: got %s %s, %v", f, test.name, test.arguments, got.Name, got.Arguments, err)
				continue
			}
			if _, err := tools[test.tool].Prepare(t.Context(), got.Arguments); err != nil {
				t.Errorf("%s %s: %v", test.name, test.arguments, err)
			}
		}
	}
	const canonical = `{"background":true,"name":"n","role":"explorer","task":"p","worktree":true}`
	for f, want := range map[models.Family]string{
		models.FamilyClaude: `Task {"description":"n","prompt":"p","run_in_background":true,"subagent_type":"explorer","worktree":true}`,
		models.FamilyOpen:   `task {"description":"n","prompt":"p","run_in_background":true,"subagent_type":"explorer","worktree":true}`,
		models.FamilyGPT:    `agent ` + canonical,
		models.FamilyGemini: `task ` + canonical,
	} {
		dialect := family.New(f, specs(tools))
		m := llm.Message{Role: llm.RoleAssistant, Model: foreign(f), Content: llm.Content{llm.ToolCall{ID: "c", Name: "agent", Arguments: canonical}}}
		written := dialect.Messages([]llm.Message{m})[0].Calls()[0]
		if got := written.Name + " " + written.Arguments; got != want {
			t.Errorf("%s writes %s, want %s", f, got, want)
		}
		if again, err := dialect.Call(written); err != nil || again.Name != "agent" || again.Arguments != canonical {
			t.Errorf("%s reads %s %s, %v", f, again.Name, again.Arguments, err)
		}
		for _, one := range dialect.Offer(specs(tools)) {
			if name, _, _ := strings.Cut(want, " "); one.Name == name && f != models.FamilyGPT && f != models.FamilyGemini && !strings.Contains(one.Description, "into `prompt`") {
				t.Errorf("%s: %s", f, one.Description)
			}
		}
	}
}

// Without sub-agents their names mean nothing else.
func TestNoSubAgents(t *testing.T) {
	all := specs(builtin(t, false))
	for _, name := range []string{"Task", "spawn_agent", "SendMessage", "wait_agent", "close_agent"} {
		if c, err := family.New(models.FamilyClaude, all).Call(llm.ToolCall{Name: name, Arguments: `{"prompt":"p"}`}); err == nil {
			t.Errorf("%s means %s", name, c.Name)
		}
	}
}
