package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// palette has the colors of a common terminal.
type palette struct{ back, text, red, green, yellow, blue, magenta, cyan string }

var palettes = map[string]palette{
	"light": {"#ffffff", "#24292f", "#cf222e", "#116329", "#7d5700", "#0550ae", "#8250df", "#1b7c83"},
	"dark":  {"#1e1e1e", "#d4d4d4", "#f14c4c", "#23d18b", "#e5e510", "#3b8eea", "#d670d6", "#29b8db"},
}

func (p palette) css() string {
	return fmt.Sprintf(".back{fill:%s}text{fill:%s}.red{fill:%s}.green{fill:%s}.yellow{fill:%s}.blue{fill:%s}.magenta{fill:%s}.cyan{fill:%s}",
		p.back, p.text, p.red, p.green, p.yellow, p.blue, p.magenta, p.cyan)
}

const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 16
)

// picture returns lines as an SVG image.
func picture(lines []line, columns int, css string) string {
	var b strings.Builder
	width, height := float64(columns)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`, width, height, width, height)
	fmt.Fprintf(&b, "\n<style>text{font:14px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}"+
		".dim{opacity:.65}.bold{font-weight:bold}.italic{font-style:italic}.underline{text-decoration:underline}%s</style>\n", css)
	b.WriteString(`<rect class="back" width="100%" height="100%" rx="8"/>` + "\n")
	for i, l := range lines {
		for r := range l.runs {
			b.WriteString(`<text`)
			if class := r.class(); class != "" {
				fmt.Fprintf(&b, ` class="%s"`, class)
			}
			fmt.Fprintf(&b, ` x="%.1f" y="%d" textLength="%.1f">`, margin+float64(r.column)*cellWidth, margin+i*cellHeight+13, float64(r.width)*cellWidth)
			_ = xml.EscapeText(&b, []byte(r.text)) // to memory
			b.WriteString("</text>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (s style) class() string {
	var names []string
	for _, n := range []struct {
		name string
		on   bool
	}{{"dim", s.dim}, {"bold", s.bold}, {"italic", s.italic}, {"underline", s.underline}, {s.color, s.color != ""}} {
		if n.on {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " ")
}

// photographer writes texts and images to a directory.
type photographer struct {
	browser   string // a Chromium; without one there are no PNG files
	work, out string
	written   int
}

func (p *photographer) terminal(ctx context.Context, name string, lines []line, columns int) error {
	if err := p.write(name+".txt", plain(lines)); err != nil {
		return err
	}
	for shade, colors := range palettes {
		file := name + "-" + shade
		if err := p.write(file+".svg", picture(lines, columns, colors.css())); err != nil {
			return err
		}
		address := filepath.Join(p.out, file+".svg")
		if err := p.shoot(ctx, file, address, shade, int(float64(columns)*cellWidth)+2*margin, len(lines)*cellHeight+2*margin); err != nil {
			return err
		}
	}
	return nil
}

// page takes pictures of an HTML page as a phone and as a large screen show it.
func (p *photographer) page(ctx context.Context, name, file string) error {
	for _, width := range []int{400, 1280} {
		for shade := range palettes {
			if err := p.shoot(ctx, fmt.Sprintf("%s-%d-%s", name, width, shade), file, shade, width, 2400); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *photographer) write(name, text string) error {
	p.written++
	return os.WriteFile(filepath.Join(p.out, name), []byte(text), 0o644)
}

// shoot takes a picture of a file of this machine.
func (p *photographer) shoot(ctx context.Context, name, file, shade string, width, height int) error {
	if p.browser == "" {
		return nil
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	to, err := filepath.Abs(filepath.Join(p.out, name+".png"))
	if err != nil {
		return err
	}
	scheme := 1
	if shade == "dark" {
		scheme = 0
	}
	cmd := exec.CommandContext(ctx, p.browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+filepath.Join(p.work, "profile"),
		"--virtual-time-budget=2000", "--run-all-compositor-stages-before-draw", fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), fmt.Sprintf("--window-size=%d,%d", width, height),
		"--screenshot="+to, "file://"+filepath.ToSlash(absolute))
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.browser, err, text)
	}
	if _, err := os.Stat(to); err != nil {
		return errors.Join(errors.New("the browser took no picture"), err)
	}
	p.written++
	return nil
}

// browser returns the path of a Chromium, or nothing.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
