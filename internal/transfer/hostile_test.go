package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Import does not hold a short text in memory that is a list of millions of values. It reports the line and reads the others.
func TestManyValues(t *testing.T) {
	list := "[" + strings.Repeat("{},", 3<<20) + "{}]"
	bad := map[string]int{transfer.Claude: 2, transfer.Codex: 1, transfer.Pi: 1} // lines, of which the fixture has some
	for program, line := range map[string]string{
		transfer.Claude: `{"type":"assistant","uuid":"x","sessionId":"s","message":{"id":"m","content":` + list + `}}`,
		transfer.Codex:  `{"type":"compacted","payload":{"replacement_history":` + list + `}}`,
		transfer.Pi:     `{"type":"message","id":"x","parentId":null,"message":{"role":"user","content":` + list + `}}`,
	} {
		t.Run(program, func(t *testing.T) {
			data, err := os.ReadFile(fixtures(t)[program])
			if err != nil {
				t.Fatal(err)
			}
			file := write(t, filepath.Base(fixtures(t)[program]), string(data)+"\n"+line+"\n")
			s := open(t, "", file)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := transfer.Import(t.Context(), discard{}, s, transfer.Options{})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Lost, func(l transfer.Loss) bool { return l.Kind == "line that cannot be read" })
			if i < 0 || r.Lost[i].Count != bad[program] {
				t.Errorf("lost %+v", r.Lost)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 160<<20 {
				t.Errorf("it took %d MB", n>>20)
			}
		})
	}
}

// misfit is a source whose calls and results do not fit each other.
type misfit struct{ program, text string }

func misfits() map[string]misfit {
	return map[string]misfit{
		"Claude Code": {transfer.Claude, `{"type":"assistant","uuid":"a","sessionId":"s","message":{"id":"m","content":[{"type":"tool_use","id":"","name":""},` +
			`{"type":"tool_use","id":"t","name":"x"},{"type":"tool_use","id":"t","name":"x"}]}}
{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"one"},` +
			`{"type":"tool_result","tool_use_id":"t","content":"two"},{"type":"tool_result","tool_use_id":"t","content":"three"},{"type":"tool_result","content":"none"}]}}`},
		"pi": {transfer.Pi, piHead + `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"toolCall","id":"u"},{"type":"text","text":"hi"}]}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"image","data":"AAAA"},{"type":"toolCall","id":"t-2"},{"type":"toolCall","id":"t"},{"type":"toolCall","id":"t"}]}}
{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"t","content":[{"type":"toolCall","id":"v"},{"type":"text","text":"one"}]}}
{"type":"message","id":"d","parentId":"c","message":{"role":"toolResult","toolCallId":"t","content":"two"}}`},
	}
}

// Whatever the IDs and roles of a source are, each call has an ID that no other call of its answer has, and one result.
func TestCallsThatDoNotFit(t *testing.T) {
	for name, c := range misfits() {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			r := imported(t, store, c.program, write(t, "s.jsonl", c.text))
			fits(t, store, r.Session)
			if text := said(t, store, r.Session); !strings.Contains(text, "one") || !strings.Contains(text, "two") || strings.Contains(text, "three") {
				t.Error(text)
			}
		})
	}
}

