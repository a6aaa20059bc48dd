package family_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

var families = []models.Family{models.FamilyClaude, models.FamilyGPT, models.FamilyGemini, models.FamilyOpen}

type asker struct{}

func (asker) Ask(context.Context, []plan.Question) ([]plan.Answer, error) { return nil, plan.ErrNobody }

type engine struct{ web.Engine }

func (engine) Host() string { return "search.example" }

// builtin returns the tools of the program.
func builtin(t testing.TB, confined bool) map[string]tool.Tool {
	t.Helper()
	var o workspace.Options
	if confined {
		o.Sandbox = &sandbox.Policy{}
	}
	ws, err := workspace.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	all := slices.Concat(
		files.NewSet(ws).Tools(), search.New(ws), shell.New(ws, shell.Options{}), web.New(ws, web.Options{Engine: engine{}}),
		plan.New(plan.Options{Record: func(context.Context, []plan.Item) error { return nil }, Asker: asker{}}),
		retract.New(nil), skill.New(skill.Options{Skills: []skill.Skill{{Name: "s"}}}),
	)
	byName := make(map[string]tool.Tool)
	for _, one := range all {
		byName[one.Spec().Name] = one
	}
	return byName
}

func specs(tools map[string]tool.Tool) (all []llm.Tool) {
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		all = append(all, tools[name].Spec())
	}
	return all
}

// The offer of each family, with the arguments of every tool.
func TestTheOffer(t *testing.T) {
	tools := builtin(t, false)
	for _, rare := range []string{"multi_edit", "delete", "list", "download", "cleanup", "revert"} {
		delete(tools, rare) // the program decides about these
	}
	all := specs(tools)
	for f, want := range map[models.Family]string{
		models.FamilyClaude: "AskUserQuestion Bash BashOutput Edit Glob Grep KillBash Read Skill TodoWrite WebFetch WebSearch Write",
		models.FamilyGPT:    "apply_patch exec_command fetch question skill update_plan view_image web_search write_stdin",
		models.FamilyGemini: "activate_skill ask_user glob google_web_search grep_search job read_file replace run_shell_command web_fetch write_file write_todos",
		models.FamilyOpen:   "bash edit fetch glob grep job question read skill todo web_search write",
	} {
		dialect := family.New(f, all)
		var got []string
		for _, one := range dialect.Offer(all) {
			got = append(got, one.Name)
			if !json.Valid(one.Schema) || one.Description == "" {
				t.Errorf("%s %s: %s %s", f, one.Name, one.Schema, one.Description)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is offered %s", f, got)
		}
	}
}

func TestTheShapesOfArguments(t *testing.T) {
	all := specs(builtin(t, false))
	for _, test := range []struct {
		family models.Family
		tool   string
		want   string
	}{
		{models.FamilyClaude, "Bash", "command description dir run_in_background timeout"},
		{models.FamilyClaude, "Read", "file_path limit offset"},
		{models.FamilyClaude, "Edit", "file_path new_string old_string replace_all"},
		{models.FamilyClaude, "Write", "content file_path"},
		{models.FamilyClaude, "TodoWrite", "todos"},
		{models.FamilyClaude, "KillBash", "shell_id"},
		{models.FamilyGPT, "exec_command", "cmd timeout_ms workdir yield_time_ms"},
		{models.FamilyGPT, "write_stdin", "chars session_id yield_time_ms"},
		{models.FamilyGPT, "view_image", "path"},
		{models.FamilyGPT, "apply_patch", "input"},
		{models.FamilyGPT, "update_plan", "plan"},
		{models.FamilyGemini, "read_file", "end_line file_path start_line"},
		{models.FamilyGemini, "run_shell_command", "command description dir_path is_background timeout"},
		{models.FamilyGemini, "replace", "allow_multiple file_path new_string old_string"},
		{models.FamilyOpen, "bash", "command description dir run_in_background timeout"},
		{models.FamilyOpen, "edit", "file_path new_string old_string replace_all"},
	} {
		tools := family.New(test.family, all).Offer(all)
		i := slices.IndexFunc(tools, func(one llm.Tool) bool { return one.Name == test.tool })
		if i < 0 {
			t.Errorf("%s has no %s", test.family, test.tool)
			continue
		}
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal(tools[i].Schema, &schema); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(schema.Properties)), " "); got != test.want {
			t.Errorf("%s %s has %s", test.family, test.tool, got)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s %s requires %s, which does not exist", test.family, test.tool, name)
			}
		}
	}
}

