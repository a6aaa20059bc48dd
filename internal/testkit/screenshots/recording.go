package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// recorded are the command lines of the recording in README.md. The offline model answers them.
var recorded = []string{
	`tenon run --mode auto "run the tests"`,
	`tenon run --mode edits 'replace "Helo" with "Hello" in greet.go'`,
	`tenon diff`,
	`tenon undo`,
}

const (
	begin = "<!-- recording -->\n"
	end   = "<!-- end of the recording -->"
)

// renew writes the recording in README.md, and the picture next to it.
func renew(ctx context.Context, work, bin string) (err error) {
	p, err := newPlace(ctx, filepath.Join(work, "readme"), bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.draw(ctx, filepath.Join("docs", "run.svg")); err != nil {
		return err
	}
	text, err := p.record(ctx)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(readme), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("README.md has no lines %q and %q", strings.TrimSpace(begin), end)
	}
	return os.WriteFile("README.md", []byte(before+begin+"````console\n"+text+"````\n"+end+after), 0o644)
}

// record returns what the commands print without a terminal.
func (p *place) record(ctx context.Context) (string, error) {
	env := append(p.env, "TENON_MODEL=offline", "TENON_DATA_DIR="+filepath.Join(p.project, "..", "recording"))
	shell := func(line string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Dir, cmd.Env = p.project, env
		text, err := cmd.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			err = nil
		}
		return text, err
	}
	if _, err := shell("git checkout -q . && " + recorded[0]); err != nil { // the first build has a cold cache
		return "", err
	}
	var b strings.Builder
	for _, line := range recorded {
		text, err := shell(line)
		if err != nil {
			return "", err
		}
		b.WriteString("$ " + line + "\n" + string(text))
	}
	return b.String(), nil
}

// draw writes one picture of a run that is light or dark as its reader prefers.
func (p *place) draw(ctx context.Context, file string) error {
	s := scenes[0]
	text, err := p.run(ctx, 100, s)
	if err != nil {
		return err
	}
	lines, err := show(strings.ReplaceAll(text, p.project, "/home/you/greet"), 100)
	if err != nil {
		return err
	}
	css := palettes["light"].css() + "@media(prefers-color-scheme:dark){" + palettes["dark"].css() + "}"
	return os.WriteFile(file, []byte(picture(append(typed(s.args), lines...), 100, css)), 0o644)
}
