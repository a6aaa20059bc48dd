package app

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/window/tokens"
	"github.com/tenon-agent/tenon/workspace"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// What every request costs, the system prompt, the tools that a model gets from the start and the environment, stays below 4500 tokens for
// every family. The count is that of package tokens, which is held against o200k_base in its own tests.
func TestWhatEveryRequestCosts(t *testing.T) {
	const most = 4500
	ws, err := workspace.Open(t.TempDir(), workspace.Options{Sandbox: &sandbox.Policy{}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	engine, err := web.NewEngine("brave", "", "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{site: &site{workspace: ws, seen: files.NewSet(ws)}, Questions: approval.NewBroker(nil, 0)}
	skills := SkillSet{Skills: []skill.Skill{{Name: "release", Description: "x"}}}
	bounds := Bounds{Bounds: paths.Bounds{Root: "/home/me/project"}, Sandbox: &sandbox.Policy{Temp: t.TempDir(), Loopback: new(sandbox.Loopback)}}
	place := facts("/home/me/project/cmd", "/home/me/project", bounds.May(permission.AskMode, false), false, time.Now())
	for _, f := range []models.Family{models.FamilyClaude, models.FamilyGPT, models.FamilyGemini, models.FamilyOpen} {
		tools := a.tools(Spec{Skills: skills, Web: web.Options{Engine: engine}}, artifact.Options{Dir: t.TempDir()})
		var specs []llm.Tool
		for _, one := range tools {
			if offers(permission.AskMode, nil)(one.Spec().Name) == agent.Always {
				specs = append(specs, one.Spec())
			}
		}
		specs = family.New(f, specs).Offer(specs)
		text, err := json.Marshal(specs)
		if err != nil {
			t.Fatal(err)
		}
		n := tokens.Text(string(text)) + tokens.Text(Prompt(llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-6"}, same)) + tokens.Text(place)
		t.Logf("%s: %d tools, about %d tokens", f, len(specs), n)
		if n >= most {
			t.Errorf("%s: about %d tokens, want fewer than %d", f, n, most)
		}
	}
}