// Every name of every family, and every name of an argument, in one table. The tool must accept the arguments.
func TestNamesOfAllFamilies(t *testing.T) {
	tools := builtin(t, false)
	const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"
	js := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, test := range []struct{ name, arguments, tool, want string }{
		{"Bash", `{"command":"ls","timeout":120000,"description":"list"}`, "shell", `{"command":"ls","description":"list","timeout":120}`},
		{"bash", `{"command":"ls","timeout":5}`, "shell", `{"command":"ls","timeout":5}`},
		{"BASH", `{"command":"ls","run_in_background":true}`, "shell", `{"background":true,"command":"ls"}`},
		{"shell", `{"command":["bash","-lc","cat m.py"]}`, "shell", `{"command":"cat m.py"}`},
		{"shell", `{"command":["/bin/bash","-c","cat m.py"],"workdir":"."}`, "shell", `{"command":"cat m.py","dir":"."}`},
		{"shell", `{"command":["git","log","-1","--format=%s it's"]}`, "shell", `{"command":"git log -1 '--format=%s it'\\''s'"}`},
		{"shell_command", `{"command":"ls","timeout_ms":1500,"workdir":"."}`, "shell", `{"command":"ls","dir":".","timeout":2}`},
		{"functions.exec_command", `{"cmd":"ls","yield_time_ms":1000,"max_output_tokens":10,"tty":false}`, "shell", `{"command":"ls","yield":1}`},
		{"exec_command", `{"cmd":"ls","sandbox_permissions":"use_default","justification":"to see"}`, "shell", `{"command":"ls"}`},
		{"run_shell_command", `{"command":"ls","dir_path":".","is_background":false}`, "shell", `{"background":false,"command":"ls","dir":"."}`},
		{"BashOutput", `{"bash_id":"job1","filter":"x"}`, "job", `{"action":"output","id":"job1"}`},
		{"BashOutput", `{"bash_id":"job1","block":true,"timeout":60000}`, "job", `{"action":"wait","id":"job1","timeout":60}`},
		{"BashOutput", `{}`, "job", `{"action":"list"}`},
		{"KillBash", `{"shell_id":"job1"}`, "job", `{"action":"kill","id":"job1"}`},
		{"KillShell", `{"shell_id":"job1"}`, "job", `{"action":"kill","id":"job1"}`},
		{"write_stdin", `{"session_id":3,"chars":"","yield_time_ms":5000}`, "job", `{"action":"wait","id":"job3","timeout":5}`},
		{"write_stdin", `{"session_id":"job3","chars":"\u0003"}`, "job", `{"action":"kill","id":"job3"}`},
		{"write_stdin", `{"session_id":3,"yield_time_ms":0}`, "job", `{"action":"output","id":"job3"}`},
		{"Read", `{"file_path":"a.go","offset":3,"limit":4}`, "read", `{"limit":4,"offset":3,"path":"a.go"}`},
		{"read_file", `{"absolute_path":"a.go"}`, "read", `{"path":"a.go"}`},
		{"ReadFile", `{"filePath":"a.go","start_line":3,"end_line":6}`, "read", `{"limit":4,"offset":3,"path":"a.go"}`},
		{"read", `{"filename":"a.go","path":"a.go"}`, "read", `{"path":"a.go"}`},
		{"view", `{"path":"a.go","view_range":[3,-1]}`, "read", `{"offset":3,"path":"a.go"}`},
		{"NotebookRead", `{"notebook_path":"a"}`, "read", `{"path":"a"}`},
		{"view_image", `{"path":"a.png"}`, "read", `{"path":"a.png"}`},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a","view_range":[1,2]}`, "read", `{"limit":2,"offset":1,"path":"a"}`},
		{"str_replace_editor", `{"command":"create","path":"a","file_text":"x"}`, "write", `{"content":"x","path":"a"}`},
		{"str_replace_editor", `{"command":"str_replace","path":"a","old_str":"x"}`, "edit", `{"new_text":"","old_text":"x","path":"a"}`},
		{"str_replace_editor", `{"command":"insert","path":"a","insert_line":3,"insert_text":"x"}`, "", `with the line before the place`},
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`, "edit", `{"new_text":"y","old_text":"x","path":"a","replace_all":true}`},
		{"edit", `{"filePath":"a","oldString":"x","newString":"y","replaceAll":true}`, "edit", `{"new_text":"y","old_text":"x","path":"a","replace_all":true}`},
		{"replace", `{"file_path":"a","instruction":"i","old_string":"x","new_string":"y","allow_multiple":false}`, "edit", `{"new_text":"y","old_text":"x","path":"a","replace_all":false}`},
		{"edit", `{"path":"a","edits":[{"oldText":"x","newText":"y"}]}`, "edit", `{"new_text":"y","old_text":"x","path":"a"}`},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":"","replace_all":true}]}`, "multi_edit", `{"edits":[{"new_text":"y","old_text":"x"},{"new_text":"","old_text":"z","replace_all":true}],"path":"a"}`},
		{"edit", `{"path":"a","edits":[{"old_text":"x","new_text":"y"},{"old_text":"z","new_text":""}]}`, "multi_edit", `{"edits":[{"new_text":"y","old_text":"x"},{"new_text":"","old_text":"z"}],"path":"a"}`},
		{"Write", `{"file_path":"a","content":"x"}`, "write", `{"content":"x","path":"a"}`},
		{"write_file", `{"file_path":"a","content":"x"}`, "write", `{"content":"x","path":"a"}`},
		{"apply_patch", js(map[string]string{"input": patch}), "patch", js(map[string]string{"patch": patch})},
		{"apply_patch", patch, "patch", js(map[string]string{"patch": strings.TrimSpace(patch)})},
		{"apply_patch", js(map[string]string{"input": "*** Begin Patch ***\n*** Add File: a ***\n+x ***\n*** End Patch ***"}), "patch", js(map[string]string{"patch": "*** Begin Patch\n*** Add File: a\n+x ***\n*** End Patch"})},
		{"Glob", `{"pattern":"*.go","path":"."}`, "glob", `{"path":".","pattern":"*.go"}`},
		{"glob", `{"pattern":"*.go","dir_path":".","case_sensitive":true}`, "glob", `{"path":".","pattern":"*.go"}`},
		{"Grep", `{"pattern":"x","glob":"*.go","-i":true,"-n":true,"-C":2}`, "grep", `{"context":2,"ignore_case":true,"include":"*.go","pattern":"x"}`},
		{"grep_search", `{"pattern":"x","include_pattern":"*.go","dir_path":".","fixed_strings":true}`, "grep", `{"include":"*.go","literal":true,"path":".","pattern":"x"}`},
		{"Grep", `{"pattern":"x","output_mode":"files_with_matches","head_limit":5,"-A":1,"-B":2,"type":"go","multiline":true}`, "grep", `{"after":1,"before":2,"limit":5,"multiline":true,"output_mode":"files_with_matches","pattern":"x","type":"go"}`},
		{"grep_search", `{"pattern":"x","names_only":true,"case_sensitive":false}`, "grep", `{"ignore_case":true,"output_mode":"files_with_matches","pattern":"x"}`},
		{"LS", `{"path":"."}`, "list", `{"path":"."}`},
		{"list_directory", `{"dir_path":"."}`, "list", `{"path":"."}`},
		{"TodoWrite", `{"todos":[{"content":"a","status":"pending","activeForm":"Doing a"}]}`, "todo", `{"items":[{"status":"pending","text":"a"}]}`},
		{"update_plan", `{"explanation":"e","plan":[{"step":"a","status":"in_progress"}]}`, "todo", `{"items":[{"status":"in_progress","text":"a"}]}`},
		{"write_todos", `{"todos":[{"description":"a","status":"completed"},{"description":"b","status":"cancelled"}]}`, "todo", `{"items":[{"status":"completed","text":"a"}]}`},
		{"WebFetch", `{"url":"http://example.com","prompt":"p"}`, "fetch", `{"url":"http://example.com"}`},
		{"web_fetch", `{"prompt":"Read (https://example.com/a?b=c), please."}`, "fetch", `{"url":"https://example.com/a?b=c"}`},
		{"google_web_search", `{"query":"x"}`, "web_search", `{"query":"x"}`},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","header":"h","multiSelect":true,"options":[{"label":"a","description":"d"},"b"]}]}`, "question", `{"questions":[{"multiple":true,"options":["a","b"],"text":"Which?"}]}`},
		{"activate_skill", `{"name":"s"}`, "skill", `{"name":"s"}`},
		{"Skill", `{"skill":"s"}`, "skill", `{"name":"s"}`},
		{"cleanup", `{"tool":"Bash","back":1,"reason":"r"}`, "cleanup", `{"back":1,"reason":"r","tool":"shell"}`},

		{"read", `{"path":"a","file_path":"b"}`, "", `the arguments "file_path" and "path" mean the same and disagree`},
		{"edit", `{"path":"a","old_text":"x","oldString":"y","new_text":""}`, "", `disagree`},
		{"read", `{"path":"a","offset":2,"start_line":3}`, "", `disagree`},
		{"write_stdin", `{"session_id":1,"chars":"yes\n"}`, "", `reads no input`},
		{"websearhc", `{}`, "", `did you mean `},
		{"frobnicate", `{}`, "", `there is no tool named "frobnicate"; the tools are: `},
	} {
		for _, f := range families {
			got, err := family.New(f, specs(tools)).Call(llm.ToolCall{ID: "c", Name: test.name, Arguments: test.arguments})
			switch {
			case test.tool == "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %s %s: got %+v, %v", f, test.name, test.arguments, got, err)
				}
			case err != nil || got.Name != test.tool || got.Arguments != test.want || got.ID != "c":
				t.Errorf("%s: %s %s:\n got %s %s, %v\nwant %s %s", f, test.name, test.arguments, got.Name, got.Arguments, err, test.tool, test.want)
			default:
				if _, err := tools[test.tool].Prepare(t.Context(), got.Arguments); err != nil && !strings.Contains(err.Error(), "not found") {
					t.Errorf("%s %s: %v", test.name, test.arguments, err)
				}
			}
		}
	}
}

