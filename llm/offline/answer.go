package offline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
)

// answer returns the answer to a request. It is the whole model.
func answer(req *llm.Request) llm.Message {
	text, data, after := instructionsOf(req)
	todo := parse(text)
	p := newPlay(req.Tools, after)
	p.data, p.place, p.mute = data, placeOf(req.Messages), req.ToolChoice == llm.ToolNone
	report := p.perform(todo)
	if news := newsIn(after); news != "" {
		report = news
	}
	if _, sub := p.tools[toolComplete]; sub && len(todo) > 0 && len(p.pending) == 0 {
		p.one(completeCall(report, p.changed, p.passed))
	}

	intent := intentOf(p, todo)
	if len(p.pending) == 0 {
		return limit(llm.AssistantText(withoutSaid(intent+report, after)), req.MaxTokens)
	}
	m := llm.Message{Role: llm.RoleAssistant, Stop: llm.StopCalls}
	if intent != "" {
		m.Content = append(m.Content, llm.Text{Text: intent})
	}
	base := callBase(req.Messages)
	for i, c := range p.pending {
		m.Content = append(m.Content, llm.ToolCall{ID: fmt.Sprintf("call_%s_%d", base, i), Name: c.tool, Arguments: c.encode(p.tools[c.tool])})
	}
	return limit(m, req.MaxTokens)
}

// intentOf returns the tag that begins the first answer to a message: the first three instructions in a few words.
func intentOf(p *play, todo []instruction) string {
	if p.started || len(todo) == 0 {
		return ""
	}
	var words []string
	for _, in := range todo[:min(len(todo), 3)] {
		words = append(words, brief(in.text))
	}
	if len(todo) > 3 {
		words = append(words, "…")
	}
	return "<intent>" + strings.Join(words, ", then ") + "</intent>\n\n"
}

// callBase returns the beginning of the IDs of an answer's calls. It depends on the whole conversation.
func callBase(messages []llm.Message) string {
	h := sha256.New()
	for _, m := range messages {
		fmt.Fprintf(h, "%s %q %d\n", m.Role, m.CallID, len(m.Content))
		if m.Role == llm.RoleUser {
			_, _ = io.WriteString(h, m.Text())
		}
		for _, c := range m.Calls() {
			fmt.Fprintf(h, "%q %q\n", c.ID, c.Arguments)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// instructionsOf returns the text of the last message with instructions of the user, the data in it, and the messages after
// it. A message that only asks to continue refers to the one before it.
func instructionsOf(req *llm.Request) (text, data string, after []llm.Message) {
	messages := req.Messages
	sub := slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == toolComplete })
	for i, m := range slices.Backward(messages) {
		said, piped := userText(m, sub)
		if m.Role != llm.RoleUser || said == "" {
			continue
		}
		text, data, after = said, piped, messages[i+1:]
		if !goOn().MatchString(text) && !wasCut(messages[:i]) {
			break
		}
	}
	return text, data, after
}

// userText returns the words of the person in m, or in a sub-agent of the agent that gave the task, without the parts that a program added. It
// returns the data from standard input, too. Data gives no instructions.
func userText(m llm.Message, sub bool) (text, data string) {
	var said []string
	for _, p := range m.Content {
		t, ok := p.(llm.Text)
		if !ok {
			continue
		}
		if input, ok := strings.CutPrefix(strings.TrimLeft(t.Text, "\n"), "<stdin>\n"); ok && strings.HasSuffix(input, "\n</stdin>") {
			data = firstOf(data, strings.TrimSuffix(input, "\n</stdin>"))
		} else if task := taskIn(t.Text); sub && task != "" {
			said = append(said, task)
		} else if !isNotice(t.Text) {
			said = append(said, t.Text)
		}
	}
	return strings.Join(said, "\n"), data
}

// goOn matches a message that only asks to continue.
var goOn = lazy(`(?is)^\s*(?:please\s+)?(?:continue|go on|carry on|keep going|resume|proceed)\b[^\n]{0,80}$`)

// notice matches a text of blocks of markup that a program added: context, and notes of other speakers than the person.
var notice = lazy(`(?s)^\s*(?:<(?:` + blocks + `)\b[^<>]*(?:/>|>.*(?:</(?:` + blocks + `)>|/>))\s*)?$`)

const blocks = `workspace|environment|context|reminder|system-reminder|status|note|notice|summary|digest|files?|reverted|kept`

func isNotice(text string) bool { return notice().MatchString(text) }

// place has the facts of the conversation about the project directory.
type place struct {
	name  string // of the directory; "" if unknown
	noGit bool   // the directory is in no repository
}

var (
	directoryLine = lazy(`(?mi)^(?:working )?directory: .*?([^/\\\r\n]+)[/\\]?\r?$`)
	noGitLine     = lazy(`(?mi)^git: no(?:ne| repository)\b`)
)

// placeOf reads the notices in the messages with the role of the user.
func placeOf(messages []llm.Message) (found place) {
	for _, m := range messages {
		for _, part := range m.Content {
			t, ok := part.(llm.Text)
			if !ok || m.Role != llm.RoleUser || !isNotice(t.Text) {
				continue
			}
			if g := directoryLine().FindStringSubmatch(t.Text); g != nil {
				found = place{g[1], noGitLine().MatchString(t.Text)}
			}
		}
	}
	return found
}

// wasCut reports whether the last answer ended at the output limit.
func wasCut(messages []llm.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleAssistant {
			return m.Stop == llm.StopLength
		}
	}
	return false
}

// withoutSaid returns text without the beginning that earlier answers contain, which ended at the output limit.
func withoutSaid(text string, after []llm.Message) string {
	for _, m := range after {
		if m.Role != llm.RoleAssistant || m.Stop != llm.StopLength || len(m.Calls()) > 0 {
			continue
		}
		if rest, ok := strings.CutPrefix(text, m.Text()); ok && rest != "" {
			text = rest
		}
	}
	return text
}

// limit cuts m at the output limit; 0 is no limit. It marks a call that does not fit as truncated, and the call must not run.
func limit(m llm.Message, most int) llm.Message {
	if most <= 0 || tokens(m.Content.Bytes()) <= int64(most) {
		return m
	}
	left := most * bytesPerToken
	m.Stop = llm.StopLength
	for i, part := range m.Content {
		switch part := part.(type) {
		case llm.Text:
			if len(part.Text) > left {
				part.Text = cut(part.Text, left)
				m.Content = append(m.Content[:i:i], part)
				return m
			}
			left -= len(part.Text)
		case llm.ToolCall:
			left -= len(part.Name) + len(part.Arguments)
			if left < 0 {
				part.Truncated = true
				part.Arguments = cut(part.Arguments, max(0, left+len(part.Arguments)))
				m.Content = append(m.Content[:i:i], part)
				return m
			}
		}
	}
	return m
}

// cut returns the longest beginning of s of at most n bytes that ends between two runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
