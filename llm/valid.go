package llm

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Valid returns m with every string in valid UTF-8: bytes that are not are replaced by U+FFFD, once for each run of them.
// JSON has no other text, so the sent, the stored and the shown message are the same. Valid leaves out values that JSON cannot carry:
// parts that are nil, and an Opaque that is no JSON; a text stands for an UnknownPart that is not what it says. So a valid message
// can always be encoded. One that needs nothing of this is returned as it is, others share what stays.
func (m Message) Valid() Message {
	for _, s := range []*string{(*string)(&m.Role), &m.Model, (*string)(&m.Stop), &m.CallID, &m.Tool} {
		fixString(s)
	}
	if slices.ContainsFunc(m.Content, isNil) {
		m.Content = slices.DeleteFunc(slices.Clone(m.Content), isNil)
	}
	shared := true
	for i, p := range m.Content {
		fixed, changed := validPart(p)
		if !changed {
			continue
		}
		if shared {
			m.Content, shared = slices.Clone(m.Content), false
		}
		m.Content[i] = fixed
	}
	return m
}

func isNil(p Part) bool { return p == nil }

// validPart returns the valid form of p and whether it differs from p.
func validPart(p Part) (Part, bool) {
	switch p := p.(type) {
	case Text:
		changed := fixString(&p.Text)
		return p, fixOpaque(&p.Opaque) || changed
	case Thinking:
		changed := fixStrings(&p.Text, &p.Signature)
		return p, fixOpaque(&p.Opaque) || changed
	case ToolCall:
		changed := fixStrings(&p.ID, &p.Name, &p.Arguments)
		return p, fixOpaque(&p.Opaque) || changed
	case Image:
		return p, fixStrings(&p.MIME, &p.Blob)
	case Document:
		return p, fixStrings(&p.MIME, &p.Name, &p.Blob)
	case UnknownPart:
		changed := fixBytes(&p.JSON)
		if p.check() != nil {
			return Text{Text: "[a part that could not be kept]"}, true
		}
		return p, changed
	default:
		return p, false
	}
}

// The functions that fix report whether there was something to fix.

func fixStrings(all ...*string) bool {
	changed := false
	for _, s := range all {
		changed = fixString(s) || changed
	}
	return changed
}

func fixString(s *string) bool {
	if utf8.ValidString(*s) {
		return false
	}
	*s = strings.ToValidUTF8(*s, "\uFFFD")
	return true
}

func fixOpaque(data *json.RawMessage) bool {
	if len(*data) > 0 && !json.Valid(*data) {
		*data = nil
		return true
	}
	return fixBytes(data)
}

func fixBytes(data *json.RawMessage) bool {
	s := string(*data)
	if !fixString(&s) {
		return false
	}
	*data = json.RawMessage(s)
	return true
}
