//go:build unix

package cli

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to damage a database as no command does
)

func TestADamagedStoreIsTold(t *testing.T) {
	dir := t.TempDir()
	script := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Here I am.")}
	if code, _, told := start(t, dir, script, "run", "hello").end(); code != exitDone {
		t.Fatalf("exit code %d: %s", code, told)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "data", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE sessions SET messages = 77`); err != nil {
		t.Fatal(err)
	}
	s, _ := lastState(t, dir)
	for _, step := range []struct {
		args      []string
		code      int
		out, told string
	}{
		{nil, exitError, "✗ summary of session " + string(s.ID), "1 thing is wrong with what is stored"},
		{[]string{"--json"}, exitError, `"part":"summary"`, "1 thing is wrong"},
		{[]string{"--repair"}, exitDone, "1 problem repaired", ""},
		{nil, exitDone, "all is well", ""},
	} {
		code, out, told := start(t, dir, nil, append([]string{"sessions", "check"}, step.args...)...).end()
		if code != step.code || !strings.Contains(out, step.out) || !strings.Contains(told, step.told) {
			t.Errorf("check %q: exit code %d, says\n%s\nand %q", step.args, code, out, told)
		}
	}
}
