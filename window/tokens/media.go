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

// largeImage is the cost of an image of unknown size, whose bytes are elsewhere or of another format: the most that Anthropic counts
// for one.
const largeImage = 1600

// Image estimates the tokens of an image. It reads the size in pixels from the header of a PNG, JPEG, GIF or WebP.
//
//   - Anthropic, and all others: a token for 750 pixels, once the image fits 1568 by 1568 pixels, at most 1600
//     (docs.claude.com, "Vision", image costs).
//   - OpenAI: 85 tokens, and 170 for each tile of 512 by 512 pixels, once the image fits 2048 by 2048 and its shorter side
//     has 768 (platform.openai.com, "Images and vision", calculating costs; small models count more).
//   - Gemini: 258 tokens if both sides have at most 384 pixels, otherwise 258 for each tile, whose side is two thirds of the
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

// mostTiles limits the tiles of an image that is much longer than wide: providers shrink it.
const mostTiles = 64

// shrink returns the size of an image once it fits a square, with its proportions.
func shrink(w, h, side float64) (float64, float64) {
	if long := max(w, h); long > side {
		return w * side / long, h * side / long
	}
	return w, h
}

func tiles(w, h, side float64) int { return int(math.Ceil(w/side) * math.Ceil(h/side)) }

// size reads the size of an image; it is 0 for an unknown format.
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

// The cost of a page of a PDF, in tokens.
const (
	pageBytes   = 50 << 10 // bytes of a page, if the pages cannot be counted
	pageImage   = 258      // Gemini reads each page as one image (ai.google.dev, "Document understanding")
	pageContent = 2250     // Anthropic and others: 1500 to 3000 for the text (docs.claude.com, "PDF support")
)

// Document estimates the tokens of a document: of its text, or of its pages. It counts the pages in the bytes of a PDF; if they are
// compressed, it estimates them from the length.
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

// pages counts the pages of a PDF, at least one: the objects of this type, or the largest number in a list of pages.
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
		for digits < min(len(after), 5) && after[digits]-'0' < 10 {
			digits++
		}
		if count, err := strconv.Atoi(string(after[:digits])); err == nil {
			n = max(n, count)
		}
	}
	return max(n, 1+len(data)/pageBytes)
}
