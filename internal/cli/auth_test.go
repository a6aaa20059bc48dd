package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// On a terminal a key is asked for, and not shown.
func TestLoginOnATerminal(t *testing.T) {
	dir := t.TempDir()
	in := &typed{strings.NewReader(""), "sk-planted-0123456789"}
	code, out, told := command(t, dir, nil, in, "auth", "login", "anthropic")
	if code != exitDone || told != "Key of Anthropic (it will not be shown): \n" || !strings.HasPrefix(out, "kept key default of anthropic in ") || leaks(out) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	in.hidden = ""
	if code, _, told = command(t, dir, nil, in, "auth", "login", "anthropic"); code != exitError || !strings.Contains(told, "the key is empty") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	if code, _, told = command(t, dir, nil, nil, "auth", "login", "anthropic"); code != exitUsage || !strings.Contains(told, "pipe it in") {
		t.Errorf("exit code %d, says %q", code, told)
	}
}

// deaf is a terminal at which nobody types.
type deaf struct{ asked chan struct{} }

func (deaf) Read([]byte) (int, error) { select {} }
func (deaf) TerminalWidth() int       { return 80 }
func (d deaf) ReadPassword() ([]byte, error) {
	<-d.asked
	return nil, os.ErrClosed
}

// An interrupt ends the question.
func TestLoginIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := deaf{make(chan struct{})}
		defer close(in.asked)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := readHidden(ctx, in)
			done <- err
		}()
		synctest.Wait()
		cancel(errInterrupted)
		if err := <-done; err != exitCode(exitInterrupted) {
			t.Errorf("got %v", err)
		}
	})
}

func TestLooksLikeAKey(t *testing.T) {
	for word, want := range map[string]bool{
		"sk-ant-api03-0123456789": true, "AIzaSyA0123456789": true, "gsk_0123456789": true, "a1b2c3d4e5f6a7b8c9d0e1f2": true,
		"anthropic": false, "openai-compatible": false, "my-provider-with-a-very-long-name": false, "/home/me/keys/key-0123456789abcdef.txt": false,
		"": false, "sk-": false, "vllm2": false,
	} {
		if got := looksLikeKey(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

// A folder is trusted when somebody says so, after having seen what that means.
func TestTrustOnATerminal(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	mkdirs(t, filepath.Join(project, ".git"))
	writeFile(t, filepath.Join(project, "tenon.json"), `{"model": "offline/rules\u001b"}`)
	if code, _, told := command(t, dir, nil, nil, "trust", "--yes", project); code != exitError || strings.Contains(told, "\x1b") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	writeFile(t, filepath.Join(project, "tenon.json"), `{"model": "offline/rules"}`)
	for _, c := range []struct {
		answer string
		code   int
	}{{"\n", exitError}, {"no\n", exitError}, {"", exitError}, {"y\n", exitDone}} {
		code, out, told := command(t, dir, nil, &typed{Reader: strings.NewReader(c.answer)}, "trust", project)
		if code != c.code || !strings.Contains(told, "  model  offline/rules\n") || !strings.Contains(told, "Trust "+project+"? [y/N] ") {
			t.Errorf("%q: exit code %d, says %q and %q", c.answer, code, out, told)
		}
	}
	if code, out, _ := command(t, dir, nil, nil, "trust", project); code != exitDone || !strings.Contains(out, "trusted already") {
		t.Errorf("exit code %d, says %q", code, out)
	}
}
