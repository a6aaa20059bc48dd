package llmtest

import (
	"bytes"
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

// cloneRequest copies a request with everything that could be changed through it.
func cloneRequest(r *llm.Request) *llm.Request {
	out := *r
	out.Schema = bytes.Clone(r.Schema)
	if r.Temperature != nil {
		out.Temperature = new(*r.Temperature)
	}
	out.Tools = slices.Clone(r.Tools)
	for i := range out.Tools {
		out.Tools[i].Schema = bytes.Clone(out.Tools[i].Schema)
	}
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages {
		out.Messages[i].Content = cloneContent(out.Messages[i].Content)
	}
	return &out
}

func cloneContent(c llm.Content) llm.Content {
	out := slices.Clone(c)
	for i, p := range out {
		switch p := p.(type) {
		case llm.Text:
			if p.Opaque != nil {
				p.Opaque = bytes.Clone(p.Opaque)
				out[i] = p
			}
		case llm.Thinking:
			p.Opaque = bytes.Clone(p.Opaque)
			out[i] = p
		case llm.ToolCall:
			p.Opaque = bytes.Clone(p.Opaque)
			out[i] = p
		case llm.Image:
			p.Data = bytes.Clone(p.Data)
			out[i] = p
		case llm.Document:
			p.Data = bytes.Clone(p.Data)
			out[i] = p
		case llm.UnknownPart:
			p.JSON = bytes.Clone(p.JSON)
			out[i] = p
		}
	}
	return out
}
