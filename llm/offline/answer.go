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
	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// answer is the whole model: what it says to a request.
func answer(req *llm.Request) llm.Message {
	text, data, after := instructionsOf(req.Messages)
	list := parse(text)
	p := newPlay(req.Tools, after)
	p.data = data
	p.mute = req.ToolChoice == llm.ToolNone
	p.place = placeOf(req.Messages)
	report, done := p.perform(list)

	var m llm.Message
	if done {
		m = llm.AssistantText(withoutSaid(p.intent(list)+report, after))
	} else {
		m = p.wish(req, p.intent(list))
	}
	return limit(m, req.MaxTokens)
}

// intent is the tag that begins the first answer to a message.
func (p *play) intent(list []instruction) string {
	if p.started || len(list) == 0 {
		return ""
	}
	words := make([]string, 0, 3)
	for i, in := range list {
		if i == 3 {
			words = append(words, "…")
			break
		}
		words = append(words, in.intent())
	}
	return "<intent>" + strings.Join(words, ", then ") + "</intent>\n\n"
}

// wish is the answer that asks for the pending calls.
func (p *play) wish(req *llm.Request, intent string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Stop: llm.StopCalls}
	if intent != "" {
		m.Content = append(m.Content, llm.Text{Text: intent})
	}
	base := callBase(req.Messages)
	for i, c := range p.pending {
		m.Content = append(m.Content, llm.ToolCall{
			ID: fmt.Sprintf("call_%s_%d", base, i), Name: c.tool, Arguments: p.encode(c),
		})
	}
	return m
}

// callBase makes the names of an answer's calls: the same for the same conversation, and another one with every message
// that is added to it.
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

// instructionsOf returns the text of the last user message that speaks to the model, the data in it, and the messages after
// it. A message that only asks to go on stands for the one before it.
func instructionsOf(messages []llm.Message) (text, data string, after []llm.Message) {
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		said := userText(m)
		if m.Role != llm.RoleUser || said == "" {
			continue
		}
		text, data, after = said, dataOf(m), messages[i+1:]
		if !goOn.MatchString(text) && !wasCut(messages[:i]) {
			break
		}
	}
	return text, data, after
}

// userText is what a person said in m: without the parts that a program added.
func userText(m llm.Message) string {
	var said []string
	for _, p := range m.Content {
		t, ok := p.(llm.Text)
		if !ok {
			continue
		}
		if _, ok := piped(t.Text); !ok && !isNotice(t.Text) {
			said = append(said, t.Text)
		}
	}
	return strings.Join(said, "\n")
}

// dataOf is what came with m on standard input.
func dataOf(m llm.Message) string {
	for _, p := range m.Content {
		if t, ok := p.(llm.Text); ok {
			if data, ok := piped(t.Text); ok {
				return data
			}
		}
	}
	return ""
}

// piped returns the data of a text that is what came on standard input beside a prompt. It gives no instructions, whatever
// it says, and it may be long.
func piped(text string) (data string, ok bool) {
	data, ok = strings.CutPrefix(strings.TrimLeft(text, "\n"), "<stdin>\n")
	if ok {
		data, ok = strings.CutSuffix(data, "\n</stdin>")
	}
	return data, ok
}

// goOn matches a message that asks to go on and says nothing else.
var goOn = lazy.Compile(`(?is)^\s*(?:please\s+)?(?:continue|go on|carry on|keep going|resume|proceed)\b[^\n]{0,80}$`)

// notice matches a text that is one block of markup, as programs add it to what a person said.
var notice = lazy.Compile(`(?s)^\s*(?:<(workspace|environment|context|reminder|system-reminder|status|notice|summary|digest|file|files|reverted|kept)\b` +
	`[^<>]*(?:/>|>.*(?:</(?:workspace|environment|context|reminder|system-reminder|status|notice|summary|digest|file|files|reverted|kept)>|/>))\s*)?$`)

func isNotice(text string) bool { return notice.MatchString(text) }

// place is what the conversation tells about where the project is.
type place struct {
	name  string // of its directory; "" when nobody said it
	noGit bool   // it is said to be in no repository
}

var (
	toldDirectory = lazy.Compile(`(?mi)^(?:working )?directory: .*?([^/\\\r\n]+)[/\\]?\r?$`)
	toldNoGit     = lazy.Compile(`(?mi)^git: no(?:ne| repository)\b`)
)

// placeOf reads the notices in the messages of the person's side.
func placeOf(messages []llm.Message) (told place) {
	for _, m := range messages {
		if m.Role != llm.RoleUser {
			continue
		}
		for _, part := range m.Content {
			t, ok := part.(llm.Text)
			if !ok || !isNotice(t.Text) {
				continue
			}
			if g := toldDirectory.FindStringSubmatch(t.Text); g != nil {
				told.name = g[1]
				told.noGit = toldNoGit.MatchString(t.Text)
			}
		}
	}
	return told
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

// withoutSaid returns text without what cut answers have said of it already.
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

// limit cuts m at the output limit, 0 for none. A call that does not fit is marked as truncated and must not be run.
func limit(m llm.Message, most int) llm.Message {
	if most <= 0 || contentTokens(m.Content) <= int64(most) {
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

// cut returns the longest start of s of at most n bytes that ends at a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
