//go:build unix

package editor_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/editor"
)

// script writes a shell script to a directory.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// host is a program that runs one command of an editor until it fails or the text changes.
type host struct {
	e      *editor.Editor
	key    string
	failed error
}

func (h *host) Init() tea.Cmd { return h.e.Update(press(h.key)) }

func (h *host) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case editor.Own:
		return h, h.e.Update(msg)
	case editor.Failed:
		h.failed = msg.Err
		return h, tea.Quit
	case editor.Changed:
		return h, tea.Quit
	}
	return h, nil
}

func (h *host) View() tea.View { return tea.NewView("") }

func TestExternalEditor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	log := filepath.Join(dir, "log")
	good := script(t, dir, "good editor", `ls -l "$2" > '`+log+`'; cat "$2" >> '`+log+`'; printf 'new %s\n' "$(cat "$2")" > "$2"`)
	bad := script(t, dir, "bad", "exit 3")
	for _, c := range []struct {
		name, visual, want, err string
	}{
		{"edits", `"` + good + `" --wait`, "new see [paste 1: 20 lines]", ""},
		{"fails", bad, "see [paste 1: 20 lines]", "exit status 3"},
		{"missing", "no-such-editor-here", "see [paste 1: 20 lines]", "set it to an installed editor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEditor(t, editor.Options{Getenv: func(name string) string { return map[string]string{"VISUAL": c.visual}[name] }})
			e.Insert("see ")
			pasted := strings.Repeat("x\n", 20)
			e.InsertChip(editor.Part{Kind: editor.Paste, Text: pasted})
			h := &host{e: e, key: "ctrl+g"}
			if _, err := tea.NewProgram(h, tea.WithInput(&bytes.Buffer{}), tea.WithOutput(io.Discard), tea.WithoutSignalHandler()).Run(); err != nil {
				t.Fatal(err)
			}
			if c.err == "" && h.failed != nil || c.err != "" && (h.failed == nil || !strings.Contains(h.failed.Error(), c.err)) {
				t.Errorf("error %v", h.failed)
			}
			if got := e.Value().Shown(); got != c.want || !strings.HasSuffix(e.Text(), pasted) {
				t.Errorf("got %q", got)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "prompt-*")); len(left) > 0 || err != nil {
				t.Errorf("files are left: %q %v", left, err)
			}
		})
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.HasPrefix(string(text), "-rw-------") || !strings.HasSuffix(string(text), "see [paste 1: 20 lines]\n") {
		t.Errorf("the editor saw %q %v", text, err)
	}
}

func TestClipboard(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n0000"
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, []byte(png), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, env, program, script string
		want, err                  string
	}{
		{"image", "WAYLAND_DISPLAY", "wl-paste", `case "$*" in --list-types) echo text/html; echo image/png;; "--no-newline --type image/png") cat '` + image + `';; esac`, "[image 1: png, 1 kB] ", ""},
		{"text", "DISPLAY", "xclip", `case "$*" in *TARGETS) echo UTF8_STRING;; *"-target UTF8_STRING") printf 'two\nlines';; esac`, "two\nlines", ""},
		{"empty", "DISPLAY", "xclip", "echo no selection >&2; exit 1", "", "neither text nor an image"},
		{"no program", "WAYLAND_DISPLAY", "other", "", "", "install wl-clipboard"},
		{"no program for X", "DISPLAY", "other", "", "", "install xclip"},
		{"no display", "", "other", "", "", "has no display"},
		{"no image", "WAYLAND_DISPLAY", "wl-paste", `case "$*" in --list-types) echo image/png;; *) echo text;; esac`, "", "neither text nor an image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			script(t, dir, c.program, "PATH=/usr/bin:/bin\n"+c.script)
			t.Setenv("PATH", dir)
			e := newEditor(t, editor.Options{Getenv: func(name string) string {
				if name == c.env {
					return ":0"
				}
				return ""
			}})
			msgs := run(e, e.PasteClipboard())
			if got := e.Value().Shown(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.err == "" && len(msgs) > 0 || c.err != "" && (len(msgs) != 1 || !strings.Contains(msgs[0].(editor.Failed).Err.Error(), c.err)) {
				t.Errorf("%v", msgs)
			}
		})
	}
}
