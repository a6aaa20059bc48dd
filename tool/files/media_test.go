package files_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool/files"
)

// look reads a file and returns all of the result.
func (p *project) look(arguments string) (llm.Content, files.Shown) {
	p.Helper()
	call, err := p.tools["read"].Prepare(p.Context(), arguments)
	if err != nil {
		p.Fatal(err)
	}
	result, err := call.Run(p.Context(), nil)
	if err != nil {
		p.Fatal(err)
	}
	return result.Content, result.Details.(files.Shown)
}

// picture is one of noise, which does not compress, or of one colour.
func picture(w, h int, noise bool) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		if noise {
			m.Pix[i] = byte(r.Uint32())
		}
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func pngOf(t testing.TB, m image.Image) string {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t testing.TB, m image.Image) string {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gifOf(t testing.TB) string {
	var b bytes.Buffer
	m := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	if err := gif.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// webp is a picture of one pixel.
const webp = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

func TestReadImages(t *testing.T) {
	tiny, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, content string
		told          string
		mime          string
		same          bool
		w, h          int
	}{
		{"png", pngOf(t, picture(20, 10, true)), "[image, image/png, 20x10 pixels, %d bytes]", "image/png", true, 20, 10},
		{"jpeg", jpegOf(t, picture(20, 10, true)), "[image, image/jpeg, 20x10 pixels, %d bytes]", "image/jpeg", true, 20, 10},
		{"gif", gifOf(t), "[image, image/gif, 3x2 pixels, %d bytes]", "image/gif", true, 3, 2},
		{"webp", string(tiny), "[image, image/webp, 1x1 pixels, %d bytes]", "image/webp", true, 1, 1},
		{"a wide png", pngOf(t, picture(3136, 40, false)), "[image, image/png, 3136x40 pixels, %d bytes; scaled down to 1568x20]", "image/png", false, 1568, 20},
		{"a line", pngOf(t, picture(5000, 1, false)), "[image, image/png, 5000x1 pixels, %d bytes; scaled down to 1568x1]", "image/png", false, 1568, 1},
		{"a high jpeg", jpegOf(t, picture(40, 3136, false)), "[image, image/jpeg, 40x3136 pixels, %d bytes; scaled down to 20x1568]", "image/jpeg", false, 20, 1568},
		{"a heavy png", pngOf(t, picture(1100, 1100, true)), "[image, image/png, 1100x1100 pixels, %d bytes; scaled down to 1100x1100]", "image/jpeg", false, 1100, 1100},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.content})
			content, shown := p.look(`{"path":"f"}`)
			if want := fmt.Sprintf(test.told, len(test.content)); content.Text() != want {
				t.Errorf("got %q, want %q", content.Text(), want)
			}
			if len(content) != 2 || !shown.Whole || shown.Bytes != int64(len(test.content)) {
				t.Fatalf("%d parts, %+v", len(content), shown)
			}
			got := content[1].(llm.Image)
			if got.MIME != test.mime || test.same != (string(got.Data) == test.content) || len(got.Data) > 3_500_000 {
				t.Errorf("%s, %d bytes", got.MIME, len(got.Data))
			}
			if config, _, err := image.DecodeConfig(bytes.NewReader(got.Data)); test.name != "webp" && (err != nil || config.Width != test.w || config.Height != test.h) {
				t.Errorf("%+v, %v", config, err)
			}
		})
	}
}

// bomb is a PNG that says it is large.
func bomb(w, h uint32) string {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	b.Write(binary.BigEndian.AppendUint32(nil, 13))
	b.Write(chunk)
	b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk)))
	return b.String()
}

// An image that cannot be decoded does not go to a model: a provider would refuse the whole conversation.
func TestReadImagesThatAreNotShown(t *testing.T) {
	whole := pngOf(t, picture(100, 100, true))
	for name, test := range map[string]struct{ content, want string }{
		"a decompression bomb": {bomb(60_000, 60_000), "limit of 20 million"},
		"beyond any number":    {bomb(0x7fffffff, 0x7fffffff), "not shown"},
		"without pixels":       {bomb(0, 1), "not shown"},
		"cut off":              {whole[:len(whole)/2], "not enough pixel data"},
		"damaged jpeg":         {"\xff\xd8\xff\xe0" + strings.Repeat("x", 100), "not shown"},
		"damaged webp":         {"RIFF\x10\x00\x00\x00WEBPVP8 xxxx", "not shown"},
		"damaged gif":          {"GIF89a\xff\xff\xff\xff", "not shown"},
	} {
		p := newProject(t, map[string]string{"f": test.content})
		content, _ := p.look(`{"path":"f"}`)
		if len(content) != 1 || !strings.HasPrefix(content.Text(), "[binary file, image/") || !strings.Contains(content.Text(), test.want) {
			t.Errorf("%s: %d parts, %q", name, len(content), content.Text())
		}
	}
	p := newProject(t, map[string]string{"icon.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"})
	if content, _ := p.look(`{"path":"icon.svg"}`); !strings.HasPrefix(content.Text(), "1\t<svg") {
		t.Errorf("SVG is shown as %q", content.Text())
	}
}

