package llm

import (
	"encoding/json"
	"strings"
)

// Content is the parts of a message in their order.
//
// JSON: a list of objects that each name their kind in "type". An empty list and null are read as nil, nil is written as [].
type Content []Part

// Part is one of [Text], [Thinking], [ToolCall], [Image], [Document] and [UnknownPart].
type Part interface{ partType() string }

// Text is plain text, Markdown by custom.
//
// JSON: {"type":"text","text","opaque"}.
type Text struct {
	Text   string          `json:"text"`
	Opaque json.RawMessage `json:"opaque,omitempty"` // provider data to send back unchanged
}

// Thinking is a model's reasoning before its answer. It goes back only to the provider that wrote it.
//
// JSON: {"type":"thinking","text","signature","opaque"}.
type Thinking struct {
	Text      string          `json:"text"`
	Signature string          `json:"signature,omitzero"` // the provider's proof that the text is its own
	Opaque    json.RawMessage `json:"opaque,omitempty"`   // encrypted or other data that the provider wants back untouched
}

// ToolCall is the model's wish that a tool be run.
//
// JSON: {"type":"tool_call","id","name","arguments","opaque"}; arguments is a string, as the model wrote it.
type ToolCall struct {
	ID        string          `json:"id"`                 // unique within the answer
	Name      string          `json:"name"`               // Tool.Name
	Arguments string          `json:"arguments"`          // the JSON text as the model wrote it; it may be malformed
	Opaque    json.RawMessage `json:"opaque,omitempty"`   // provider data to send back unchanged
	Truncated bool            `json:"truncated,omitzero"` // the answer was cut within this call: never run it
}

// Image is a picture.
//
// JSON: {"type":"image","mime","data"} with data in base64, or "blob" instead of data.
type Image struct {
	MIME string `json:"mime"`           // such as image/png
	Data []byte `json:"data,omitempty"` // the bytes of the file
	Blob string `json:"blob,omitzero"`  // or their place in the session's blobs
}

// Document is a file that a model reads as a whole, such as a PDF.
//
// JSON: {"type":"document","mime","name","data"} with data in base64, or "blob" instead of data.
type Document struct {
	MIME string `json:"mime"`
	Name string `json:"name,omitzero"` // file name for people
	Data []byte `json:"data,omitempty"`
	Blob string `json:"blob,omitzero"`
}

// UnknownPart is a part of a kind that this version does not know. No client sends it. Reading keeps it byte for byte; writing
// leaves out white space between its tokens and escapes <, > and &, as package json does everywhere, and nothing else.
type UnknownPart struct {
	Type string          // the value of "type"
	JSON json.RawMessage // the whole object, "type" included
}

// Bytes returns the size of the texts, the thinking and the calls, by which callers estimate tokens.
func (c Content) Bytes() int {
	n := 0
	for _, p := range c {
		switch p := p.(type) {
		case Text:
			n += len(p.Text)
		case Thinking:
			n += len(p.Text)
		case ToolCall:
			n += len(p.Name) + len(p.Arguments)
		}
	}
	return n
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
