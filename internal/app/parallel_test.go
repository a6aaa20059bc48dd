package app

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// Parallel runs have no more rights than the conversation has when they begin: its role, its network and its limits hold for them, too.
func TestParallelRunsHaveTheRightsOfTheConversation(t *testing.T) {
	for _, c := range []struct {
		role, tool string
		denied     int
	}{
		{"", "", 0},
		{"deny: write(src/**)", "write", 1},
		{"without: write", "write", 1},
		{"tools: read", "write", 1},
	} {
		t.Run(c.role, func(t *testing.T) {
			dir := t.TempDir()
			if c.role != "" {
				roleFile(t, filepath.Join(dir, "config", "agents"), "docs", "---\ndescription: Writes\n"+c.role+"\nturns: 7\n---\nYou write.\n")
			}
			o := openedAt(t, dir, `call write {"path": "src/a.txt", "content": "one"}`+"\n---\ntext Done.", Opening{
				Permissions: Permissions{Mode: permission.Edits, Network: []string{"example.com"}}, Limits: agent.Limits{Turns: 9, Unpriced: budget.Notice},
			})
			if c.role != "" {
				become(t, o, "docs")
			}
			if err := o.Conversation.Set(t.Context(), session.Change{Network: "none", Cost: 3}); err != nil {
				t.Fatal(err)
			}
			denied, turns := 0, 0
			p := Parallel{Parallel: conversation.Parallel{Prompt: llm.UserText("Write."), Count: 1}, Event: func(_ int, _ session.SessionID, e session.Event) {
				switch b := e.Body.(type) {
				case session.Message:
					if b.Outcome == session.OutcomeDenied && b.Tool == c.tool {
						denied++
					}
				case session.RunStarted:
					turns = b.Config.MaxTurns
					if b.Config.MaxCost != 3 {
						t.Errorf("the limit is %+v", b.Config)
					}
				}
			}}
			if _, err := o.Parallel(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 7, false: 9}[c.role != ""]; denied != c.denied || turns != want {
				t.Errorf("%d calls denied, %d turns", denied, turns)
			}
			ag, err := (&race{Opened: o, budget: o.agent.Budget()}).open(t.Context(), "one", o.agent.client())
			if err != nil {
				t.Fatal(err)
			}
			if hosts := ag.site.bounds.Load().Hosts; len(hosts) != 0 {
				t.Errorf("the runs reach %v", hosts)
			}
			if err := ag.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
