package offline

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// delegate gives a task to a sub-agent.
func (p *play) delegate(in instruction) string {
	r := p.one(call{"agent", []arg{
		{"task", in.content, false},
		{"role", in.role, true},
		{"name", in.name, true},
		{"background", strings.Contains(in.how, "background"), true},
		{"worktree", strings.Contains(in.how, "worktree"), true},
	}})
	if r.failed {
		return failure(r)
	}
	return readable(r.text)
}

// toolComplete is the tool with which a sub-agent reports. Only a sub-agent has it.
const toolComplete = "complete"

// completeCall reports the end of a task to the agent that gave it: with the files that changed, and the commands that passed afterwards.
func completeCall(report string, changed, passed []string) call {
	return call{toolComplete, []arg{{"summary", cut(strings.TrimSpace(report), mostShown), false}, {"files", changed, true}, {"checks", passed, true}}}
}

// note remembers what a call did.
func (p *play) note(c call, r result) {
	switch c.tool {
	case "write", "edit":
		if name, ok := c.args[0].value.(string); ok && !r.failed {
			p.changed, p.passed = append(slices.DeleteFunc(p.changed, func(s string) bool { return s == name }), name), nil
		}
	case "shell":
		if line, ok := c.args[0].value.(string); ok && !exited(r) {
			p.passed = append(p.passed, line)
		}
	}
}

var (
	agentNote = lazy(`(?s)^\s*<note from="agent"[^<>]*>\n(?:Instruction of the agent that gave you the task:\n)?(.*)\n</note>\s*$`)
	fromBelow = lazy(`^(?:Report|Message) about task `)
	listed    = lazy(`\n([A-Z][^\n]*:\n- |Its changes are in )`)
)

// taskIn returns the task of a sub-agent, or an instruction about it. What its own sub-agents say is none.
func taskIn(text string) string {
	if g := agentNote().FindStringSubmatch(text); g != nil && !fromBelow().MatchString(g[1]) {
		return g[1]
	}
	return ""
}

// newsIn returns what sub-agents said since the last answer.
func newsIn(after []llm.Message) string {
	var news []string
	for _, m := range slices.Backward(after) {
		if m.Role != llm.RoleUser {
			break
		}
		for _, part := range slices.Backward(m.Content) {
			t, _ := part.(llm.Text)
			if g := agentNote().FindStringSubmatch(t.Text); g != nil && fromBelow().MatchString(g[1]) {
				news = append(news, readable(g[1]))
			}
		}
	}
	slices.Reverse(news)
	return strings.Join(news, "\n\n")
}

// readable puts blank lines between the parts of a report.
func readable(report string) string {
	return listed().ReplaceAllString(strings.Replace(strings.TrimSpace(report), "\n", "\n\n", 1), "\n\n$1")
}
