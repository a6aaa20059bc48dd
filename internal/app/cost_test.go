package app

import (
	"encoding/json"
	"testing"

	"github.com/tenon-agent/tenon/internal/approval"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// What every request costs, the system prompt and all built-in tools, stays below 3000 tokens, whichever tools a model gets. By the o200k
// count these texts have 4.3 bytes to a token.
func TestWhatEveryRequestCosts(t *testing.T) {
	const most, bytesPerToken = 3000, 4
	ws, err := workspace.Open(t.TempDir(), workspace.Options{Sandbox: &sandbox.Policy{}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	engine, err := web.NewEngine("brave", "", "key", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{workspace: ws, Questions: approval.NewBroker(func(session.Body) {}, 0), skills: []skill.Skill{{Name: "release", Description: "x"}}}
	for name, editor := range map[string]files.Editing{"replace": files.Replace, "patch": files.Patch} {
		tools, err := a.tools(Spec{Editor: editor, Web: web.Options{Engine: engine}}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		specs := make([]llm.Tool, len(tools))
		for i, one := range tools {
			specs[i] = one.Spec()
		}
		text, err := json.Marshal(specs)
		if err != nil {
			t.Fatal(err)
		}
		n := (len(text) + len(System)) / bytesPerToken
		t.Logf("%s: %d tools, about %d tokens", name, len(specs), n)
		if n >= most {
			t.Errorf("%s: about %d tokens, want fewer than %d", name, n, most)
		}
	}
}
