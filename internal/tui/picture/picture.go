// Package picture draws pictures in terminals that speak the graphics protocol of Kitty, which Ghostty speaks, too. The terminal gets a picture
// once, as PNG. After that, cells with a character of the private area stand for its parts, so a picture scrolls and is cut like text.
// https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders describes it.
package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"  // formats of image.Decode
	_ "image/jpeg" //
	"image/png"
	"math"
	"strings"

	_ "golang.org/x/image/webp" //
)

// The bounds of a picture on the screen and in memory.
const (
	maxColumns = 60
	maxRows    = 20
	maxPixels  = 16 << 20
	maxBytes   = 8 << 20
	cell       = 10 // pixels that a column is wide; a row is two columns high
	chunk      = 4096
)

// Supported reports whether a terminal with this environment draws pictures. Inside of tmux or screen it does not.
func Supported(getenv func(string) string) bool {
	if getenv("TMUX") != "" || getenv("STY") != "" {
		return false
	}
	term := getenv("TERM")
	return getenv("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty") || strings.Contains(term, "ghostty") || getenv("TERM_PROGRAM") == "ghostty"
}

// Picture is a picture that the terminal can have. It is not changed after New.
type Picture struct {
	id            uint32
	columns, rows int
	png           []byte
}

// New decodes a picture. The ID distinguishes it from the other pictures on the screen; it has at most 24 bits. New can take a while.
func New(id uint32, data []byte) (*Picture, error) {
	shape, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot draw the picture: %w", err)
	}
	if shape.Width < 1 || shape.Height < 1 || shape.Width > maxPixels/shape.Height || len(data) > maxBytes {
		return nil, fmt.Errorf("cannot draw the picture: %dx%d, %d bytes are too large", shape.Width, shape.Height, len(data))
	}
	if format != "png" {
		decoded, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("cannot draw the picture: %w", err)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, decoded); err != nil {
			return nil, fmt.Errorf("cannot draw the picture: %w", err)
		}
		data = b.Bytes()
	}
	p := &Picture{id: id & 0xffffff, png: data}
	p.columns = min(max(shape.Width/cell, 1), maxColumns)
	ratio := float64(shape.Height) / float64(shape.Width) / 2
	if p.rows = int(math.Ceil(float64(p.columns) * ratio)); p.rows > maxRows {
		p.rows = maxRows
		p.columns = max(int(maxRows/ratio), 1)
	}
	p.rows = max(p.rows, 1)
	return p, nil
}

// Transmit returns the sequences that give the picture to the terminal. The terminal answers nothing.
func (p *Picture) Transmit() string {
	var b strings.Builder
	text := base64.StdEncoding.EncodeToString(p.png)
	for first := true; text != "" || first; first = false {
		n := min(chunk, len(text))
		more := 0
		if n < len(text) {
			more = 1
		}
		b.WriteString("\x1b_G")
		if first {
			fmt.Fprintf(&b, "a=T,U=1,q=2,f=100,i=%d,c=%d,r=%d,", p.id, p.columns, p.rows)
		}
		fmt.Fprintf(&b, "m=%d;%s\x1b\\", more, text[:n])
		text = text[n:]
	}
	return b.String()
}

// rowMarks are the combining characters that number rows, from the protocol's list rowcolumn-diacritics.txt.
var rowMarks = [maxRows]rune{
	0x0305, 0x030D, 0x030E, 0x0310, 0x0312, 0x033D, 0x033E, 0x033F, 0x0346, 0x034A,
	0x034B, 0x034C, 0x0350, 0x0351, 0x0352, 0x0357, 0x035B, 0x0363, 0x0364, 0x0365,
}

// placeholder stands for a part of a picture.
const placeholder = '\U0010EEEE'

// Lines returns the cells of the picture. If it is wider than width, they are nil.
func (p *Picture) Lines(width int) []string {
	if p.columns > width {
		return nil
	}
	lines := make([]string, p.rows)
	for row := range lines {
		var b strings.Builder
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm", p.id>>16&255, p.id>>8&255, p.id&255)
		for column := range p.columns {
			b.WriteRune(placeholder)
			b.WriteRune(rowMarks[row])
			if column == 0 { // the cells after it count on
				b.WriteRune(rowMarks[0])
			}
		}
		b.WriteString("\x1b[0m")
		lines[row] = b.String()
	}
	return lines
}