// fits checks that a session can be sent: roles, parts, calls and their results.
func fits(t *testing.T, store index.Store, id session.SessionID) {
	t.Helper()
	events, err := view.Messages(t.Context(), view.Stored(store, id, ""))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, e := range events {
		m, ok := e.Body.(session.Message)
		if !ok {
			continue
		}
		if m.Role == llm.RoleTool {
			if !open[m.CallID] {
				t.Fatalf("entry %d is the result of no call, or a second one: %q", e.Seq, m.CallID)
			}
			delete(open, m.CallID)
		} else if len(open) > 0 {
			t.Fatalf("entry %d comes before the results of %v", e.Seq, open)
		}
		for _, p := range m.Content {
			_, call := p.(llm.ToolCall)
			_, thinking := p.(llm.Thinking)
			if (call || thinking) && m.Role != llm.RoleAssistant {
				t.Fatalf("entry %d of the role %q has a %T", e.Seq, m.Role, p)
			}
		}
		for _, c := range m.Calls() {
			if c.ID == "" || open[c.ID] || c.Name == "" {
				t.Fatalf("entry %d has the call %+v in addition to %v", e.Seq, c, open)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		t.Fatalf("there are no results of %v", open)
	}
}

// A database whose sessions are each other's sub-agents, a thousand times, is read once.
func TestSubAgentsInCircles(t *testing.T) {
	crush := database(t, filepath.Join(t.TempDir(), "crush.db"), `
		CREATE TABLE sessions (id, parent_session_id, title, created_at, updated_at, cost, prompt_tokens);
		CREATE TABLE messages (id, session_id, role, parts, model, created_at);
		INSERT INTO sessions VALUES ('s', '', 't', 1, 1, 0, 0);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			INSERT INTO sessions SELECT column1, column2, '', 1, 1, 0, 0 FROM n, (VALUES ('a', 's'), ('b', 'a'), ('a', 'b'), ('s', 'b'));
		INSERT INTO messages VALUES ('m', 's', 'user', '[{"type":"text","data":{"text":"hello"}}]', '', 1),
			('n', 'a', 'user', '[{"type":"text","data":{"text":"down"}}]', '', 1), ('o', 'b', 'user', '[{"type":"text","data":{"text":"below"}}]', '', 1)`)
	opencode := database(t, filepath.Join(t.TempDir(), "opencode.db"), `
		CREATE TABLE session (id, parent_id, directory, title, time_created, time_updated);
		CREATE TABLE message (id, session_id, time_created, data);
		CREATE TABLE part (id, message_id, data);
		INSERT INTO session VALUES ('s', '', '', '', 1, 1);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			INSERT INTO session SELECT column1, column2, '', '', 1, 1 FROM n, (VALUES ('a', 's'), ('b', 'a'), ('a', 'b'));
		INSERT INTO message VALUES ('m', 's', 1, '{"role":"user"}'), ('n', 'a', 1, '{"role":"user"}'), ('o', 'b', 1, '{"role":"user"}');
		INSERT INTO part VALUES ('1', 'm', '{"type":"text","text":"hello"}'), ('2', 'n', '{"type":"text","text":"down"}'),
			('3', 'o', '{"type":"text","text":"below"}')`)
	for program, file := range map[string]string{transfer.Crush: crush, transfer.OpenCode: opencode} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := transfer.Import(ctx, newStore(t), transfer.Source{Program: program, File: file, ID: "s"}, transfer.Options{})
		if err != nil || r.Messages != 3 {
			t.Errorf("%s: %+v, %v", program, r, err)
		}
	}
}

// Rows that all say that they are the same message do not have its parts each.
func TestOneMessageManyTimes(t *testing.T) {
	file := database(t, filepath.Join(t.TempDir(), "opencode.db"), `
		CREATE TABLE session (id, parent_id, directory, title, time_created, time_updated);
		CREATE TABLE message (id, session_id, time_created, data);
		CREATE TABLE part (id, message_id, data);
		INSERT INTO session VALUES ('s', '', '', '', 1, 1);
		INSERT INTO part VALUES ('1', 'm', '{"type":"text","text":"hello"}');
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
			INSERT INTO message SELECT 'm' || i, 's', 1, '{"role":"user","id":"m"}' FROM n`)
	r, err := transfer.Import(t.Context(), newStore(t), transfer.Source{Program: transfer.OpenCode, File: file, ID: "s"}, transfer.Options{})
	if err != nil || r.Messages != 1 || r.Lost[0].Kind != "duplicate message ID" || r.Lost[0].Count != 99 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The description of a source and the title of a session have no control sequence for a terminal.
func TestHarmlessWords(t *testing.T) {
	const evil = "\\u001b]0;owned\\u0007\\u202egnp.exe\\u009b31m\\u0000"
	text := strings.Replace(piHead, "/home/me/game", "/home/"+evil, 1) + piEntry("a", "", "user", "hello") +
		`{"type":"session_info","id":"b","name":"` + evil + `"}` + "\n" + `{"type":"` + evil + `","id":"c"}` + "\n"
	store := newStore(t)
	r := imported(t, store, "", write(t, "s.jsonl", text))
	for _, said := range []string{r.Title, r.Dir, fmt.Sprint(r.Lost), r.Source.Title} {
		if strings.ContainsAny(said, "\x1b\x07\x00\u202e\u009b") {
			t.Errorf("%q", said)
		}
	}
	if r.Dir != "" || r.Title != "]0;ownedgnp.exe31m" {
		t.Errorf("%+v", r)
	}
}

// A link among the files of sub-agents is not followed: it could lead anywhere.
func TestLinkedSubAgents(t *testing.T) {
	dir := t.TempDir()
	line := `{"type":"user","uuid":"%s","sessionId":"s","timestamp":"2025-02-03T04:05:06Z","message":{"content":"%s"}}` + "\n"
	secret := write(t, "secret.jsonl", fmt.Sprintf(line, "k", "planted"))
	file := filepath.Join(dir, "s.jsonl")
	agents := filepath.Join(dir, "s", "subagents")
	err := errors.Join(os.MkdirAll(agents, 0o700), os.WriteFile(file, []byte(fmt.Sprintf(line, "a", "hello")), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(agents, "agent-1.jsonl")); err != nil {
		t.Skip("there are no links:", err)
	}
	store := newStore(t)
	if out := string(export(t, store, imported(t, store, "", file).Session)); strings.Contains(out, "planted") {
		t.Error(out)
	}
}
