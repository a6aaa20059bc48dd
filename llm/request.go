package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"strconv"
)

// Request asks a model for one answer. The embedded [Settings] say how it answers.
//
// JSON: the fields by their names in snake case, empty ones left out.
type Request struct {
	System     string     `json:"system,omitzero"`      // static instructions; the same for as long as possible, for the provider's cache
	Messages   []Message  `json:"messages"`             // oldest first; every tool call is followed by its result
	Tools      []Tool     `json:"tools,omitzero"`       // sorted by name, for the provider's cache
	ToolChoice ToolChoice `json:"tool_choice,omitzero"` // default ToolAuto
	Settings
}

// Bytes returns the size of the texts of the request, by which callers estimate tokens. Images and documents do not count.
func (r *Request) Bytes() int {
	n := len(r.System) + len(r.Schema)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema) + len(t.Grammar)
	}
	for _, m := range r.Messages {
		n += m.Content.Bytes()
	}
	return n
}

// Tool describes a tool to a model.
type Tool struct {
	Name        string          `json:"name"`        // 1 to 64 of a-z A-Z 0-9 _ -
	Description string          `json:"description"` // when and how to use it
	Schema      json.RawMessage `json:"schema"`      // JSON Schema of its arguments, an object

	// Grammar, if not empty, is a Lark grammar of the only argument, the string "input". If the protocol and the model have free-form tools,
	// the model writes the bare string, and the client returns it as an object with that argument.
	Grammar string `json:"grammar,omitzero"`
}

// ToolChoice says whether the model may, must or must not call tools.
type ToolChoice string

// The tool choices.
const (
	ToolAuto     ToolChoice = "" // the model decides
	ToolRequired ToolChoice = "required"
	ToolNone     ToolChoice = "none"
)

// SegmentHashes returns one hash for each segment of the request, in the order in which providers cache them: every tool, the system prompt,
// every message. Two requests share a prefix up to the first segment whose hashes differ.
func (r *Request) SegmentHashes() []string {
	hashes := make([]string, 0, len(r.Tools)+1+len(r.Messages))
	w := hasher{hash: sha256.New()}
	for _, t := range r.Tools {
		w.text(t.Name, t.Description, string(t.Schema))
		if t.Grammar != "" {
			w.text(t.Grammar)
		}
		hashes = append(hashes, w.segment())
	}
	w.text(r.System)
	hashes = append(hashes, w.segment())
	for _, m := range r.Messages {
		w.message(m)
		hashes = append(hashes, w.segment())
	}
	return hashes
}

// hasher writes the parts of a segment, each with its length, so that no two segments have the same bytes.
type hasher struct {
	hash    hash.Hash
	scratch []byte
}

func (w *hasher) text(parts ...string) {
	for _, p := range parts {
		w.scratch = binary.LittleEndian.AppendUint64(w.scratch[:0], uint64(len(p)))
		w.scratch = append(w.scratch, p...)
		_, _ = w.hash.Write(w.scratch)
	}
}

func (w *hasher) message(m Message) {
	w.text(string(m.Role), m.CallID, m.Tool, strconv.FormatBool(m.IsError))
	for _, p := range m.Content {
		switch p := p.(type) {
		case Text:
			w.text("text", p.Text, string(p.Opaque))
		case Thinking:
			w.text("thinking", p.Text, p.Signature, string(p.Opaque))
		case ToolCall:
			w.text("call", p.ID, p.Name, p.Arguments, string(p.Opaque))
		case Image:
			w.text("image", p.MIME, p.Blob, string(p.Data))
		case Document:
			w.text("document", p.MIME, p.Name, p.Blob, string(p.Data))
		case UnknownPart:
			w.text("unknown", p.Type, string(p.JSON))
		}
	}
}

// segment ends a segment and returns its hash.
func (w *hasher) segment() string {
	var sum [sha256.Size]byte
	w.hash.Sum(sum[:0])
	w.hash.Reset()
	return hex.EncodeToString(sum[:8])
}
