package tokens

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/webp"

	"github.com/tenon-agent/tenon/llm"
)

// largeImage is what an image costs whose size cannot be told, because its bytes are elsewhere or of another format: as much as
// Anthropic takes at most for one.
const largeImage = 1600

// Image returns about how many tokens an image costs. Its size in pixels is read from the header of a PNG, JPEG, GIF or WebP.
//
//   - Anthropic, and whoever is not named here: a token for 750 pixels, after the image was made to fit 1568 by 1568 pixels, at most 1600
//     (docs.claude.com, "Vision", image costs).
//   - OpenAI: 85 tokens, and 170 for each tile of 512 by 512 pixels, after the image was made to fit 2048 by 2048 and its
//     shorter side 768 (platform.openai.com, "Images and vision", calculating costs; small models count more).
//   - Gemini: 258 tokens when both sides have at most 384 pixels, else 258 for each tile, whose side is two thirds of the
//     image's shorter side, 256 to 768 pixels (ai.google.dev, "Understand and count tokens" and "Image understanding").
func (f Family) Image(p llm.Image) int {
	w, h := size(p.Data)
	if w <= 0 || h <= 0 {
		return largeImage
	}
	switch f {
	case OpenAI:
		w, h = shrink(w, h, 2048)
		if short := min(w, h); short > 768 {
			w, h = w*768/short, h*768/short
		}
		return 85 + 170*tiles(w, h, 512)
	case Gemini:
		if w <= 384 && h <= 384 {
			return 258
		}
		side := min(max(math.Floor(min(w, h)/1.5), 256), 768)
		return 258 * min(tiles(w, h, side), mostTiles)
	default:
		w, h = shrink(w, h, 1568)
		return min(int(math.Ceil(w*h/750)), largeImage)
	}
}

// mostTiles bounds the tiles of an image that is much longer than wide, which providers shrink.
const mostTiles = 64

// shrink returns the size of an image that was made to fit a square, without a change of its shape.
func shrink(w, h, side float64) (float64, float64) {
	if long := max(w, h); long > side {
		return w * side / long, h * side / long
	}
	return w, h
}

func tiles(w, h, side float64) int { return int(math.Ceil(w/side) * math.Ceil(h/side)) }

// size reads the size of an image; 0 when it is of no known format.
func size(data []byte) (w, h float64) {
	read := png.DecodeConfig
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8")):
		read = jpeg.DecodeConfig
	case bytes.HasPrefix(data, []byte("GIF8")):
		read = gif.DecodeConfig
	case bytes.HasPrefix(data, []byte("RIFF")):
		read = webp.DecodeConfig
	}
	c, err := read(bytes.NewReader(data))
	if err != nil {
		c = image.Config{}
	}
	return float64(c.Width), float64(c.Height)
}

// What a page of a PDF costs, in tokens.
const (
	pageBytes   = 50 << 10 // bytes of a page, where the pages cannot be counted
	pageImage   = 258      // Gemini reads each page as one image (ai.google.dev, "Document understanding")
	pageContent = 2250     // Anthropic: 1500 to 3000 for the text, which others read from it too (docs.claude.com, "PDF support")
)

// Document returns about how many tokens a document costs: by its text when it is text, else by its pages. Those of a PDF are
// counted in its bytes; where they are packed, its length must tell.
func (f Family) Document(p llm.Document) int {
	if strings.HasPrefix(p.MIME, "text/") {
		return Text(string(p.Data))
	}
	page := pageContent
	if f == Gemini {
		page = pageImage
	}
	return page * pages(p.Data)
}

// pages counts the pages of a PDF, at least one: the objects that say that they are one, or the largest number of pages that a
// list of them says to have.
func pages(data []byte) int {
	n := 0
	for rest := data; ; {
		_, after, found := bytes.Cut(rest, []byte("/Type"))
		if !found {
			break
		}
		rest = after
		if name, ok := bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte("/Page")); ok && !bytes.HasPrefix(name, []byte("s")) {
			n++
		}
	}
	if n > 0 {
		return n
	}
	for rest := data; ; {
		_, after, found := bytes.Cut(rest, []byte("/Count "))
		if !found {
			break
		}
		rest = after
		digits := 0
		for digits < min(len(after), 5) && isDigit(after[digits]) {
			digits++
		}
		if count, err := strconv.Atoi(string(after[:digits])); err == nil {
			n = max(n, count)
		}
	}
	return max(n, 1+len(data)/pageBytes)
}
