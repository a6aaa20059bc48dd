package chain

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// lightness records the parts left out of a request after a server had refused it. A conversation must not be stuck on one picture or
// on thinking that a server no longer accepts as its own.
type lightness struct {
	thinking, media bool
}

// drop returns the request without what err complains about, or nil when that is nothing that can be left out, or was already.
func (l *lightness) drop(req *llm.Request, err *llm.Error) *llm.Request {
	text := strings.ToLower(err.Message)
	switch {
	case !l.thinking && mentions(text, "thinking", "signature", "reasoning", "encrypted", "thought"):
		l.thinking = true
		return without(req, withoutThinking)
	case !l.media && mentions(text, "image", "media", "document", "pdf", "file", "base64"):
		l.media = true
		return without(req, withoutMedia)
	default:
		return nil
	}
}

// media are the hashes of images and documents that a server refused (true) or accepted (false). The chain's lock guards it.
type media map[uint64]bool

// note remembers which images and documents a server has refused, or has accepted before.
func (m media) note(seed maphash.Seed, req *llm.Request, refused bool) {
	for _, message := range req.Messages {
		for _, p := range message.Content {
			if hash, ok := hashOf(seed, p); ok {
				if _, known := m[hash]; !known {
					m[hash] = refused
				}
			}
		}
	}
}

// without returns the request without what the server has refused.
func (m media) without(seed maphash.Seed, req *llm.Request) *llm.Request {
	lighter := without(req, func(p llm.Part) (llm.Part, bool) {
		if hash, ok := hashOf(seed, p); ok && m[hash] {
			return withoutMedia(p)
		}
		return p, true
	})
	return cmp.Or(lighter, req)
}

func hashOf(seed maphash.Seed, p llm.Part) (uint64, bool) {
	switch p := p.(type) {
	case llm.Image:
		return maphash.Bytes(seed, p.Data), true
	case llm.Document:
		return maphash.Bytes(seed, p.Data), true
	}
	return 0, false
}

func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// without returns the request with every part changed as keep says, or nil when that changes nothing.
func without(req *llm.Request, keep func(llm.Part) (llm.Part, bool)) *llm.Request {
	changed := false
	out := *req
	out.Messages = slices.Clone(req.Messages)
	for i, m := range out.Messages {
		var content llm.Content
		for _, p := range m.Content {
			kept, same := keep(p)
			changed = changed || !same
			if kept != nil {
				content = append(content, kept)
			}
		}
		out.Messages[i].Content = content
	}
	if !changed {
		return nil
	}
	return &out
}

func withoutThinking(p llm.Part) (_ llm.Part, same bool) {
	switch p := p.(type) {
	case llm.Thinking:
		return nil, false
	case llm.Text:
		same = p.Opaque == nil
		p.Opaque = nil
		return p, same
	case llm.ToolCall:
		same = p.Opaque == nil
		p.Opaque = nil
		return p, same
	default:
		return p, true
	}
}

func withoutMedia(p llm.Part) (_ llm.Part, same bool) {
	switch p.(type) {
	case llm.Image:
		return llm.Text{Text: "[image left out: the model's server refused it]"}, false
	case llm.Document:
		return llm.Text{Text: "[document left out: the model's server refused it]"}, false
	default:
		return p, true
	}
}
