package picture_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/picture"
)

func drawn(t testing.TB, width, height int, asJPEG bool) []byte {
	t.Helper()
	var b bytes.Buffer
	m := image.NewGray(image.Rect(0, 0, width, height))
	err := png.Encode(&b, m)
	if asJPEG {
		b.Reset()
		err = jpeg.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The cells have the shape of the picture, and the terminal gets a PNG with these numbers of columns and rows.
func TestAPictureIsCells(t *testing.T) {
	for _, c := range []struct{ width, height, columns, rows int }{{400, 200, 40, 10}, {4000, 1000, 60, 8}, {100, 4000, 1, 20}, {3, 3, 1, 1}} {
		for _, asJPEG := range []bool{false, true} {
			p, err := picture.New(0x010203, drawn(t, c.width, c.height, asJPEG))
			if err != nil {
				t.Fatal(err)
			}
			lines := p.Lines(60)
			if len(lines) != c.rows || ansi.StringWidth(lines[0]) != c.columns {
				t.Errorf("%dx%d has %d rows of %d cells, want %d of %d", c.width, c.height, len(lines), ansi.StringWidth(lines[0]), c.rows, c.columns)
			}
			if !strings.HasPrefix(lines[0], "\x1b[38;2;1;2;3m") {
				t.Errorf("%q", lines[0])
			}
			if p.Lines(c.columns-1) != nil {
				t.Error("a picture is wider than its place")
			}
			var data strings.Builder
			for i, part := range strings.Split(strings.TrimSuffix(p.Transmit(), "\x1b\\"), "\x1b\\") {
				head, body, _ := strings.Cut(strings.TrimPrefix(part, "\x1b_G"), ";")
				if first := strings.HasPrefix(head, "a=T,U=1,q=2,f=100,i=66051,"); first != (i == 0) || len(body) > 4096 {
					t.Errorf("%q and %d bytes", head, len(body))
				}
				data.WriteString(body)
			}
			raw, err := base64.StdEncoding.DecodeString(data.String())
			if err != nil {
				t.Fatal(err)
			}
			if m, err := png.Decode(bytes.NewReader(raw)); err != nil || m.Bounds().Dx() != c.width {
				t.Errorf("the terminal gets %v, %v", m, err)
			}
		}
	}
}

func TestSupported(t *testing.T) {
	for env, want := range map[string]bool{
		"TERM=xterm-kitty": true, "KITTY_WINDOW_ID=1": true, "TERM_PROGRAM=ghostty": true, "TERM=xterm-256color": false, "": false,
		"TERM=xterm-kitty TMUX=x": false,
	} {
		get := func(name string) string {
			for _, e := range strings.Fields(env) {
				if v, ok := strings.CutPrefix(e, name+"="); ok {
					return v
				}
			}
			return ""
		}
		if picture.Supported(get) != want {
			t.Errorf("%s: %v", env, !want)
		}
	}
}

// Foreign bytes are a picture or an error.
func FuzzNew(f *testing.F) {
	f.Add(drawn(f, 20, 20, false))
	f.Add(drawn(f, 20, 20, true))
	f.Add([]byte("GIF89a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := picture.New(7, data)
		if err != nil {
			return
		}
		for _, line := range p.Lines(60) {
			if ansi.StringWidth(line) > 60 {
				t.Errorf("%q is too wide", line)
			}
		}
	})
}
