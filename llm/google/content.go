package google

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// content is one turn of a conversation.
type content struct {
	Role  string `json:"role,omitzero"` // user or model
	Parts []part `json:"parts"`
}

// part is one part of a turn: one of Text, Data, Call and Result.
type part struct {
	Text      *string   `json:"text,omitzero"`
	Thought   bool      `json:"thought,omitzero"`
	Data      *blob     `json:"inlineData,omitzero"`
	Call      *call     `json:"functionCall,omitzero"`
	Result    *response `json:"functionResponse,omitzero"`
	Signature string    `json:"thoughtSignature,omitzero"`
}

type blob struct {
	MIME string `json:"mimeType"`
	Data []byte `json:"data"`
}

type call struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type response struct {
	ID       string `json:"id,omitzero"`
	Name     string `json:"name"`
	Response output `json:"response"`
	Parts    []part `json:"parts,omitzero"`
}

// output is the result of a function, under the names that Google documents for it.
type output struct {
	Output *string `json:"output,omitzero"`
	Error  *string `json:"error,omitzero"`
}

// noSignature is what Google documents for calls that have no signature because the model did not make them.
const noSignature = "skip_thought_signature_validator"

// kept is the data that Tenon keeps with a part of an answer, as its Opaque.
type kept struct {
	Signature string `json:"thoughtSignature,omitzero"`
	ID        string `json:"id,omitzero"` // of a call, when the server gave one
}

func keep(k kept) json.RawMessage {
	if k == (kept{}) {
		return nil
	}
	data, err := wire.Marshal(k)
	if err != nil {
		return nil
	}
	return data
}

// recall is the inverse of keep; data of another origin gives the zero value.
func recall(opaque json.RawMessage) kept {
	var k kept
	if len(opaque) == 0 || wire.Unmarshal(opaque, &k) != nil {
		return kept{}
	}
	return k
}

// rules returns the parts that the model accepts.
func (c *Client) rules() fit.Rules {
	r := fit.Rules{
		Images: c.model.Images, Documents: c.model.Documents, ResultImages: strict(c.model),
		ImageTypes: []string{"image/png", "image/jpeg", "image/webp"}, MaxImage: 15 << 20, // of a request of 20 MB, in base64
		NoCalls: c.model.NoTools, MaxID: 128,
		Opaque: func(author string) bool { return own(c.model, author) },
		Thinking: func(author string, t llm.Thinking) (llm.Thinking, bool) {
			return t, t.Signature != "" && own(c.model, author) // a summary without signature says nothing to the model
		},
	}
	if c.vertex {
		r.MaxImage = 7 << 20
	}
	return r
}

// contents converts a conversation. The results of an answer's calls share one turn; a user message after them is the next turn.
func (c *Client) contents(messages []llm.Message) []content {
	fitted := fit.Messages(messages, c.rules())
	all := make([]content, 0, len(fitted))
	ids := map[string]string{} // of the calls, as they are sent
	for i, m := range fitted {
		switch {
		case m.Role == llm.RoleAssistant:
			all = append(all, content{Role: "model", Parts: c.answer(m, ids)})
		case m.Role == llm.RoleUser:
			all = append(all, content{Role: "user", Parts: parts(m.Content)})
		case i > 0 && fitted[i-1].Role == llm.RoleTool:
			last := &all[len(all)-1]
			last.Parts = append(last.Parts, result(m, ids))
		default:
			all = append(all, content{Role: "user", Parts: []part{result(m, ids)}})
		}
	}
	return all
}

// answer returns the parts of an answer, and notes the IDs of its calls. Only the first of parallel calls has a signature.
func (c *Client) answer(m llm.Message, ids map[string]string) []part {
	out := make([]part, 0, len(m.Content))
	signed := !strict(c.model)
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			out = append(out, textPart(p.Text, recall(p.Opaque).Signature))
		case llm.Thinking:
			thought := textPart(p.Text, p.Signature)
			thought.Thought = true
			out = append(out, thought)
		case llm.ToolCall:
			k := recall(p.Opaque)
			if !c.vertex || k.ID != "" {
				ids[p.ID] = p.ID // Vertex AI did not always know IDs: it gets those back that it gave
			}
			if k.Signature == "" && !signed {
				k.Signature = noSignature
			}
			signed = true
			sent := &call{ID: ids[p.ID], Name: sentName(p.Name), Args: arguments(p.Arguments)}
			out = append(out, part{Call: sent, Signature: k.Signature})
		}
	}
	return out
}

func textPart(text, signature string) part { return part{Text: &text, Signature: signature} }

// parts returns texts, images and documents.
func parts(c llm.Content) []part {
	out := make([]part, 0, len(c))
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			out = append(out, textPart(p.Text, ""))
		case llm.Image:
			out = append(out, part{Data: &blob{MIME: p.MIME, Data: p.Data}})
		case llm.Document:
			out = append(out, part{Data: &blob{MIME: p.MIME, Data: p.Data}})
		}
	}
	return out
}

// result returns the result of a call. Only strict models get more than text here.
func result(m llm.Message, ids map[string]string) part {
	r := &response{ID: ids[m.CallID], Name: sentName(m.Tool)}
	var texts []string
	for _, p := range parts(m.Content) {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		} else {
			r.Parts = append(r.Parts, p)
		}
	}
	text := strings.Join(texts, "\n")
	if m.IsError {
		r.Response.Error = &text
	} else {
		r.Response.Output = &text
	}
	return part{Result: r}
}

// arguments returns the arguments of a call, which are a JSON object, without what strict readers refuse: names that repeat.
func arguments(s string) jsontext.Value {
	v := jsontext.Value(s)
	if v.IsValid() {
		return v
	}
	var object map[string]any
	if wire.Unmarshal(v, &object) == nil {
		if data, err := wire.Marshal(object); err == nil {
			return data
		}
	}
	return jsontext.Value("{}")
}
