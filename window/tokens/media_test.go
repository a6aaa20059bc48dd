package tokens_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

func picture(t testing.TB, format string, w, h int) llm.Image {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	case "webp": // the header of the lossless form: 14 bits of each side less one
		b.WriteString("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f")
		err = binary.Write(&b, binary.LittleEndian, uint32(w-1)|uint32(h-1)<<14)
		b.WriteByte(0) // an even length
	}
	if err != nil {
		t.Fatal(err)
	}
	return llm.Image{MIME: "image/" + format, Data: b.Bytes()}
}

// The numbers come from the examples of the providers, if there are any.
func TestImage(t *testing.T) {
	for _, tt := range []struct {
		family tokens.Family
		w, h   int
		want   int
	}{
		{tokens.Anthropic, 200, 200, 54},
		{tokens.Anthropic, 1000, 1000, 1334},
		{tokens.Anthropic, 1092, 1092, 1590},
		{tokens.Anthropic, 4000, 3000, 1600},
		{tokens.Anthropic, 1568, 1, 3},
		{tokens.OpenAI, 1024, 1024, 765},
		{tokens.OpenAI, 2048, 4096, 1105},
		{tokens.OpenAI, 100, 100, 255},
		{tokens.Gemini, 384, 384, 258},
		{tokens.Gemini, 960, 540, 258 * 6},
		{tokens.Gemini, 1, 4000, 258 * 16},
		{tokens.Unknown, 1000, 1000, 1334},
	} {
		if got := tt.family.Image(picture(t, "png", tt.w, tt.h)); got != tt.want {
			t.Errorf("%s: %d by %d pixels cost %d tokens, want %d", tt.family, tt.w, tt.h, got, tt.want)
		}
	}
}

func TestImageFormats(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif", "webp"} {
		if got := tokens.Anthropic.Image(picture(t, format, 300, 250)); got != 100 {
			t.Errorf("%s: %d tokens, want 100", format, got)
		}
	}
	for _, data := range []string{"", "GIF8", "RIFF....WEBP", "\xff\xd8\xff", "\x89PNG", "BM bitmap"} {
		if got := tokens.Anthropic.Image(llm.Image{Data: []byte(data)}); got != 1600 {
			t.Errorf("%q: %d tokens, want 1600", data, got)
		}
	}
}

func TestDocument(t *testing.T) {
	const page = 2250
	objects := "%PDF-1.7 <</Type /Pages /Count 3>> <</Type /Page /Parent 1>> <</Type/Page>> <</Type\n/Page >>"
	for _, tt := range []struct {
		name, data string
		pages      int
	}{
		{"pages", objects, 3},
		{"only the number of pages", "%PDF-1.7 <</Type /Pages /Count 12 >> <</Count 4>>", 12},
		{"compressed", "%PDF-1.7" + strings.Repeat("x", 500<<10), 11},
		{"no data", "", 1},
		{"truncated", "%PDF <</Count ", 1},
	} {
		doc := llm.Document{MIME: "application/pdf", Data: []byte(tt.data)}
		if got := tokens.Anthropic.Document(doc); got != tt.pages*page {
			t.Errorf("%s: %d tokens, want %d pages of %d", tt.name, got, tt.pages, page)
		}
		if got := tokens.Gemini.Document(doc); got != tt.pages*258 {
			t.Errorf("%s: %d tokens for Gemini, want %d pages of 258", tt.name, got, tt.pages)
		}
	}
}

func FuzzMedia(f *testing.F) {
	for _, format := range []string{"png", "jpeg", "gif", "webp"} {
		f.Add(picture(f, format, 3, 2).Data)
	}
	f.Add([]byte("%PDF /Type /Page /Count 9999999999"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, family := range []tokens.Family{tokens.Unknown, tokens.OpenAI, tokens.Gemini} {
			if n := family.Image(llm.Image{Data: data}); n <= 0 || n > 1<<16 {
				t.Errorf("%s: an image costs %d tokens", family, n)
			}
			if n := family.Document(llm.Document{Data: data}); n <= 0 {
				t.Errorf("%s: a document costs %d tokens", family, n)
			}
		}
	})
}
