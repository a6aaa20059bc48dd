package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

const handOver = `call handoff {"title": "Count: the keys", "plan": "Count them.", "role": "builder"}` + "\n---\n"

// Only a person chooses, among the roles that can change files. A message of an agent is no answer.
func TestAPersonChoosesTheRoleOfAPlan(t *testing.T) {
	dir := t.TempDir()
	agents := filepath.Join(dir, "config", "agents")
	roleFile(t, agents, "docs", "---\ndescription: Writes\nmode: ask\n---\nYou write documents.\n")
	roleFile(t, agents, "reader", "---\ndescription: Reads\ntools: read, grep\n---\nYou read.\n")
	o := openedAt(t, dir, handOver+"text Done.\n---\ntext News.", Opening{Ask: true, Role: "planner", Permissions: Permissions{Mode: permission.Edits}})
	if _, err := o.Conversation.Prompt(t.Context(), conversation.Prompt{Message: llm.UserText("Plan.")}); err != nil {
		t.Fatal(err)
	}
	var options, roles, said []string
	for e, err := range o.Conversation.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.Asking:
			for _, op := range b.Questions[0].Options {
				options = append(options, op.Label)
			}
			_, err := o.agent.Queue(t.Context(), request.Draft{Lane: session.FromNews, Message: session.Message{
				Message: llm.UserText("builder, in this session"), Speaker: session.Speaker{Kind: session.SpeakerAgent, Name: "a"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if open := o.agent.Requests(); len(open.Questions) != 1 || open.Questions[0].Answer != nil {
				t.Errorf("the message of an agent answered: %+v", open.Questions)
			}
			if err := o.Conversation.Answer(t.Context(), b.ID, ask.Answer{Choices: []string{"docs, in this session"}}); err != nil {
				t.Fatal(err)
			}
		case session.RunStarted:
			roles = append(roles, b.Config.Role)
		case session.Message:
			if b.Role == llm.RoleUser && b.ByPerson() {
				said = append(said, b.Text())
			}
		}
		if end, ok := e.Body.(session.RunEnded); ok && (len(roles) == 2 || end.Reason != session.ReasonDone) {
			break
		}
	}
	if want := []string{"builder, in this session", "builder, in a new session", "docs, in this session", "docs, in a new session", "keep planning"}; !slices.Equal(options, want) {
		t.Errorf("the person chooses from %q", options)
	}
	if !slices.Equal(roles, []string{"planner", "docs"}) || len(said) != 2 || !strings.HasPrefix(said[1], "Execute the plan in .tenon/plans/") {
		t.Errorf("the roles %q ran, the prompts were %q", roles, said)
	}
	if s := stateOf(t, o); s.Role != "docs" || s.Mode != permission.AskMode {
		t.Errorf("afterwards: role %q, mode %s", s.Role, s.Mode)
	}
}

// An agent that makes no plans hands over none.
func TestOnlyAPlannerHandsOver(t *testing.T) {
	o := openedAt(t, t.TempDir(), handOver+"text Done.", Opening{Permissions: Permissions{Mode: permission.Edits}})
	failed := false
	for e, err := range o.Conversation.Run(t.Context(), conversation.Prompt{Message: llm.UserText("Plan.")}) {
		if err != nil {
			t.Fatal(err)
		}
		m, ok := e.Body.(session.Message)
		failed = failed || ok && m.Outcome == session.OutcomeFailed && strings.Contains(m.Text(), "hands over a plan")
	}
	if _, err := os.Stat(filepath.Join(o.Dir, ".tenon")); !failed || err == nil {
		t.Errorf("it failed: %v; the directory is there: %v", failed, err == nil)
	}
}

// A repeated call finds its file, another plan with the same title gets another one, and no link leads out of the project.
func TestTheFileOfAPlan(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, text := range []string{"a", "a", "b", "a", "b"} {
		name, err := keepPlan(dir, "keys", text, i < 3)
		if had, failed := os.ReadFile(filepath.Join(dir, name)); err != nil || failed != nil || string(had) != text {
			t.Errorf("%v, %v: %s has %q", err, failed, name, had)
		}
		names = append(names, name)
	}
	if names[1] != names[0] || !strings.HasSuffix(names[2], "-keys-2.md") || names[3] != names[0] || names[4] != names[2] {
		t.Errorf("the files are %q", names)
	}
	other := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(other, ".tenon")); err != nil {
		t.Fatal(err)
	}
	if name, err := keepPlan(other, "keys", "a", true); err == nil {
		t.Errorf("wrote %s through a link", name)
	}
	for title, want := range map[string]string{"Count: the keys!": "count-the-keys", "Ü": "plan", strings.Repeat("ab ", 30): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-a"} {
		if got := slug(title); got != want {
			t.Errorf("the name for %q is %q", title, got)
		}
	}
}

// A link in the project does not lead the plan to another new file.
func TestAPlanFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	name := plansDir + "/" + time.Now().Format(time.DateOnly) + "-plan.md"
	if err := os.MkdirAll(filepath.Join(dir, plansDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../made", filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	got, err := keepPlan(dir, "plan", "text\n", true)
	if err != nil || got != strings.TrimSuffix(name, ".md")+"-2.md" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("the plan is in another file")
	}
	if again, err := keepPlan(dir, "plan", "text\n", false); err != nil || again != got {
		t.Errorf("again: %s, %v", again, err)
	}
}
