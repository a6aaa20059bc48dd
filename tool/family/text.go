package family

import (
	"regexp"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
)

// wire is a form in which an open model writes a call if its server does not read it.
type wire struct {
	call      func() *regexp.Regexp // the whole text, with the groups name and arguments
	arguments func() *regexp.Regexp // one argument, with its name and its value; nil: the arguments are JSON
}

// wires are the forms of Hermes, Qwen3, GLM, MiniMax, Kimi, DeepSeek and gpt-oss.
var wires = []wire{
	{call: pattern(`(?s)^(?:<tool_call>\s*)?\{\s*"name"\s*:\s*"(?P<name>[^"]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(?P<arguments>\{.*\})\s*\}(?:\s*</tool_call>)?$`)},
	{
		call:      pattern(`(?s)^(?:<tool_call>\s*)?<function=(?P<name>[^>\s]+)>(?P<arguments>.*)</function>(?:\s*</tool_call>)?$`),
		arguments: pattern(`(?s)^\s*<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>\s*`),
	},
	{
		call:      pattern(`(?s)^<tool_call>\s*(?P<name>[\w.-]+)\s*(?P<arguments><arg_key>.*)</tool_call>$`),
		arguments: pattern(`(?s)^\s*<arg_key>([^<]+)</arg_key>\s*<arg_value>(.*?)</arg_value>\s*`),
	},
	{
		call:      pattern(`(?s)^<(?:minimax:tool_call|function_calls)>\s*<invoke name="(?P<name>[^"]+)">(?P<arguments>.*)</invoke>\s*</(?:minimax:tool_call|function_calls)>$`),
		arguments: pattern(`(?s)^\s*<parameter name="([^"]+)"[^>]*>(.*?)</parameter>\s*`),
	},
	{call: pattern(`(?s)^(?:<\|tool_calls_section_begin\|>)?<\|tool_call_begin\|>\s*(?P<name>[^<\s]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(?P<arguments>\{.*\})\s*<\|tool_call_end\|>(?:<\|tool_calls_section_end\|>)?$`)},
	{call: pattern("(?s)^(?:<｜tool▁calls▁begin｜>)?<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\\w.-]+)(?:<｜tool▁sep｜>)?\\s*(?:```json\\s*)?(?P<arguments>\\{.*\\})\\s*(?:```\\s*)?<｜tool▁call▁end｜>(?:<｜tool▁calls▁end｜>)?$")},
	{call: pattern(`(?s)^(?:<\|start\|>assistant)?<\|channel\|>commentary to=(?P<name>[^<\s]+)\s*(?:<\|constrain\|>\s*json)?\s*<\|message\|>\s*(?P<arguments>\{.*\})\s*(?:<\|call\|>)?$`)},
}

// Answer returns the answer of an open model with a call in place of its text, if the whole text is one call of a tool in a form in which such
// models write them. Otherwise it returns the answer.
func (f *Dialect) Answer(m llm.Message) llm.Message {
	if f.family != models.FamilyOpen || m.Stop != llm.StopEnd || len(m.Calls()) > 0 {
		return m
	}
	text := strings.TrimSpace(m.Text())
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "<") {
		return m
	}
	for _, w := range wires {
		c, ok := w.read(text)
		if !ok {
			continue
		}
		if _, ok := object(c.Arguments); !ok {
			continue
		}
		if _, err := f.Call(c); err != nil {
			continue
		}
		var content llm.Content
		for _, p := range m.Content {
			if _, text := p.(llm.Text); !text {
				content = append(content, p)
			}
		}
		m.Content, m.Stop = append(content, c), llm.StopCalls
		return m
	}
	return m
}

// read reads a text as a call.
func (w wire) read(text string) (c llm.ToolCall, ok bool) {
	m := w.call().FindStringSubmatch(text)
	if m == nil {
		return c, false
	}
	c.Name, c.Arguments = m[w.call().SubexpIndex("name")], m[w.call().SubexpIndex("arguments")]
	if w.arguments == nil {
		return c, true
	}
	args, rest := make(map[string]any), c.Arguments
	for strings.TrimSpace(rest) != "" {
		one := w.arguments().FindStringSubmatch(rest)
		if one == nil || args[one[1]] != nil {
			return c, false
		}
		args[one[1]], rest = one[2], rest[len(one[0]):]
	}
	c.Arguments = encode(args)
	return c, true
}
