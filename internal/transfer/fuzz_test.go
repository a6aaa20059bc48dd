package transfer_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// take imports a file, and checks what every import promises.
func take(t *testing.T, s transfer.Source) {
	store := memory.New()
	defer store.Close()
	r, err := transfer.Import(t.Context(), store, s, transfer.Options{})
	if err != nil {
		if n := sessionsIn(t, store); n != 0 {
			t.Fatalf("%d sessions were kept of an import that failed: %v", n, err)
		}
		return
	}
	events, err := view.Messages(t.Context(), view.Stored(store, r.Session, ""))
	if err != nil {
		t.Fatal(err)
	}
	window.Repair(events)
	if s.Program != transfer.Tenon {
		fits(t, store, r.Session)
	}
	for _, e := range entriesOf(t, store, r.Session) {
		if _, err := e.MarshalJSON(); err != nil {
			t.Fatalf("entry %d cannot be written: %v", e.Seq, err)
		}
	}
	if s.Program == transfer.Tenon {
		return
	}
	// The imported session can be exported and imported again.
	again := transfer.Source{Program: transfer.Tenon, File: write(t, "again.jsonl", string(export(t, store, r.Session))), ID: "x"}
	if _, err := transfer.Import(context.Background(), store, again, transfer.Options{}); err != nil {
		t.Fatalf("our own export is refused: %v", err)
	}
}

// seed adds the fixture of a program, whole and in lines.
func seed(f *testing.F, name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
}

func fuzzLines(f *testing.F, program, fixture string) {
	seed(f, fixture)
	for _, c := range misfits() {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = transfer.Open(t.Context(), "", path) // whatever it takes it for
		take(t, transfer.Source{Program: program, File: path, ID: "s"})
	})
}

func FuzzClaude(f *testing.F) { fuzzLines(f, transfer.Claude, fixtures(f)[transfer.Claude]) }
func FuzzCodex(f *testing.F)  { fuzzLines(f, transfer.Codex, fixtures(f)[transfer.Codex]) }
func FuzzPi(f *testing.F)     { fuzzLines(f, transfer.Pi, fixtures(f)[transfer.Pi]) }

func FuzzTenon(f *testing.F) {
	store := newStore(f)
	r := imported(f, store, "", fixtures(f)[transfer.Claude])
	data := export(f, store, r.Session)
	f.Add(data)
	f.Add([]byte(`{"format":"tenon.session","version":1,"entries":[` + string(data[:200]) + `]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		take(t, transfer.Source{Program: transfer.Tenon, File: path, ID: "s"})
	})
}

func FuzzOpenCode(f *testing.F) {
	f.Add("", `{"role":"user"}`, `{"type":"text","text":"x"}`)
	f.Add(`{"messageID":"m1"}`, `{"id":"../../x","role":"assistant","summary":true}`, `{"type":"tool","callID":"c","state":{"status":"completed"}}`)
	f.Add(`{}`, `{"role":"assistant"}`, `{"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,AAAA"}`)
	f.Fuzz(func(t *testing.T, revert, message, part string) {
		file := database(t, filepath.Join(t.TempDir(), "opencode.db"), openCodeTables)
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, q := range []string{
			`INSERT INTO session VALUES ('s', 'p', NULL, '', '/x', $3, '1.3', $1, 1762600000000, 1762600000000)`,
			`INSERT INTO message VALUES ('m1', 's', 1, 1, $2), ('m2', 's', 2, 2, $2)`, `INSERT INTO part VALUES ('p1', 'm1', 's', 1, 1, $3), ('p2', 'm2', 's', 1, 1, $3)`,
			`INSERT INTO todo VALUES ('s', $3, $3, '', 0)`,
		} {
			if _, err := db.ExecContext(t.Context(), q, revert, message, part); err != nil {
				t.Fatal(err)
			}
		}
		take(t, transfer.Source{Program: transfer.OpenCode, File: file, ID: "s"})
	})
}

func FuzzCrush(f *testing.F) {
	f.Add("user", `[{"type":"text","data":{"text":"x"}}]`, `[{"type":"tool_call","data":{"id":"a","name":"b","input":"{"}},{"type":"finish","data":{"reason":"tool_use"}}]`, int64(1))
	f.Add("tool", `[{"type":"binary","data":{"Path":"a","MIMEType":"image/png","Data":"AAAA"}}]`, `[{"type":"tool_result","data":{"tool_call_id":"a"}}]`, int64(-5))
	f.Fuzz(func(t *testing.T, role, one, two string, at int64) {
		file := database(t, filepath.Join(t.TempDir(), ".crush", "crush.db"), `
			CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at, updated_at, cost, prompt_tokens, todos, summary_message_id);
			CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at)`)
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, q := range []string{
			`INSERT INTO sessions VALUES ('s', NULL, $2, $4, $4, 0, 0, $3, 'm2')`, `INSERT INTO messages VALUES ('m1', 's', $1, $2, 'x', $4)`,
			`INSERT INTO messages VALUES ('m2', 's', 'assistant', $3, NULL, 7)`,
		} {
			if _, err := db.ExecContext(t.Context(), q, role, one, two, at); err != nil {
				t.Fatal(err)
			}
		}
		take(t, transfer.Source{Program: transfer.Crush, File: file, ID: "s"})
	})
}
