package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

// On a terminal a key is asked for, and not shown.
func TestLoginOnATerminal(t *testing.T) {
	dir := t.TempDir()
	in := &typed{strings.NewReader(""), "sk-planted-0123456789"}
	code, out, told := tenonIn(t, dir, nil, in, "auth", "login", "anthropic")
	if code != command.ExitDone || told != "Key of Anthropic (it will not be shown): \n" || !strings.HasPrefix(out, "stored key default of anthropic in ") || Leaks(out) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	in.hidden = ""
	if code, _, told = tenonIn(t, dir, nil, in, "auth", "login", "anthropic"); code != command.ExitError || !strings.Contains(told, "the key is empty") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	if code, _, told = tenonIn(t, dir, nil, nil, "auth", "login", "anthropic"); code != command.ExitUsage || !strings.Contains(told, "pipe it in") {
		t.Errorf("exit code %d, says %q", code, told)
	}
}

// A person trusts a directory after they have seen the consequences.
func TestTrustOnATerminal(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	mkdirs(t, filepath.Join(project, ".git"))
	writeFile(t, filepath.Join(project, "tenon.json"), `{"model": "offline/rules\u001b"}`)
	if code, _, told := tenonIn(t, dir, nil, nil, "trust", "--yes", project); code != command.ExitError || strings.Contains(told, "\x1b") {
		t.Errorf("exit code %d, says %q", code, told)
	}
	writeFile(t, filepath.Join(project, "tenon.json"), `{"model": "offline/rules"}`)
	for _, c := range []struct {
		answer string
		code   int
	}{{"\n", command.ExitError}, {"no\n", command.ExitError}, {"", command.ExitError}, {"y\n", command.ExitDone}} {
		code, out, told := tenonIn(t, dir, nil, &typed{Reader: strings.NewReader(c.answer)}, "trust", project)
		if code != c.code || !strings.Contains(told, "  model  offline/rules\n") || !strings.Contains(told, "Trust "+project+"? [y/N] ") {
			t.Errorf("%q: exit code %d, says %q and %q", c.answer, code, out, told)
		}
	}
	if code, out, _ := tenonIn(t, dir, nil, nil, "trust", project); code != command.ExitDone || !strings.Contains(out, "trusted already") {
		t.Errorf("exit code %d, says %q", code, out)
	}
}
