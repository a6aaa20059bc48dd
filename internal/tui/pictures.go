package tui

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/picture"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session/index"
)

// pictures are the pictures that the terminal has. One comes when its message is first on the screen.
type pictures struct {
	known  map[string]*picture.Picture // by the hash of its bytes; nil: it comes, or it cannot be drawn
	wanted []wanted
	count  uint32
}

type wanted struct {
	key   string
	image llm.Image
}

// lines returns the cells of an image. If the terminal does not have the image yet, lines asks for it and returns nil.
func (p *pictures) lines(image llm.Image, width int, program *tea.Program) []string {
	key := image.Blob
	if key == "" {
		key = fmt.Sprintf("%x", sha256.Sum256(image.Data))
	}
	known, asked := p.known[key]
	if known != nil {
		return known.Lines(width)
	}
	if !asked {
		if p.known == nil {
			p.known = make(map[string]*picture.Picture)
		}
		p.known[key] = nil
		p.wanted = append(p.wanted, wanted{key, image})
		if program != nil {
			go program.Send(nothing()) // Update asks the host for it
		}
	}
	return nil
}

// load gives the wanted pictures to the terminal. A picture that cannot be drawn keeps its description.
func (p *pictures) load(ctx context.Context, host Host) tea.Cmd {
	var cmds []tea.Cmd
	for _, w := range p.wanted {
		p.count++
		id := uint32(os.Getpid())<<10 + p.count // not that of another program in this terminal
		cmds = append(cmds, func() tea.Msg {
			data, err := w.image.Data, error(nil)
			if len(data) == 0 {
				err = host.Store(func(s index.Store) (err error) {
					data, err = s.Blob(ctx, w.image.Blob)
					return err
				})
			}
			if err != nil {
				return nil
			}
			drawn, err := picture.New(id, data)
			if err != nil {
				return nil
			}
			return then(func(a *app) tea.Cmd {
				a.pictures.known[w.key] = drawn
				a.redraw()
				return tea.Raw(drawn.Transmit())
			})
		})
	}
	p.wanted = nil
	return tea.Batch(cmds...)
}
