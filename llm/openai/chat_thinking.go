package openai

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// level returns the level that a request asks for. A model with a single level above off thinks at it by itself, and some servers refuse the
// parameter for it, so the default of such a model asks for nothing.
func (c *Chat) level(asked llm.Thinks) llm.Thinks {
	on := slices.DeleteFunc(slices.Clone(c.model.Thinks), func(l llm.Thinks) bool { return l == llm.ThinkOff })
	if asked == llm.ThinkDefault && len(on) == 1 {
		return llm.ThinkDefault
	}
	return c.model.Level(asked)
}

// think asks for a level of thinking.
func (c *Chat) think(body *chatRequest, level llm.Thinks) {
	p := &c.o.Profile
	level = chatLevel(level, c.model.Thinks)
	if level == llm.ThinkDefault || p.Thinking == ThinkingNone {
		return
	}
	off := level == llm.ThinkOff
	word := effortWord(level, p.Efforts)
	switch p.Thinking {
	case ThinkingEffort:
		body.ReasoningEffort = word
	case ThinkingObject:
		body.Reasoning = &chatReasoning{Effort: word}
		if word == "" {
			on := !off
			body.Reasoning.Enabled = &on
		}
	case ThinkingSwitch:
		body.Thinking, body.ReasoningEffort = &chatSwitch{"enabled"}, word
		if off {
			body.Thinking.Type = "disabled"
		}
	case ThinkingTemplate:
		body.TemplateArgs, body.ReasoningEffort = &chatTemplate{!off}, word
	}
}

// chatLevel returns the level of those that a model has that is nearest to the wanted one; the lower one of two. It returns the
// default for a model that does not think at all.
func chatLevel(level llm.Thinks, known []llm.Thinks) llm.Thinks {
	wanted := slices.Index(llm.Levels(), level)
	if wanted < 0 || known == nil {
		return level
	}
	best, distance := llm.ThinkDefault, len(llm.Levels())
	thinks := false
	for i, l := range llm.Levels() {
		if !slices.Contains(known, l) {
			continue
		}
		thinks = thinks || l != llm.ThinkOff
		if d := max(i-wanted, wanted-i); d < distance {
			best, distance = l, d
		}
	}
	if !thinks {
		return llm.ThinkDefault
	}
	return best
}

// effortWord returns the word for a level, or for the nearest level above off that has one.
func effortWord(level llm.Thinks, efforts map[llm.Thinks]string) string {
	if word := efforts[level]; word != "" || level == llm.ThinkOff {
		return word
	}
	var known []llm.Thinks
	for l := range efforts {
		if l != llm.ThinkOff {
			known = append(known, l)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return efforts[chatLevel(level, known)]
}

// rules returns the parts that the protocol, the server and the model accept.
func (c *Chat) rules() fit.Rules {
	p := &c.o.Profile
	r := fit.Rules{
		Images: c.model.Images, Documents: c.model.Documents && p.Documents, NoCalls: c.model.NoTools,
		Thinking: c.back, Opaque: c.family, MaxID: 40, ExactID: p.ExactID,
	}
	if p.ReasoningBack == ReasoningDetails {
		r.MaxID = 64 // reasoning may name the call that it belongs to
	}
	if !isClaude(c.model.ID) {
		r.IDs = chatIDByte
	}
	return r
}

// chatIDByte reports whether an ID of a call may have that byte. Some models make IDs such as functions.read:0 and want them back.
func chatIDByte(b byte) bool { return b > ' ' && b < 0x7f && b != '"' && b != '\\' }

// back decides whether thinking goes back to the server.
func (c *Chat) back(model string, t llm.Thinking) (llm.Thinking, bool) {
	switch c.o.Profile.ReasoningBack {
	case ReasoningText:
		return t, sameProvider(model, c.model) && strings.TrimSpace(t.Text) != ""
	case ReasoningDetails:
		return t, c.family(model) && len(reasoningDetails(t.Opaque)) > 0
	default:
		return t, false
	}
}

// family reports whether data of an answer of a model may go back to this one unchanged: both are of the same provider and, at a
// gateway, of the same maker.
func (c *Chat) family(model string) bool {
	if !sameProvider(model, c.model) {
		return false
	}
	return maker(model[len(c.model.Provider)+1:]) == maker(c.model.ID)
}

// maker returns the part of a gateway's model ID that names the maker.
func maker(id string) string {
	m, _, found := strings.Cut(id, "/")
	if !found {
		return ""
	}
	return strings.TrimPrefix(m, "~")
}

// isClaude reports whether a gateway's model is one of Anthropic.
func isClaude(id string) bool {
	id = strings.ToLower(id)
	return strings.Contains(id, "anthropic") || strings.Contains(id, "claude")
}

// reasoningDetails returns the stored list of reasoning of a thinking part. Data of another protocol has none.
func reasoningDetails(opaque []byte) []jsontext.Value {
	var list []jsontext.Value
	if len(opaque) == 0 || !bytes.HasPrefix(bytes.TrimSpace(opaque), []byte("[")) || wire.Unmarshal(opaque, &list) != nil {
		return nil
	}
	for _, one := range list {
		var d struct {
			Type string `json:"type"`
		}
		if wire.Unmarshal(one, &d) != nil || !strings.HasPrefix(d.Type, "reasoning.") {
			return nil
		}
	}
	return list
}

// extraContent returns the extra fields of a call that the server wants back, such as a thought signature of Gemini. Data of
// another protocol has none.
func extraContent(opaque []byte) jsontext.Value {
	var kept chatExtra
	if len(opaque) == 0 || wire.Unmarshal(opaque, &kept) != nil || !bytes.HasPrefix(kept.Extra, []byte("{")) {
		return nil
	}
	return kept.Extra
}

// chatExtra is the stored form of extra_content.
type chatExtra struct {
	Extra jsontext.Value `json:"extra_content"`
}
