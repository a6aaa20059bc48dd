package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/tenon-agent/tenon/llm"
)

const (
	maxPixels  = 20_000_000 // of a picture that is decoded: at most about 240 MB for a moment
	maxEdge    = 1568       // pixels of a side that a model is given; providers scale down what is larger
	maxPicture = 3_500_000  // bytes that a model is given; in base64 below the least limit of the providers
)

// codec reads pictures of one kind.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func codecFor(kind string) (codec, bool) {
	switch kind {
	case "image/png":
		return codec{png.DecodeConfig, png.Decode}, true
	case "image/jpeg":
		return codec{jpeg.DecodeConfig, jpeg.Decode}, true
	case "image/gif":
		return codec{gif.DecodeConfig, gif.Decode}, true
	case "image/webp":
		return codec{webp.DecodeConfig, webp.Decode}, true
	}
	return codec{}, false
}

// lookAtImage gives a picture to the model: as it is when it is small enough, else scaled down. It is decoded in any case, for a
// provider refuses a whole conversation because of a broken one.
func (s *Set) lookAtImage(ctx context.Context, data []byte, kind string) (looked, error) {
	l := looked{shown: Shown{Whole: true}}
	unseen := func(err error) (looked, error) {
		l.content = textOf(fmt.Sprintf("[binary file, %s, %d bytes, not shown: %v]", kind, len(data), err))
		return l, nil
	}
	c, ok := codecFor(kind)
	if !ok {
		return unseen(errors.New("pictures of this kind are not decoded here"))
	}
	select {
	case s.heavy <- struct{}{}:
		defer func() { <-s.heavy }()
	case <-ctx.Done():
		return l, context.Cause(ctx)
	}
	config, err := c.config(bytes.NewReader(data))
	if err != nil {
		return unseen(err)
	}
	size := fmt.Sprintf("%dx%d pixels", config.Width, config.Height)
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return unseen(fmt.Errorf("%s are more than the %d million that are decoded; scale it down with a program", size, maxPixels/1_000_000))
	}
	picture, err := c.decode(bytes.NewReader(data))
	if err != nil {
		return unseen(err)
	}
	note := fmt.Sprintf("[image, %s, %s, %d bytes", kind, size, len(data))
	out := llm.Image{MIME: kind, Data: data}
	if max(config.Width, config.Height) > maxEdge || len(data) > maxPicture {
		if out, err = shrink(picture); err != nil {
			return unseen(err)
		}
		w, h := fit(config.Width, config.Height)
		note += fmt.Sprintf("; scaled down to %dx%d", w, h)
	}
	l.content = llm.Content{llm.Text{Text: note + "]"}, out}
	return l, nil
}

// shrink makes a picture small enough for a model: PNG, unless that takes too many bytes.
func shrink(picture image.Image) (llm.Image, error) {
	b := picture.Bounds()
	w, h := fit(b.Dx(), b.Dy())
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	xdraw.ApproxBiLinear.Scale(small, small.Bounds(), picture, b, draw.Src, nil)
	var out bytes.Buffer
	if _, lossy := picture.(*image.YCbCr); !lossy {
		if err := png.Encode(&out, small); err != nil || out.Len() <= maxPicture {
			return llm.Image{MIME: "image/png", Data: out.Bytes()}, err
		}
	}
	out.Reset()
	// JPEG has no transparency: what shines through is white.
	white := image.NewRGBA(small.Bounds())
	draw.Draw(white, white.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(white, white.Bounds(), small, image.Point{}, draw.Over)
	err := jpeg.Encode(&out, white, &jpeg.Options{Quality: 85})
	return llm.Image{MIME: "image/jpeg", Data: out.Bytes()}, err
}

// fit is the size of a picture that is scaled down to maxEdge.
func fit(w, h int) (int, int) {
	if longest := max(w, h); longest > maxEdge {
		return max(1, w*maxEdge/longest), max(1, h*maxEdge/longest)
	}
	return w, h
}