// The ways in which a model asks to leave the sandbox.
func TestLeavingTheSandbox(t *testing.T) {
	for name, arguments := range map[string]string{
		"exec_command": `{"cmd":"ls","sandbox_permissions":"require_escalated","justification":"why"}`,
		"shell":        `{"command":["bash","-lc","ls"],"sandbox_permissions":"require_escalated","justification":"why"}`,
		"Bash":         `{"command":"ls","dangerouslyDisableSandbox":true,"reason":"why"}`,
	} {
		for confined, want := range map[bool]string{true: `{"command":"ls","reason":"why","unconfined":true}`, false: `{"command":"ls"}`} {
			tools := builtin(t, confined)
			for _, f := range families {
				got, err := family.New(f, specs(tools)).Call(llm.ToolCall{Name: name, Arguments: arguments})
				if err != nil || got.Arguments != want && !strings.Contains(got.Arguments, `"description":"why"`) {
					t.Errorf("%s, confined %v: %s, %v", name, confined, got.Arguments, err)
				}
				if _, err := tools["shell"].Prepare(t.Context(), got.Arguments); err != nil {
					t.Errorf("%s, confined %v: %v", name, confined, err)
				}
			}
		}
	}
	all := specs(builtin(t, true))
	gpt := family.New(models.FamilyGPT, all).Offer(all)
	i := slices.IndexFunc(gpt, func(one llm.Tool) bool { return one.Name == "exec_command" })
	if !strings.Contains(string(gpt[i].Schema), `"enum":["use_default","require_escalated"]`) {
		t.Errorf("%s", gpt[i].Schema)
	}
}

