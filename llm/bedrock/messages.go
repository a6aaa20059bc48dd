package bedrock

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// maxImage is how many bytes an image may have.
const maxImage = 3_750_000

// rules returns the parts that the model accepts.
func (c *Client) rules(noCalls bool) fit.Rules {
	return fit.Rules{
		Images:       c.model.Images,
		Documents:    c.model.Documents,
		ResultImages: c.family.resultMedia,
		MaxImage:     maxImage,
		NoCalls:      noCalls,
		Thinking:     c.ownThinking,
	}
}

// ownThinking decides whether thinking goes back. Models take only that of their own family, and only what proves to be so: the
// makers that sign nothing refuse to see their thinking again.
func (c *Client) ownThinking(model string, t llm.Thinking) (llm.Thinking, bool) {
	id, ok := strings.CutPrefix(model, c.model.Provider+"/")
	if !ok || c.family.maker == otherMaker || familyOf(id).maker != c.family.maker {
		return t, false
	}
	return t, t.Signature != "" || len(redactedContent(t)) > 0
}

// redactedContent returns thinking that came encrypted.
func redactedContent(t llm.Thinking) []byte {
	var o opaqueThinking
	if len(t.Opaque) == 0 || wire.Unmarshal(t.Opaque, &o) != nil {
		return nil
	}
	return o.Redacted
}

// opaqueThinking is the stored form of encrypted thinking.
type opaqueThinking struct {
	Redacted []byte `json:"redactedContent,omitempty"`
}

// writer turns a conversation into messages of the protocol.
type writer struct {
	family family
	names  map[string]bool // names of documents, which must be unique
	out    []message
}

// messages returns a fitted conversation as the protocol has it: results of calls are said by the user, and what one side says in
// several messages is one.
func (c *Client) messages(conversation []llm.Message) []message {
	w := writer{family: c.family, names: make(map[string]bool)}
	for _, m := range conversation {
		switch m.Role {
		case llm.RoleAssistant:
			w.add("assistant", w.answer(m.Content))
		case llm.RoleTool:
			w.add("user", []block{{Result: w.result(m)}})
		default:
			w.user(w.parts(m.Content))
		}
	}
	return w.out
}

func (w *writer) add(role string, content []block) {
	if n := len(w.out); n > 0 && w.out[n-1].Role == role {
		w.out[n-1].Content = append(w.out[n-1].Content, content...)
		return
	}
	w.out = append(w.out, message{Role: role, Content: content})
}

// user adds a user message. If it cannot share a message with results, user inserts a short assistant message in between.
func (w *writer) user(content []block) {
	if n := len(w.out); n > 0 && w.family.separate && w.out[n-1].Role == "user" {
		w.add("assistant", []block{{Text: "I have the results."}})
	}
	w.add("user", withText(content))
}

// withText adds a text to content that has a document but no text: the protocol demands one.
func withText(content []block) []block {
	document := false
	for _, b := range content {
		if b.Text != "" {
			return content
		}
		document = document || b.Document != nil
	}
	if document {
		return append(content, block{Text: "(see the document)"})
	}
	return content
}

func (w *writer) result(m llm.Message) *result {
	r := &result{ID: m.CallID, Content: withText(w.parts(m.Content))}
	if w.family.resultMedia {
		r.Status = "success"
		if m.IsError {
			r.Status = "error"
		}
	}
	return r
}

// answer returns the blocks of an answer. Thinking at its end led to nothing and is refused there.
func (w *writer) answer(content llm.Content) []block {
	for len(content) > 1 {
		if _, ok := content[len(content)-1].(llm.Thinking); !ok {
			break
		}
		content = content[:len(content)-1]
	}
	var calls, others []block
	var all []block
	for _, p := range content {
		var b block
		switch p := p.(type) {
		case llm.Text:
			b = block{Text: p.Text}
		case llm.Thinking:
			b = block{Reasoning: &reasoning{Text: &reasoningText{p.Text, p.Signature}}}
			if redacted := redactedContent(p); len(redacted) > 0 {
				b = block{Reasoning: &reasoning{Redacted: redacted}}
			}
		case llm.ToolCall:
			b = block{Use: &toolUse{p.ID, p.Name, jsontext.Value(p.Arguments)}}
			calls = append(calls, b)
		}
		if b.Use == nil {
			others = append(others, b)
		}
		all = append(all, b)
	}
	if w.family.separate && len(calls) > 0 && len(others) > 0 {
		return calls
	}
	return all
}

// parts returns the texts, images and documents of a message.
func (w *writer) parts(content llm.Content) []block {
	var out []block
	for _, p := range content {
		switch p := p.(type) {
		case llm.Text:
			out = append(out, block{Text: p.Text})
		case llm.Image:
			out = append(out, block{Image: &media{Format: strings.TrimPrefix(p.MIME, "image/"), Source: source{p.Data}}})
		case llm.Document:
			out = append(out, block{Document: &media{Format: "pdf", Name: w.name(p.Name), Source: source{p.Data}}})
		}
	}
	return out
}

// maxDocumentName is how many bytes of a document's name are kept.
const maxDocumentName = 100

// name returns a name for a document that the protocol takes and that no other has: letters, digits, single spaces, hyphens,
// parentheses and brackets.
func (w *writer) name(file string) string {
	file = strings.TrimSuffix(file[:min(len(file), maxDocumentName)], ".pdf")
	fixed := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-()[]", r):
			return r
		default:
			return ' '
		}
	}, file)
	fixed = strings.Join(strings.Fields(fixed), " ")
	if fixed == "" {
		fixed = "document"
	}
	unique := fixed
	for n := 2; w.names[unique]; n++ {
		unique = fmt.Sprintf("%s (%d)", fixed, n)
	}
	w.names[unique] = true
	return unique
}
