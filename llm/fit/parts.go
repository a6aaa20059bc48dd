package fit

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// parts returns the texts, images and documents of a message as they can be sent.
func (f *fitter) parts(c llm.Content, images, documents bool) llm.Content {
	var out llm.Content
	for _, p := range c {
		switch p := p.(type) {
		case llm.Text:
			if strings.TrimSpace(p.Text) != "" {
				p.Opaque = nil
				out = append(out, p)
			}
		case llm.Image:
			if !images {
				out = append(out, note(p, "this model cannot see images"))
				continue
			}
			seen, _ := f.image(p)
			out = append(out, seen)
		case llm.Document:
			out = append(out, f.document(p, documents))
		}
	}
	return out
}

// note replaces a part that cannot be sent.
func note(p llm.Part, why string) llm.Text {
	return llm.Text{Text: "[" + describe(p) + " left out: " + why + "]"}
}

func describe(p llm.Part) string {
	switch p := p.(type) {
	case llm.Document:
		if p.Name != "" {
			return "document " + p.Name
		}
		return "document"
	default:
		return "image"
	}
}

// image returns an image that can be sent, or a note in its place. The bytes decide the media type, not the declaration.
func (f *fitter) image(p llm.Image) (_ llm.Part, ok bool) {
	types := f.rules.ImageTypes
	if types == nil {
		types = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	}
	switch found := http.DetectContentType(p.Data); {
	case len(p.Data) == 0:
		return note(p, "its data is not at hand"), false
	case !slices.Contains(types, found):
		return note(p, "it is not of a kind that this model can see"), false
	case f.rules.MaxImage > 0 && len(p.Data) > f.rules.MaxImage:
		return note(p, "it is too large for this model"), false
	default:
		p.MIME = found
		return p, true
	}
}

// document returns a document that can be sent: a text as text, a PDF unchanged if the model reads PDF, otherwise a note.
func (f *fitter) document(p llm.Document, can bool) llm.Part {
	switch {
	case len(p.Data) == 0:
		return note(p, "its data is not at hand")
	case strings.HasPrefix(p.MIME, "text/") || p.MIME == "application/json":
		text := strings.ToValidUTF8(string(p.Data), "\ufffd")
		if strings.TrimSpace(text) == "" {
			return note(p, "it is empty")
		}
		return llm.Text{Text: "<document name=\"" + p.Name + "\">\n" + text + "\n</document>"}
	case !can:
		return note(p, "this model cannot read documents")
	case http.DetectContentType(p.Data) != "application/pdf":
		return note(p, "it is not a PDF")
	default:
		p.MIME = "application/pdf"
		return p
	}
}
