package tool_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/window/tokens"
	"github.com/tenon-agent/tenon/workspace"
)

type asker struct{ plan.Asker }

type engine struct{ web.Engine }

// Every request has the descriptions and schemas of all tools, so their sum must not grow. The count estimates o200k_base.
func TestBuiltInToolsAreShort(t *testing.T) {
	const most = 2600
	ws, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	set := files.NewSet(ws)
	all := slices.Concat(
		set.Tools(), search.New(ws), shell.New(ws, shell.Options{}), web.New(ws, web.Options{Engine: engine{}}),
		plan.New(plan.Options{Asker: asker{}, Record: func(context.Context, []plan.Item) error { return nil }}),
		skill.New(skill.Options{Skills: []skill.Skill{{Name: "x"}}}), retract.New(nil), []tool.Tool{artifact.New(artifact.Options{})},
	)
	sum := 0
	var names []string
	for _, one := range all {
		spec := one.Spec()
		text, err := json.Marshal([]llm.Tool{spec})
		if err != nil {
			t.Fatal(err)
		}
		n := tokens.Text(string(text))
		t.Logf("%4d %s", n, spec.Name)
		sum += n
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	want := []string{
		"artifact", "cleanup", "delete", "download", "edit", "fetch", "glob", "grep", "job", "list", "multi_edit", "patch", "question", "read",
		"revert", "shell", "skill", "todo", "web_search", "write",
	}
	if !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	if t.Logf("%4d tokens in all", sum); sum > most {
		t.Errorf("the tools take about %d tokens, more than %d", sum, most)
	}
}
