package family_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/family"
)

// foreign is a model of another family.
func foreign(f models.Family) string {
	if f == models.FamilyGPT {
		return "anthropic/claude-sonnet-4-6"
	}
	return "openai/gpt-5.4"
}

// A call that is written in the words of a family and read again is the same call.
func TestWritingAndReadingIsTheIdentity(t *testing.T) {
	tools := builtin(t, true)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range families {
		dialect := family.New(f, specs(tools))
		for range 2000 {
			c := randomCall(r, tools)
			canonical, err := dialect.Call(c)
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			if canonical.Name != c.Name || canonical.Arguments != c.Arguments {
				t.Fatalf("%s reads the canonical call %s %s as %s %s", f, c.Name, c.Arguments, canonical.Name, canonical.Arguments)
			}
			m := llm.Message{Role: llm.RoleAssistant, Model: foreign(f), Content: llm.Content{llm.Text{Text: "x"}, c}}
			written := dialect.Messages([]llm.Message{m})[0].Calls()[0]
			again, err := dialect.Call(written)
			if err != nil || again.Name != c.Name || again.Arguments != c.Arguments || again.ID != c.ID {
				t.Fatalf("%s: %s %s\nwrites %s %s\nreads %s %s, %v", f, c.Name, c.Arguments, written.Name, written.Arguments, again.Name, again.Arguments, err)
			}
			if m.Content[1].(llm.ToolCall).Name != c.Name {
				t.Fatal("the message was changed in place")
			}
		}
	}
}

// randomCall returns a canonical call of a tool, with members in the order of their names.
func randomCall(r *rand.Rand, tools map[string]tool.Tool) llm.ToolCall {
	all := specs(tools)
	spec := all[r.IntN(len(all))]
	var s schema
	_ = json.Unmarshal(spec.Schema, &s)
	args := s.value(r).(map[string]any)
	switch {
	case spec.Name == "job":
		args = []map[string]any{
			{"action": "list"},
			{"action": "kill", "id": "job1"},
			{"action": "output", "id": "job1"},
			{"action": "output", "id": "job1", "cursor": -1},
			{"action": "wait", "id": "job2"},
			{"action": "wait", "id": "job2", "timeout": 1 + r.IntN(600)},
		}[r.IntN(6)]
	case spec.Name == "shell" && args["unconfined"] == true:
		args["reason"] = "why"
	case spec.Name == "shell":
		delete(args, "unconfined")
		delete(args, "reason")
	case spec.Name == "cleanup":
		delete(args, "tool")
	}
	data, _ := json.Marshal(args)
	return llm.ToolCall{ID: "c", Name: spec.Name, Arguments: string(data)}
}

type schema struct {
	Type       string
	Properties map[string]schema
	Items      *schema
	Enum       []string
	Required   []string
	Minimum    int
	Maximum    *int
}

func (s schema) value(r *rand.Rand) any {
	switch s.Type {
	case "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			if slices.Contains(s.Required, name) || r.IntN(2) == 0 {
				out[name] = p.value(r)
			}
		}
		return out
	case "array":
		out := make([]any, 1+r.IntN(3))
		for i := range out {
			out[i] = s.Items.value(r)
		}
		return out
	case "boolean":
		return r.IntN(2) == 0
	case "integer":
		most := s.Minimum + 3000
		if s.Maximum != nil {
			most = *s.Maximum
		}
		return s.Minimum + r.IntN(most-s.Minimum+1)
	}
	if len(s.Enum) > 0 {
		return s.Enum[r.IntN(len(s.Enum))]
	}
	return strings.Repeat([]string{"a", "b/c.go", "ü \n", "-x"}[r.IntN(4)], 1+r.IntN(3))
}

// A conversation of another family is renamed, once and always the same; that of the own family stays as it was written.
func TestMessagesOfOtherFamilies(t *testing.T) {
	dialect := family.New(models.FamilyGPT, specs(builtin(t, false)))
	call := func(model, name, arguments string) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Model: model, Content: llm.Content{llm.ToolCall{ID: "c", Name: name, Arguments: arguments}}}
	}
	const own, other = "openai/gpt-5.4", "anthropic/claude-sonnet-4-6"
	for _, test := range []struct{ model, name, arguments, wantName, want string }{
		{other, "Bash", `{"command": "ls", "timeout": 3000}`, "exec_command", `{"cmd":"ls","timeout_ms":3000}`},
		{other, "TodoWrite", `{"todos":[{"content":"a","status":"pending","activeForm":"b"}]}`, "update_plan", `{"plan":[{"status":"pending","step":"a"}]}`},
		{other, "Read", `{"file_path": "a"}`, "Read", `{"file_path": "a"}`},
		{other, "Unheard", `{}`, "Unheard", `{}`},
		{other, "Bash", `{"command": `, "Bash", `{"command": `},
		{own, "Bash", `{"command": "ls"}`, "Bash", `{"command": "ls"}`},
		{own, "exec_command", `{ "cmd":"ls" }`, "exec_command", `{ "cmd":"ls" }`},
		{"", "bash", `{"command":"ls"}`, "exec_command", `{"cmd":"ls"}`},
	} {
		got := dialect.Messages([]llm.Message{llm.UserText("hi"), call(test.model, test.name, test.arguments)})[1].Calls()[0]
		if got.Name != test.wantName || got.Arguments != test.want {
			t.Errorf("%s %s %s: got %s %s", test.model, test.name, test.arguments, got.Name, got.Arguments)
		}
	}
}

// Whatever a model writes, reading it never fails in another way than with an error, and what is read stays as it is when it is read again.
func FuzzCall(f *testing.F) {
	for _, name := range []string{"Bash", "exec_command", "write_stdin", "Read", "edit", "apply_patch", "update_plan", "Grep", "AskUserQuestion", "str_replace_editor", "web_fetch"} {
		for _, arguments := range []string{
			`{}`, `{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF"]}`, `{"path":"a","edits":[{"oldText":"x"},3]}`, `{"view_range":[1,-1],"timeout":1e9}`,
			`{"questions":[{"options":[{"label":"a"},null]}]}`, `{"plan":[null,{"step":1,"content":2}]}`, `null`, `[]`, `"x"`, `*** Begin Patch ***`, `{"session_id":3,"chars":"\u0003"}`, `{"command":"view","path":"."}`,
		} {
			f.Add(name, arguments)
		}
	}
	tools := builtin(f, true)
	dialects := make(map[models.Family]*family.Dialect)
	for _, one := range families {
		dialects[one] = family.New(one, specs(tools))
	}
	f.Fuzz(func(t *testing.T, name, arguments string) {
		for one, dialect := range dialects {
			got, err := dialect.Call(llm.ToolCall{ID: "c", Name: name, Arguments: arguments})
			if err != nil {
				continue
			}
			if tools[got.Name] == nil {
				t.Fatalf("%s %s became a call of %q", name, arguments, got.Name)
			}
			again, err := dialect.Call(got)
			if err != nil || again.Name != got.Name || again.Arguments != got.Arguments {
				t.Fatalf("%s %q %q\nis read as %s %q,\nthen as %s %q, %v", one, name, arguments, got.Name, got.Arguments, again.Name, again.Arguments, err)
			}
		}
	})
}
