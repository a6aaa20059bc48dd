package llm

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MarshalJSON implements [json.Marshaler]. It fails for a nil part, an UnknownPart that is not the JSON of its type, and an
// Opaque that is no JSON.
func (c Content) MarshalJSON() ([]byte, error) {
	wires := make([]any, len(c))
	for i, p := range c {
		w, err := wire(p)
		if err != nil {
			return nil, fmt.Errorf("llm: part %d: %w", i, err)
		}
		wires[i] = w
	}
	data, err := json.Marshal(wires)
	if err == nil {
		return data, nil
	}
	for i, w := range wires { // which one was it?
		if _, err := json.Marshal(w); err != nil {
			return nil, fmt.Errorf("llm: part %d (%s): %w", i, c[i].partType(), err)
		}
	}
	return nil, err
}

// wire returns what package json makes the JSON form of p from. One type for each kind saves a second pass that would
// add the "type".
func wire(p Part) (any, error) {
	switch p := p.(type) {
	case nil:
		return nil, errors.New("it is nil")
	case Text:
		return &struct {
			Type string `json:"type"`
			Text
		}{p.partType(), p}, nil
	case Thinking:
		return &struct {
			Type string `json:"type"`
			Thinking
		}{p.partType(), p}, nil
	case ToolCall:
		return &struct {
			Type string `json:"type"`
			ToolCall
		}{p.partType(), p}, nil
	case Image:
		return &struct {
			Type string `json:"type"`
			Image
		}{p.partType(), p}, nil
	case Document:
		return &struct {
			Type string `json:"type"`
			Document
		}{p.partType(), p}, nil
	case UnknownPart:
		return p.JSON, p.check()
	default:
		return nil, fmt.Errorf("%T is no part", p)
	}
}

// check returns an error if a written part would be read back as another one.
func (p UnknownPart) check() error {
	if p.Type == "" || known(p.Type) {
		return fmt.Errorf("an unknown part cannot be of the type %q", p.Type)
	}
	kind, err := partType(p.JSON)
	if err != nil {
		return fmt.Errorf("unknown part %q: %w", p.Type, err)
	}
	if kind != p.Type {
		return fmt.Errorf("unknown part %q: its JSON is of the type %q", p.Type, kind)
	}
	return nil
}

func known(kind string) bool {
	switch kind {
	case "text", "thinking", "tool_call", "image", "document":
		return true
	default:
		return false
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(data []byte) error {
	if parts, ok := unmarshalKnown(data); ok {
		*c = parts
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	parts := make(Content, 0, len(raw))
	for i, one := range raw {
		p, err := unmarshalPart(one)
		if err != nil {
			return fmt.Errorf("llm: part %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	*c = parts
	return nil
}

// anyPart has the fields of every known part, each under its own name.
type anyPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Signature string          `json:"signature"`
	Opaque    json.RawMessage `json:"opaque"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Truncated bool            `json:"truncated"`
	MIME      string          `json:"mime"`
	Data      []byte          `json:"data"`
	Blob      string          `json:"blob"`
}

// unmarshalKnown reads in one pass what most messages are: a list of known parts. It gives up on anything else.
func unmarshalKnown(data []byte) (Content, bool) {
	var all []anyPart
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, false
	}
	if len(all) == 0 {
		return nil, true
	}
	parts := make(Content, len(all))
	for i := range all {
		p := &all[i]
		switch p.Type {
		case "text":
			parts[i] = Text{Text: p.Text, Opaque: p.Opaque}
		case "thinking":
			parts[i] = Thinking{Text: p.Text, Signature: p.Signature, Opaque: p.Opaque}
		case "tool_call":
			parts[i] = ToolCall{ID: p.ID, Name: p.Name, Arguments: p.Arguments, Opaque: p.Opaque, Truncated: p.Truncated}
		case "image":
			parts[i] = Image{MIME: p.MIME, Data: p.Data, Blob: p.Blob}
		case "document":
			parts[i] = Document{MIME: p.MIME, Name: p.Name, Data: p.Data, Blob: p.Blob}
		default:
			return nil, false
		}
	}
	return parts, true
}

func unmarshalPart(data json.RawMessage) (Part, error) {
	kind, err := partType(data)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return nil, errors.New("it has no type")
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
		return UnknownPart{Type: kind, JSON: data}, nil
	}
}

func partType(data []byte) (string, error) {
	var head struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(data, &head)
	return head.Type, err
}

func decode[P Part](data []byte) (Part, error) {
	var p P
	err := json.Unmarshal(data, &p)
	return p, err
}
