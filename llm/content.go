package llm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Content is the parts of a message in their order.
//
// JSON: a list of objects that each name their kind in "type".
type Content []Part

// Part is one of [Text], [Thinking], [ToolCall], [Image], [Document] and [UnknownPart].
type Part interface{ partType() string }

// Text is plain text, Markdown by custom.
//
// JSON: {"type":"text","text","opaque"}.
type Text struct {
	Text   string          `json:"text"`
	Opaque json.RawMessage `json:"opaque,omitzero"` // what the provider wants back untouched
}

// Thinking is a model's reasoning before its answer. It goes back only to the provider that wrote it.
//
// JSON: {"type":"thinking","text","signature","opaque"}.
type Thinking struct {
	Text      string          `json:"text"`
	Signature string          `json:"signature,omitzero"` // the provider's proof that the text is its own
	Opaque    json.RawMessage `json:"opaque,omitzero"`    // encrypted or other data that the provider wants back untouched
}

// ToolCall is the model's wish that a tool be run.
//
// JSON: {"type":"tool_call","id","name","arguments","opaque"}; arguments is a string, as the model wrote it.
type ToolCall struct {
	ID        string          `json:"id"`                 // unique within the conversation
	Name      string          `json:"name"`               // Tool.Name
	Arguments string          `json:"arguments"`          // the JSON text as the model wrote it; it may be malformed
	Opaque    json.RawMessage `json:"opaque,omitzero"`    // what the provider wants back untouched
	Truncated bool            `json:"truncated,omitzero"` // the answer was cut within this call: never run it
}

// Image is a picture.
//
// JSON: {"type":"image","mime","data"} with data in base64, or "blob" instead of data.
type Image struct {
	MIME string `json:"mime"`          // such as image/png
	Data []byte `json:"data,omitzero"` // the bytes of the file
	Blob string `json:"blob,omitzero"` // or their place in the session's blobs
}

// Document is a file that a model reads as a whole, such as a PDF.
//
// JSON: {"type":"document","mime","name","data"} with data in base64, or "blob" instead of data.
type Document struct {
	MIME string `json:"mime"`
	Name string `json:"name,omitzero"` // file name for people
	Data []byte `json:"data,omitzero"`
	Blob string `json:"blob,omitzero"`
}

// UnknownPart is a part of a kind that this version does not know, kept byte for byte. No client sends it.
type UnknownPart struct {
	Type string          // the value of "type"
	JSON json.RawMessage // the whole object
}

func (Text) partType() string          { return "text" }
func (Thinking) partType() string      { return "thinking" }
func (ToolCall) partType() string      { return "tool_call" }
func (Image) partType() string         { return "image" }
func (Document) partType() string      { return "document" }
func (p UnknownPart) partType() string { return p.Type }

// Text returns the texts of the content, joined by nothing. Thinking is not text.
func (c Content) Text() string {
	if len(c) == 1 {
		if t, ok := c[0].(Text); ok {
			return t.Text
		}
	}
	var b strings.Builder
	for _, p := range c {
		if t, ok := p.(Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// MarshalJSON implements [json.Marshaler].
func (c Content) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, p := range c {
		if i > 0 {
			out = append(out, ',')
		}
		one, err := marshalPart(p)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		out = append(out, one...)
	}
	return append(out, ']'), nil
}

func marshalPart(p Part) ([]byte, error) {
	switch p := p.(type) {
	case nil:
		return nil, fmt.Errorf("llm: a part is nil")
	case UnknownPart:
		return p.JSON, nil
	default:
		return tagged("type", p.partType(), p)
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(data []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	parts := make(Content, 0, len(raw))
	for i, one := range raw {
		p, err := unmarshalPart(one)
		if err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	*c = parts
	return nil
}

func unmarshalPart(data json.RawMessage) (Part, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "":
		return nil, fmt.Errorf("llm: a part without a type")
	case "text":
		return decode[Text](data)
	case "thinking":
		return decode[Thinking](data)
	case "tool_call":
		return decode[ToolCall](data)
	case "image":
		return decode[Image](data)
	case "document":
		return decode[Document](data)
	default:
		return UnknownPart{Type: head.Type, JSON: append(json.RawMessage(nil), data...)}, nil
	}
}

func decode[P Part](data []byte) (Part, error) {
	var p P
	err := json.Unmarshal(data, &p)
	return p, err
}

// tagged encodes value, a struct, with key as its first member.
func tagged(key, tag string, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(tag)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(key)+len(name)+5)
	out = append(out, '{', '"')
	out = append(out, key...)
	out = append(out, '"', ':')
	out = append(out, name...)
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}
