package family_test

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/window/tokens"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// builtIn returns the descriptions of all built-in tools, by name. Commands run in a sandbox, because the tools have more arguments then.
func builtIn(t *testing.T) map[string]llm.Tool {
	t.Helper()
	dir := t.TempDir()
	ws, err := workspace.Open(dir, workspace.Options{Sandbox: &sandbox.Policy{Writable: []string{dir}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	set := files.NewSet(ws)
	all := map[string]llm.Tool{}
	for _, one := range slices.Concat(
		set.Tools(), search.New(ws), shell.New(ws, shell.Options{}), web.New(ws, web.Options{Engine: engine{}}),
		plan.New(plan.Options{Asker: asker{}, Record: func(context.Context, []plan.Item) error { return nil }}),
		skill.New(skill.Options{Skills: []skill.Skill{{Name: "x"}}}), retract.New(nil), []tool.Tool{artifact.New(artifact.Options{})},
	) {
		all[one.Spec().Name] = one.Spec()
	}
	return all
}

// seldom are the tools that a model gets only later, or if the configuration names them.
var seldom = strings.Fields("artifact cleanup delete download list multi_edit revert")

// Every request has the descriptions and schemas of the tools, so their sum must not grow for any family. The count estimates o200k_base.
func TestBuiltInToolsAreShort(t *testing.T) {
	const most = 2600
	all := builtIn(t)
	want := strings.Fields("artifact cleanup delete download edit fetch glob grep job list multi_edit patch question read revert shell skill todo web_search write")
	if names := slices.Sorted(maps.Keys(all)); !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	var usual []llm.Tool
	for name, one := range all {
		if !slices.Contains(seldom, name) {
			usual = append(usual, one)
		}
	}
	for _, f := range []models.Family{models.FamilyClaude, models.FamilyGPT, models.FamilyGemini, models.FamilyOpen} {
		sum := 0
		for _, one := range family.New(f, usual).Offer(usual) {
			text, err := json.Marshal([]llm.Tool{one})
			if err != nil {
				t.Fatal(err)
			}
			sum += tokens.Text(string(text))
		}
		if t.Logf("%s: %d tokens", f, sum); sum > most {
			t.Errorf("the tools of %s take about %d tokens, more than %d", f, sum, most)
		}
	}
}

// property is an argument in a schema.
type property struct {
	Description string
	Properties  map[string]property
	Items       *property
}

// every yields an argument and those within it, with their places.
func (p property) every(place string, yield func(place string, p property)) {
	for name, one := range p.Properties {
		yield(place+name, one)
		one.every(place+name+".", yield)
	}
	if p.Items != nil {
		p.Items.every(place, yield)
	}
}

// A model decides by the descriptions alone: each says enough, each argument has one, and each name in them exists.
func TestDescriptions(t *testing.T) {
	all := builtIn(t)
	most := map[string]int{"shell": 900, "patch": 600}
	names := regexp.MustCompile("`([^`]*)`")
	for name, one := range all {
		limit := 500
		if n, ok := most[name]; ok {
			limit = n
		}
		if n := len(one.Description); n < 150 || n > limit {
			t.Errorf("the description of %s has %d bytes, not 150 to %d", name, n, limit)
		}
		var schema property
		if err := json.Unmarshal(one.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		arguments := map[string]bool{}
		schema.every("", func(place string, p property) {
			arguments[place] = true
			if n := len(p.Description); n < 8 || n > 100 {
				t.Errorf("the description of %s.%s has %d bytes: %q", name, place, n, p.Description)
			}
		})
		for _, found := range names.FindAllStringSubmatch(one.Description, -1) {
			if _, ok := all[found[1]]; !ok && !arguments[found[1]] {
				t.Errorf("the description of %s names %q, which is no tool and no argument", name, found[1])
			}
			if slices.Contains(seldom, found[1]) {
				t.Errorf("the description of %s names %s, which a model seldom gets", name, found[1])
			}
		}
	}
}
