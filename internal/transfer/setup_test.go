package transfer_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
)

// newStore is an empty store.
func newStore(t testing.TB) index.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// entriesOf returns all entries of a session.
func entriesOf(t testing.TB, store index.Store, id session.SessionID) []session.Event {
	t.Helper()
	var out []session.Event
	for e, err := range store.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// sessionsIn returns how many sessions a store has.
func sessionsIn(t testing.TB, store index.Store) (n int) {
	t.Helper()
	for _, err := range store.List(t.Context(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// open returns the one session of a file.
func open(t testing.TB, program, file string) transfer.Source {
	t.Helper()
	found, err := transfer.Open(t.Context(), program, file)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d sessions, %v", file, len(found), err)
	}
	return found[0]
}

// imported imports a file.
func imported(t testing.TB, store index.Store, program, file string) *transfer.Report {
	t.Helper()
	r, err := transfer.Import(t.Context(), store, open(t, program, file), transfer.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// export writes a session as our exports have it.
func export(t testing.TB, store index.Store, id session.SessionID) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range entriesOf(t, store, id) {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.Bytes()
}

var anyID = regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{26}\b`)

// golden is a session as a test compares it: with names for IDs, and without the directory of the test.
func golden(t testing.TB, store index.Store, r *transfer.Report) string {
	t.Helper()
	text := string(export(t, store, r.Session))
	report, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text += string(report) + "\n"
	text = strings.ReplaceAll(text, string(r.Session), "SESSION")
	names := map[string]string{}
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("e%d", len(names)+2)
		}
		return names[id]
	})
	file, err := json.Marshal(filepath.Dir(r.Source.File))
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, strings.Trim(string(file), `"`), "DIR")
	if strings.HasPrefix(r.Source.Dir, filepath.Clean(os.TempDir())) {
		text = strings.ReplaceAll(text, r.Source.Dir, "PROJECT")
	}
	return regexp.MustCompile(`("(?:updated|at)": ?)"[^"]*"`).ReplaceAllString(text, `$1"TIME"`)
}

// database makes an SQLite file by statements.
func database(t testing.TB, file, statements string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	return file
}

// crushDB is the fixture of Crush.
func crushDB(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/crush.sql")
	if err != nil {
		t.Fatal(err)
	}
	return database(t, filepath.Join(t.TempDir(), "tool", ".crush", "crush.db"), string(text))
}

// openCodeTables are the tables of OpenCode.
const openCodeTables = `
	CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, revert text,
		time_created integer, time_updated integer);
	CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
	CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
	CREATE TABLE todo (session_id text, content text, status text, priority text, position integer)`

// openCodeDB is the fixture of OpenCode.
func openCodeDB(t testing.TB) string {
	t.Helper()
	file := database(t, filepath.Join(t.TempDir(), "opencode", "opencode.db"), openCodeTables)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	each := func(pattern string, f func(m map[string]any, time map[string]any, rest string)) {
		names, err := filepath.Glob("testdata/opencode/storage/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			var m map[string]any
			if err == nil {
				err = json.Unmarshal(data, &m)
			}
			if err != nil {
				t.Fatal(err)
			}
			time, _ := m["time"].(map[string]any)
			rest := map[string]any{}
			for k, v := range m {
				if k != "id" && k != "sessionID" && k != "messageID" {
					rest[k] = v
				}
			}
			text, err := json.Marshal(rest)
			if err != nil {
				t.Fatal(err)
			}
			f(m, time, string(text))
		}
	}
	exec := func(text string, args ...any) {
		if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	each("session/*/*.json", func(m, time map[string]any, _ string) {
		exec(`INSERT INTO session VALUES (?, ?, ?, '', ?, ?, ?, NULL, ?, ?)`, m["id"], m["projectID"], m["parentID"], m["directory"], m["title"], m["version"], time["created"], time["updated"])
	})
	each("message/*/*.json", func(m, time map[string]any, rest string) {
		exec(`INSERT INTO message VALUES (?, ?, ?, ?, ?)`, m["id"], m["sessionID"], time["created"], time["created"], rest)
	})
	each("part/*/*.json", func(m, _ map[string]any, rest string) {
		exec(`INSERT INTO part VALUES (?, ?, ?, 0, 0, ?)`, m["id"], m["messageID"], m["sessionID"], rest)
	})
	exec(`INSERT INTO todo VALUES ('ses_66f0aa11', 'Shrink the pictures', 'completed', 'high', 0), ('ses_66f0aa11', 'Measure again', 'pending', 'low', 1)`)
	return file
}

// piEntry is a line of pi's.
func piEntry(id, parent, role, text string) string {
	if parent != "" {
		parent = `"` + parent + `"`
	} else {
		parent = "null"
	}
	second := len(id) + int(id[len(id)-1])%50
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2025-11-07T12:00:%02d.000Z","message":{"role":%q,"content":%q}}`+"\n",
		id, parent, second, role, text)
}

const piHead = `{"type":"session","version":3,"id":"s1","timestamp":"2025-11-07T12:00:00.000Z","cwd":"/home/me/game"}` + "\n"

// said returns the text of a conversation.
func said(t *testing.T, store index.Store, id session.SessionID) string {
	t.Helper()
	events, err := view.Messages(t.Context(), view.Stored(store, id, ""))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range events {
		if m, ok := e.Body.(session.Message); ok {
			fmt.Fprintln(&b, m.Text())
		}
	}
	return b.String()
}
