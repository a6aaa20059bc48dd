//go:build unix

package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/internal/testkit/console"
)

// inTerminal runs a command in a pseudo-terminal of this size, and returns the bytes that the terminal got.
func inTerminal(cmd *exec.Cmd, columns, rows int) (text string, err error) {
	err = watch(func(o *observer) {
		c := console.Start(o, cmd, console.Size{Width: columns, Height: rows}, console.Silent)
		c.Exit()
		text = c.Raw()
	})
	if err == nil && cmd.ProcessState.ExitCode() != 0 {
		err = &exec.ExitError{ProcessState: cmd.ProcessState}
	}
	return text, err
}

// observer is the [console.T] of a program that is no test.
type observer struct {
	ends   []func()
	failed error
}

func (o *observer) Helper()          {}
func (o *observer) Cleanup(f func()) { o.ends = append(o.ends, f) }

// Fatalf ends the work that [watch] began.
func (o *observer) Fatalf(format string, args ...any) {
	o.failed = fmt.Errorf(format, args...)
	panic(o)
}

// watch does work with consoles, and returns why it failed.
func watch(work func(*observer)) (err error) {
	o := &observer{}
	defer func() {
		if r := recover(); r != nil && r != o {
			panic(r)
		}
		for _, end := range o.ends {
			end()
		}
		err = o.failed
	}()
	work(o)
	return nil
}

// look is how a terminal shows colors.
type look struct {
	name    string
	answers console.Answers
	env     []string
	palette palette
}

var looks = []look{
	{"dark", console.Dark, nil, palettes["dark"]},
	{"light", console.Light, nil, palettes["light"]},
	{"plain", console.Dark, []string{"NO_COLOR=1"}, palettes["dark"]},
}

// terminalSizes are those at which people use terminals.
var terminalSizes = []console.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}}

