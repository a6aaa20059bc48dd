package editor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
)

// maxEdited bounds the text that comes back.
const maxEdited = 8 << 20

// external opens an external editor with a text, and makes a message of the text that comes back. The file is private and is removed afterwards.
func external(text string, getenv func(string) string, to func(text string, err error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		args, err := externalEditor(getenv)
		if err != nil {
			return to("", err)
		}
		f, err := os.CreateTemp("", "prompt-*.md") // 0600
		if err != nil {
			return to("", fmt.Errorf("cannot open an external editor: %w", err))
		}
		_, err = f.WriteString(text + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return to("", errors.Join(fmt.Errorf("cannot open an external editor: %w", err), os.Remove(f.Name())))
		}
		cmd := exec.Command(args[0], append(args[1:], f.Name())...) //nolint:gosec // the person chose it
		return tea.ExecProcess(cmd, func(err error) tea.Msg {
			defer os.Remove(f.Name())
			if err != nil {
				return to("", fmt.Errorf("cannot edit with %s: %w; the prompt is unchanged", args[0], err))
			}
			return to(edited(f.Name()))
		})()
	}
}

// edited reads the file back.
func edited(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read the edited prompt: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read the edited prompt: %w", err)
	case len(text) > maxEdited:
		return "", fmt.Errorf("cannot use the edited prompt: it is larger than %d MB", maxEdited>>20)
	}
	return strings.TrimSuffix(clean(string(text)), "\n"), nil
}

// externalEditor returns the command line of the editor.
func externalEditor(getenv func(string) string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		value := strings.TrimSpace(getenv(name))
		if value == "" {
			continue
		}
		if path, err := exec.LookPath(value); err == nil { // the path may have blanks
			return []string{path}, nil
		}
		args, ok := complete.Fields(value)
		if !ok {
			return nil, fmt.Errorf("cannot read $%s: a quotation mark is missing in %s", name, value)
		}
		if _, err := exec.LookPath(args[0]); err != nil {
			return nil, fmt.Errorf("cannot open the editor of $%s: %w; set it to an installed editor", name, err)
		}
		return args, nil
	}
	usual := []string{"nano", "vim", "vi"}
	if runtime.GOOS == "windows" {
		usual = []string{"notepad"}
	}
	for _, name := range usual {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, errors.New("cannot find an editor; set $VISUAL or $EDITOR")
}
