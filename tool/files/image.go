package files

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif"
	"image/jpeg"
	"image/png"

	xdraw "golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"github.com/tenon-agent/tenon/llm"
)

const (
	maxPixels  = 20_000_000 // of an image: decoding takes about 240 MB
	maxEdge    = 1568       // pixels of a side for a model; providers scale down larger images
	maxPicture = 3_500_000  // bytes for a model; in base64 below the lowest limit of the providers
)

// lookAtImage gives an image to the model: unchanged if it is small enough, else scaled down. It decodes every image, because a
// provider refuses a whole conversation with a broken one.
func (r reader) lookAtImage(ctx context.Context, data []byte, kind string) (looked, error) {
	unseen := func(err error) (looked, error) { return notShown(kind, int64(len(data)), err), nil }
	release, err := r.take(ctx)
	if err != nil {
		return looked{}, err
	}
	defer release()
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return unseen(err)
	}
	size := fmt.Sprintf("%dx%d pixels", config.Width, config.Height)
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return unseen(fmt.Errorf("%s exceed the limit of %d million; scale it down with a program", size, maxPixels/1_000_000))
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
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
	return looked{content: llm.Content{llm.Text{Text: note + "]"}, out}, shown: Shown{Whole: true}}, nil
}

// shrink makes an image small enough for a model, as PNG unless that takes too many bytes.
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
	// JPEG has no transparency: the background becomes white.
	white := image.NewRGBA(small.Bounds())
	draw.Draw(white, white.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(white, white.Bounds(), small, image.Point{}, draw.Over)
	err := jpeg.Encode(&out, white, &jpeg.Options{Quality: 85})
	return llm.Image{MIME: "image/jpeg", Data: out.Bytes()}, err
}

// fit is the size of an image after scaling it down to maxEdge.
func fit(w, h int) (int, int) {
	if longest := max(w, h); longest > maxEdge {
		return max(1, w*maxEdge/longest), max(1, h*maxEdge/longest)
	}
	return w, h
}
