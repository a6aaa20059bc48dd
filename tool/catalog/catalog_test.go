package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/catalog"
	"github.com/tenon-agent/tenon/window/tokens"
)

type place struct {
	City string `json:"city" jsonschema:"name of the city"`
}

func weather(name, about string) tool.Tool {
	return tool.New(name, about, tool.Nothing[place], func(_ context.Context, p place, _ tool.Report) (tool.Result, error) {
		return tool.TextResult(name + " in " + p.City), nil
	})
}

// many returns so many tools of one connection, all different.
func many(n int) catalog.Group {
	g := catalog.Group{Name: "big"}
	for i := range n {
		g.Tools = append(g.Tools, weather(fmt.Sprintf("mcp__big__list_things_%d", i), fmt.Sprintf("Lists the things of shelf %d, with all that is known of each.", i)))
	}
	return g
}

func small() catalog.Group {
	return catalog.Group{Name: "sky", Tools: []tool.Tool{
		weather("mcp__sky__getForecast", "Returns the weather of the next days."),
		weather("mcp__sky__alerts", "Lists warnings of storms."),
	}}
}

// call runs a call through call_tool.
func call(t *testing.T, c *catalog.Catalog, arguments string) (*tool.Call, error) {
	t.Helper()
	all := c.Tools()
	i := slices.IndexFunc(all, func(t tool.Tool) bool { return t.Spec().Name == catalog.Call })
	if i < 0 {
		t.Fatal("there is no " + catalog.Call)
	}
	return all[i].Prepare(t.Context(), arguments)
}

func find(t *testing.T, c *catalog.Catalog, query string) (names []string, text string) {
	t.Helper()
	all := c.Tools()
	i := slices.IndexFunc(all, func(t tool.Tool) bool { return t.Spec().Name == catalog.Find })
	arguments, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := all[i].Prepare(t.Context(), string(arguments))
	if err != nil {
		t.Fatal(err)
	}
	r, err := prepared.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Details.(catalog.Found).Tools, r.Content.Text()
}

func TestFewToolsAreOffered(t *testing.T) {
	c := catalog.New(10_000, small())
	if n := len(c.Tools()); n != 2 || c.Hides("mcp__sky__alerts") {
		t.Errorf("%d tools, hidden: %t", n, c.Hides("mcp__sky__alerts"))
	}
}

// 300 tools add fewer than 400 tokens to a request.
func TestManyToolsAreFound(t *testing.T) {
	c := catalog.New(10_000, many(300), small())
	var offered []llm.Tool
	for _, one := range c.Tools() {
		if spec := one.Spec(); !c.Hides(spec.Name) {
			offered = append(offered, spec)
		}
	}
	if n := tokens.Tools(offered); len(offered) != 2 || n >= 400 {
		t.Errorf("%d tools with %d tokens are offered", len(offered), n)
	}
	for query, want := range map[string]string{
		"weather forecast":                     "mcp__sky__getForecast",
		"storm warning":                        "mcp__sky__alerts",
		"mcp__big__list_things_7":              "mcp__big__list_things_7",
		"shelf 42":                             "mcp__big__list_things_42",
		"mcp__sky__alerts, mcp__sky__alerts_2": "mcp__sky__alerts",
	} {
		if names, text := find(t, c, query); len(names) == 0 || names[0] != want || !strings.Contains(text, `"city"`) {
			t.Errorf("%s finds %v: %s", query, names, text)
		}
	}
	if names, text := find(t, c, "zebra"); len(names) != 0 || !strings.Contains(text, "sky (2)") {
		t.Errorf("found %v: %s", names, text)
	}
}

func TestAHiddenToolIsCalled(t *testing.T) {
	c := catalog.New(0, small())
	got, err := call(t, c, `{"tool":"mcp__sky__alerts","arguments":{"city":"Ulm"}}`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := got.Run(t.Context(), nil)
	if err != nil || got.As != "mcp__sky__alerts" || r.Content.Text() != "mcp__sky__alerts in Ulm" {
		t.Errorf("%s: %s, %v", got.As, r.Content.Text(), err)
	}
	if _, err := call(t, c, `{"tool":"mcp__sky__alerts","arguments":{"town":"Ulm"}}`); err == nil || !strings.Contains(err.Error(), `"city"`) {
		t.Errorf("an error without the schema: %v", err)
	}
	if _, err := call(t, c, `{"tool":"sky alert"}`); err == nil || !strings.Contains(err.Error(), "mcp__sky__alerts") {
		t.Errorf("an error without a hint: %v", err)
	}
}

// plain is a dialect that changes nothing.
type plain struct{}

func (plain) Offer(tools []llm.Tool) []llm.Tool         { return tools }
func (plain) Answer(m llm.Message) llm.Message          { return m }
func (plain) Call(c llm.ToolCall) (llm.ToolCall, error) { return c, nil }
func (plain) Messages(all []llm.Message) []llm.Message  { return all }

func TestTheDialectUnwrapsCalls(t *testing.T) {
	d := catalog.Dialect{Inner: plain{}, Catalog: catalog.New(0, small())}
	for arguments, want := range map[string][2]string{
		`{"tool":"mcp__sky__alerts","arguments":{"city":"Ulm"}}`:       {"mcp__sky__alerts", `{"city":"Ulm"}`},
		`{"tool":"mcp__sky__alerts","arguments":"{\"city\":\"Ulm\"}"}`: {"mcp__sky__alerts", `{"city":"Ulm"}`},
		`{"tool":"mcp__sky__alerts"}`:                                  {"mcp__sky__alerts", `{}`},
		`{"arguments":{}}`:                                             {catalog.Call, `{"arguments":{}}`},
		`nonsense`:                                                     {catalog.Call, `nonsense`},
	} {
		got, err := d.Call(llm.ToolCall{Name: catalog.Call, Arguments: arguments})
		if err != nil || got.Name != want[0] || got.Arguments != want[1] {
			t.Errorf("%s becomes %s %s, %v", arguments, got.Name, got.Arguments, err)
		}
	}
	if _, err := d.Call(llm.ToolCall{Name: catalog.Call, Arguments: `{"tool":"rm"}`}); err == nil {
		t.Error("an unknown tool is called")
	}
}