// pdfOf is a file of pages with a text each.
func pdfOf(pages ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", 4+2*i)
	}
	b.WriteString("]/Resources<</Font<</F 3 0 R>>>>>> endobj\n3 0 obj <</Type/Font/Subtype/Type1/Encoding/WinAnsiEncoding>> endobj\n")
	for i, text := range pages {
		content := "BT /F 12 Tf 50 700 Td (" + text + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj <</Type/Page/Parent 2 0 R/Contents %d 0 R>> endobj\n%d 0 obj <</Length %d>>\nstream\n%s\nendstream endobj\n",
			4+2*i, 5+2*i, 5+2*i, len(content), content)
	}
	b.WriteString("trailer <</Root 1 0 R>>\n%%EOF\n")
	return b.String()
}

func TestReadPDF(t *testing.T) {
	p := newProject(t, map[string]string{
		"f.pdf": pdfOf("One", "Two", "Three"), "scan.pdf": pdfOf("", ""), "locked.pdf": strings.Replace(pdfOf("x"), "/Root", "/Encrypt 9 0 R/Root", 1),
		"broken.pdf": "%PDF-1.7\n\x00\x01\x02", "long.pdf": pdfOf(strings.Repeat("word ", 20_000), "after"),
	})
	p.ok("read", `{"path":"f.pdf"}`, "[page 1]\nOne\n[page 2]\nTwo\n[page 3]\nThree\n[pages 1-3 of 3]")
	p.ok("read", `{"path":"f.pdf","offset":2,"limit":1}`, "[page 2]\nTwo\n[pages 2-2 of 3; continue with offset 3]")
	p.ok("read", `{"path":"f.pdf","offset":4}`, "[the file has 3 pages; page 4 is past its end]")
	p.ok("read", `{"path":"locked.pdf"}`, fmt.Sprintf("[binary file, application/pdf, %d bytes, not shown: the PDF is encrypted]", len(p.get("locked.pdf"))))
	p.ok("read", `{"path":"broken.pdf"}`, "[binary file, application/pdf, 12 bytes, not shown: the PDF has no readable pages]")
	content, _ := p.look(`{"path":"scan.pdf"}`)
	if document, ok := content[len(content)-1].(llm.Document); !ok || document.MIME != "application/pdf" || string(document.Data) != p.get("scan.pdf") ||
		content.Text() != "[PDF of 2 pages without text; the file itself follows]" {
		t.Errorf("%q, %d parts", content.Text(), len(content))
	}
	content, shown := p.look(`{"path":"long.pdf"}`)
	if len(content.Text()) > 52<<10 || shown.Last != 1 || !shown.Cut || shown.Whole {
		t.Errorf("%d bytes, %+v", len(content.Text()), shown)
	}
	ctx, cancel := context.WithCancel(t.Context())
	call, err := p.tools["read"].Prepare(ctx, `{"path":"f.pdf"}`)
	cancel()
	if err == nil {
		_, err = call.Run(ctx, nil)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A line of 2 MB is shown in part, edited, and known to be shown in part.
func TestLongLines(t *testing.T) {
	line := strings.Repeat("0123456789", 1<<18)
	p := newProject(t, map[string]string{"f": "first\n" + line + "\nlast\n"})
	content, shown := p.look(`{"path":"f"}`)
	if text := content.Text(); len(text) > 3000 || !strings.Contains(text, "more bytes]") || !shown.Cut || shown.Whole {
		t.Errorf("%d bytes, %+v", len(text), shown)
	}
	_, result, err := p.call("edit", `{"path":"f","old_text":"last","new_text":"end"}`)
	if err != nil || p.get("f") != "first\n"+line+"\nend\n" {
		t.Error(err)
	}
	if text := result.Diffs[0].Text; len(text) > 64<<10 {
		t.Errorf("%d bytes of difference", len(text))
	}
	p.ok("patch", patchArguments(t, envelope("*** Update File: f\n-end\n+last\n")), "edited f: 3 lines added, 3 removed")
	_, _, err = p.call("edit", `{"path":"f","old_text":"0123456789abc","new_text":"x"}`)
	if err == nil || len(err.Error()) > 2000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	if _, err := os.Stat(filepath.Join(p.dir, "f")); err != nil {
		t.Error(err)
	}
}