// The table of docs/tools.md is the table of the code.
func TestTheDocumentedNames(t *testing.T) {
	text, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := agents(t)
	maps.Copy(tools, builtin(t, false))
	all := specs(tools)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		i := slices.IndexFunc(all, func(one llm.Tool) bool { return strings.TrimSpace(cells[0]) == "`"+one.Name+"`" })
		if i < 0 || len(cells) != 1+len(families) {
			continue
		}
		rows++
		for j, f := range families {
			var documented, offered []string
			for k, part := range strings.Split(cells[j+1], "`") {
				if k%2 == 1 {
					documented = append(documented, part)
				}
			}
			for _, one := range family.New(f, all).Offer(all[i : i+1]) {
				offered = append(offered, one.Name)
			}
			if !slices.Equal(documented, offered) {
				t.Errorf("%s for %s: documented %q, offered %q", all[i].Name, f, documented, offered)
			}
		}
	}
	if rows != 14 {
		t.Errorf("the table has %d rows", rows)
	}
}

// Tools that are not Tenon's own keep their names and schemas, whatever these are.
func TestOtherTools(t *testing.T) {
	own := []llm.Tool{
		{Name: "read", Description: "Read `path`.", Schema: json.RawMessage(`{"type":"object","properties":[],"required":["x"]}`)},
		{Name: "mcp__x__y", Description: "Do `z` with `grep`.", Schema: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}}}`)},
		{Name: "odd", Description: "Odd.", Schema: json.RawMessage(`true`)},
		{Name: "none", Description: "None."},
	}
	for _, f := range append(families, "") {
		d := family.New(f, own)
		offered := d.Offer(own)
		if len(offered) != len(own) {
			t.Errorf("%s: offered %+v", f, offered)
		}
		for _, name := range []string{"mcp__x__y", "odd", "none"} {
			c, err := d.Call(llm.ToolCall{Name: name, Arguments: `{"file":"a","path":"b"}`})
			if err != nil || c.Name != name || c.Arguments != `{"file":"a","path":"b"}` {
				t.Errorf("%s: %+v, %v", f, c, err)
			}
			if i := slices.IndexFunc(offered, func(one llm.Tool) bool { return one.Name == name }); i < 0 {
				t.Errorf("%s is not offered to %s", name, f)
			}
		}
	}
}
