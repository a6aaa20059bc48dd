package openai

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatChunk is an event of a stream, or a whole answer.
type chatChunk struct {
	ID      looseString    `json:"id"`
	Object  isError        `json:"object"`
	Model   looseString    `json:"model"`
	Choices []chatChoice   `json:"choices"`
	Usage   *chatUsage     `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type chatChoice struct {
	Index   looseNumber    `json:"index"`
	Delta   *chatDelta     `json:"delta"`
	Message *chatDelta     `json:"message"`
	Finish  looseString    `json:"finish_reason"`
	Error   jsontext.Value `json:"error"`
}

// chatDelta is a piece of an answer, or all of it. Reasoning is spelled in many ways; a server may use several at once.
type chatDelta struct {
	Content          chatContent      `json:"content"`
	ReasoningContent looseString      `json:"reasoning_content"`
	Reasoning        looseString      `json:"reasoning"`
	Thinking         looseString      `json:"thinking"`
	Details          []chatDetail     `json:"reasoning_details"`
	Calls            []chatCallDelta  `json:"tool_calls"`
	Function         *chatCalledDelta `json:"function_call"`
	Refusal          looseString      `json:"refusal"`
}

type chatCallDelta struct {
	Index    *looseNumber    `json:"index"`
	ID       looseString     `json:"id"`
	Function chatCalledDelta `json:"function"`
	Extra    jsontext.Value  `json:"extra_content"`
}

type chatCalledDelta struct {
	Name      looseString   `json:"name"`
	Arguments chatArguments `json:"arguments"`
}

// chatDetail is an element of reasoning_details, or a piece of one. It keeps unknown fields.
type chatDetail struct {
	Type      looseString               `json:"type"`
	Index     jsontext.Value            `json:"index,omitempty"`
	Text      looseString               `json:"text,omitzero"`
	Summary   looseString               `json:"summary,omitzero"`
	Data      looseString               `json:"data,omitzero"`
	ID        looseString               `json:"id,omitzero"`
	Format    looseString               `json:"format,omitzero"`
	Signature looseString               `json:"signature,omitzero"`
	Rest      map[string]jsontext.Value `json:",embed"`
}

// looseString is a string, or any other value as its JSON text; null is empty.
type looseString string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *looseString) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindString:
		tok, err := dec.ReadToken()
		if err == nil {
			*s = looseString(tok.String())
		}
		return err
	case jsontext.KindNull:
		*s = ""
		return dec.SkipValue()
	default:
		v, err := dec.ReadValue()
		*s = looseString(v)
		return err
	}
}

// isError distinguishes an error object from all others.
type isError bool

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (e *isError) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	*e = string(v) == `"error"`
	return err
}

// looseNumber is a number or a string with a number; anything else is 0.
type looseNumber float64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *looseNumber) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var s looseString
	if err := s.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || f != f || math.IsInf(f, 0) {
		f = 0
	}
	*n = looseNumber(f)
	return nil
}

// tokens is a count that is not negative and not beyond reason.
func (n looseNumber) tokens() int64 { return int64(min(max(n, 0), 1<<40)) }

// chatArguments is the arguments of a call, or a piece of them: JSON text in a string, or the JSON itself.
type chatArguments struct {
	text  string
	whole bool // it was the JSON itself
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (a *chatArguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	kind := dec.PeekKind()
	var s looseString
	err := s.UnmarshalJSONFrom(dec)
	a.text = string(s)
	a.whole = s != "" && kind != jsontext.KindString
	return err
}

// chatContent is the content of an answer: a string, or a list of parts, of which those of thinking count as such.
type chatContent struct {
	text  string
	parts []chatContentPart
}

type chatContentPart struct {
	Type     looseString         `json:"type"`
	Text     looseString         `json:"text"`
	Refusal  looseString         `json:"refusal"`
	Thinking chatThinkingContent `json:"thinking"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *chatContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case jsontext.KindBeginArray:
		return json.UnmarshalDecode(dec, &c.parts)
	case jsontext.KindString:
		tok, err := dec.ReadToken()
		if err == nil {
			c.text = tok.String()
		}
		return err
	default:
		return dec.SkipValue()
	}
}

// chatThinkingContent is the thinking in a part of the content: a string, or a list of texts.
type chatThinkingContent string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *chatThinkingContent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginArray {
		var s looseString
		err := s.UnmarshalJSONFrom(dec)
		*t = chatThinkingContent(s)
		return err
	}
	var list []struct {
		Text looseString `json:"text"`
	}
	if err := json.UnmarshalDecode(dec, &list); err != nil {
		return err
	}
	var b strings.Builder
	for _, one := range list {
		b.WriteString(string(one.Text))
	}
	*t = chatThinkingContent(b.String())
	return nil
}

// there reports whether a value is one, and not null.
func there(v jsontext.Value) bool { return len(v) > 0 && !bytes.Equal(v, []byte("null")) }
