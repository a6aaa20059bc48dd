package tui

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// The terminal gets a picture once, when its message is on the screen. Cells of the picture follow its description. If the
// bytes are no picture, there is only the description.
func TestPictures(t *testing.T) {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 100, 40))); err != nil {
		t.Fatal(err)
	}
	s := play(t, &theater{client: llmtest.New(t, "text A gray one.")}, 80, 24)
	s.app.cards.Picture = func(image llm.Image, width int) []string { return s.app.pictures.lines(image, width, nil) }
	s.shows("test/script")
	m := llm.UserText("what is this")
	m.Content = append(m.Content, llm.Image{MIME: "image/png", Data: data.Bytes()}, llm.Image{MIME: "image/png", Data: []byte("no picture")})
	s.run(operation(s.app, "", func(ctx context.Context) error {
		_, err := s.app.pane.conversation().Prompt(ctx, conversation.Prompt{Message: m})
		return err
	}))
	s.shows("A gray one.")
	s.shows("[image: png, 100x40")
	s.until("the picture", func(screen string) bool {
		if !strings.ContainsRune(screen, '\U0010EEEE') {
			s.send(nothing()) // Bubble Tea gets it from the drawing
			return false
		}
		return true
	})
	if n := strings.Count(s.screen(), "\U0010EEEE"); n != 10*2 {
		t.Errorf("the picture has %d cells, want 10x2:\n%s", n, s.screen())
	}
	s.gets("RawMsg")
	sent := 0
	for _, text := range s.sent {
		sent += strings.Count(text, "_Ga=T")
	}
	if sent != 1 {
		t.Errorf("the terminal got the picture %d times: %q", sent, s.sent)
	}
}
