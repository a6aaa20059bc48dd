package family_test

import (
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool/family"
)

// An open model whose server does not read its calls writes them as text. A whole text that is one call is a call.
func TestCallsAsText(t *testing.T) {
	all := specs(builtin(t, false))
	open := family.New(models.FamilyOpen, all)
	for _, text := range []string{
		`{"name": "bash", "arguments": {"command": "ls -l"}}`,
		`{"name":"bash","parameters":{"command":"ls -l"}}`,
		"<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls -l\"}}\n</tool_call>",
		"<tool_call>\n<function=bash>\n<parameter=command>\nls -l\n</parameter>\n</function>\n</tool_call>",
		"<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls -l</arg_value>\n</tool_call>",
		"<minimax:tool_call>\n<invoke name=\"bash\">\n<parameter name=\"command\">ls -l</parameter>\n</invoke>\n</minimax:tool_call>",
		`<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command":"ls -l"}<|tool_call_end|><|tool_calls_section_end|>`,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{\"command\":\"ls -l\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		`<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{"command":"ls -l"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
		`<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command":"ls -l"}<|call|>`,
	} {
		m := llm.AssistantText("\n" + text + "\n")
		m.Content = append(llm.Content{llm.Thinking{Text: "So."}}, m.Content...)
		got := open.Answer(m)
		if len(got.Calls()) != 1 || got.Stop != llm.StopCalls || len(got.Content) != 2 {
			t.Errorf("%s: got %+v", text, got)
			continue
		}
		if c, err := open.Call(got.Calls()[0]); err != nil || c.Name != "shell" || c.Arguments != `{"command":"ls -l"}` {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
		if got := family.New(models.FamilyClaude, all).Answer(m); len(got.Calls()) > 0 {
			t.Errorf("%s: a call of Claude", text)
		}
	}
	for _, text := range []string{
		"", "Done.", `{"command":"ls"}`, `{"name":"unheard","arguments":{}}`, `{"name":"bash","arguments":"ls"}`, `I call {"name":"bash","arguments":{"command":"ls"}}`,
		`{"name":"bash","arguments":{"command":"ls"}} Done.`, "```json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n```",
		`{"name":"bash","arguments":{"command":"ls"}}` + "\n" + `{"name":"bash","arguments":{"command":"ls"}}`,
		"<tool_call><function=bash>ls</function></tool_call>", "<tool_call><function=bash><parameter=command>a</parameter><parameter=command>b</parameter></function></tool_call>",
	} {
		if got := open.Answer(llm.AssistantText(text)); len(got.Calls()) > 0 {
			t.Errorf("%q became %+v", text, got.Calls())
		}
	}
	cut := llm.AssistantText(`{"name":"bash","arguments":{"command":"ls"}}`)
	cut.Stop = llm.StopLength
	if got := open.Answer(cut); len(got.Calls()) > 0 {
		t.Error("an answer that was cut became a call")
	}
}

func FuzzCallsAsText(f *testing.F) {
	for _, text := range []string{`{"name":"bash","arguments":{}}`, "<tool_call>bash<arg_key>a</arg_key><arg_value>b</arg_value></tool_call>", "<function=bash><parameter=a>b</parameter></function>"} {
		f.Add(text)
	}
	open := family.New(models.FamilyOpen, specs(builtin(f, false)))
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range open.Answer(llm.AssistantText(text)).Calls() {
			if _, err := open.Call(c); err != nil {
				t.Errorf("%q became a call that fails: %v", text, err)
			}
		}
	})
}
