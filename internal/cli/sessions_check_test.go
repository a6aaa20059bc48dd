//go:build unix

package cli

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

func TestCheckReportsADamagedStore(t *testing.T) {
	dir := t.TempDir()
	script := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Here I am.")}
	if code, _, told := start(t, dir, script, "run", "hello").end(); code != command.ExitDone {
		t.Fatalf("exit code %d: %s", code, told)
	}
	s, _ := lastState(t, dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "data", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE sessions SET messages = 77`); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args      []string
		code      int
		out, told string
	}{
		{nil, command.ExitError, "✗ summary of session " + string(s.ID), "1 problem [session.corrupt]"},
		{[]string{"--json"}, command.ExitError, `"part":"summary"`, "[session.corrupt]"},
		{[]string{"--repair"}, command.ExitDone, "1 problem repaired", ""},
		{nil, command.ExitDone, "no problems found", ""},
	} {
		code, out, told := start(t, dir, nil, append([]string{"sessions", "check"}, step.args...)...).end()
		if code != step.code || !strings.Contains(out, step.out) || !strings.Contains(told, step.told) {
			t.Errorf("check %q: exit code %d, says\n%s\nand %q", step.args, code, out, told)
		}
	}
}