// terminals takes pictures of the interactive terminal in its main states, at each size and in each look, or only in the first ones.
func terminals(ctx context.Context, work, bin string, images *photographer, all bool) error {
	for i, size := range terminalSizes {
		for j, l := range looks {
			if !all && i+j > 0 {
				continue
			}
			p, err := newPlace(ctx, filepath.Join(work, fmt.Sprintf("terminal-%d-%s", size.Width, l.name)), bin)
			if err != nil {
				return err
			}
			err = p.sitting(ctx, size, l, images)
			if err := errors.Join(err, p.close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// sitting is one session of a person: every state is a picture.
func (p *place) sitting(ctx context.Context, size console.Size, l look, images *photographer) (err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "tenon"), "--model", "anthropic/claude-sonnet-4-6")
	cmd.Dir, cmd.Env = p.project, append(append([]string{"COLORTERM=truecolor"}, p.env...), l.env...)
	failed := watch(func(o *observer) {
		c := console.Start(o, cmd, size, l.answers)
		shoot := func(state string, texts ...string) {
			name := fmt.Sprintf("terminal-%s-%dx%d-%s", state, size.Width, size.Height, l.name)
			err = errors.Join(err, images.screen(ctx, name, c.Until(texts...), l.palette))
		}
		dialog := func(state, title string, keys ...string) {
			c.Press(keys...)
			shoot(state, title, "esc close")
			c.Press("esc")
			c.Gone(title)
		}
		const empty = "Ask, or / for commands"
		shoot("start", empty, "~/greet")
		c.Send("/m")
		shoot("completion", "/model", "/mode")
		c.Press("esc", "ctrl+u")
		c.Send("fix the greeting and push it")
		c.Press("enter")
		for n := 1; n < 10; n++ { // each question until the end of the run
			s := c.Wait(func(s console.Screen) bool { return s.Has("y once") || s.Has("y allow") || s.Has("done ·") }, "a question or the end")
			if s.Has("done ·") {
				break
			}
			several := s.Has("y allow")
			hint := map[bool]string{false: "y once", true: "y allow"}[several]
			shoot(fmt.Sprintf("permission-%d", n), hint)
			switch {
			case several:
				c.Press("down", "down")
				c.Until("› Allow all")
				c.Press("enter")
			case s.Has("git push"):
				c.Press("n")
			default:
				c.Press("y")
			}
			c.Gone(hint)
		}
		shoot("answer", "done ·", empty)
		dialog("help", "─ Help ─", "f1")
		dialog("palette", "─ Commands ─", "ctrl+p")
		dialog("models", "─ Models ─", "ctrl+o")
		dialog("sessions", "─ Sessions ─", "ctrl+s")
		dialog("context", "─ Context window ─", "alt+c")
		dialog("rewind", "─ Rewind ─", "alt+r")
		c.Press("alt+e")
		c.Press("ctrl+t")
		shoot("unfolded", empty)
		c.Kill()
	})
	return errors.Join(failed, err)
}

// screen writes a screen of a terminal as a text and as pictures.
func (p *photographer) screen(ctx context.Context, name string, s console.Screen, colors palette) error {
	if err := p.write(name+".txt", s.String()); err != nil {
		return err
	}
	if err := p.write(name+".svg", drawn(s, colors)); err != nil {
		return err
	}
	width, height := int(float64(s.Width())*cellWidth)+2*margin, len(s.Lines)*cellHeight+2*margin
	return p.shoot(ctx, name, filepath.Join(p.out, name+".svg"), "light", width, height)
}

// drawn returns a screen as an SVG image, with its backgrounds and its cursor.
func drawn(s console.Screen, colors palette) string {
	var b strings.Builder
	width, height := float64(s.Width())*cellWidth+2*margin, len(s.Lines)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`, width, height, width, height)
	fmt.Fprintf(&b, "\n<style>text{font:14px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}</style>\n<rect fill=\"%s\" width=\"100%%\" height=\"100%%\" rx=\"8\"/>\n", colors.back)
	for y, l := range s.Lines {
		for x := 0; x < len(l); {
			end := x + 1
			for end < len(l) && (l[end].Tail || l[end].Style == l[x].Style && !wideAt(l, end) && !wideAt(l, x)) {
				end++
			}
			drawCells(&b, l[x:end], x, y, colors)
			x = end
		}
	}
	if !s.Modes.CursorHidden {
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" opacity=\".5\"/>\n",
			margin+float64(s.X)*cellWidth, margin+s.Y*cellHeight, cellWidth, cellHeight, colors.text)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// wideAt reports whether a wide character begins at a cell.
func wideAt(l console.Line, x int) bool { return x+1 < len(l) && l[x+1].Tail }

// drawCells draws cells of one style.
func drawCells(b *strings.Builder, cells console.Line, x, y int, colors palette) {
	style := cells[0].Style
	front, back := shade(style.Foreground, colors.text, colors), shade(style.Background, "", colors)
	if style.Reverse {
		front, back = shade(style.Background, colors.back, colors), shade(style.Foreground, colors.text, colors)
	}
	left, width := margin+float64(x)*cellWidth, float64(len(cells))*cellWidth
	if back != "" {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", left, margin+y*cellHeight, width, cellHeight, back)
	}
	text := ""
	for _, c := range cells {
		if c.Text == "" && !c.Tail {
			c.Text = " "
		}
		text += c.Text
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" fill=\"%s\"", left, margin+y*cellHeight+13, width, front)
	for _, a := range []struct {
		on   bool
		text string
	}{
		{style.Bold, ` font-weight="bold"`},
		{style.Dim, ` opacity=".65"`},
		{style.Italic, ` font-style="italic"`},
		{style.Underline, ` text-decoration="underline"`},
		{style.Strike, ` text-decoration="line-through"`},
	} {
		if a.on {
			b.WriteString(a.text)
		}
	}
	b.WriteString(">")
	_ = xml.EscapeText(b, []byte(text)) // to memory
	b.WriteString("</text>\n")
}

// shade returns a color for SVG; usual is that of a cell without a color.
func shade(c console.Color, usual string, colors palette) string {
	if c == "" || strings.HasPrefix(string(c), "#") {
		if c != "" {
			return string(c)
		}
		return usual
	}
	n, _ := strconv.Atoi(string(c))
	base := []string{"#000000", colors.red, colors.green, colors.yellow, colors.blue, colors.magenta, colors.cyan, "#c0c0c0"}
	switch {
	case n == 8:
		return "#808080"
	case n < 16:
		return base[n%8]
	case n < 232:
		part := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", part(n/36), part(n/6%6), part(n%6))
	default:
		v := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	}
}
