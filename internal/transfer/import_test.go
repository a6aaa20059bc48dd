package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An export that is imported is the same journal: its export differs in the name of the session and where it comes from alone.
func TestRoundTrip(t *testing.T) {
	for name, file := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			first := imported(t, store, "", file)
			lines := export(t, store, first.Session)
			var entries []json.RawMessage
			for line := range bytes.Lines(lines) {
				entries = append(entries, bytes.TrimSpace(line))
			}
			whole, err := json.MarshalIndent(map[string]any{
				"format": transfer.Format, "version": transfer.FormatVersion, "z": map[string]any{"x": []int{1}}, "session": first.Session, "entries": entries,
			}, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			// "format" is the first name of the object, also where others write it again.
			files := []string{write(t, "export.jsonl", string(lines)), write(t, "export.json", orderedFirst(string(whole)))}
			for _, name := range files {
				other := newStore(t)
				again := imported(t, other, "", name)
				if again.Source.ID != string(first.Session) || again.Source.Program != transfer.Tenon || again.Messages != first.Messages {
					t.Errorf("%s: %+v", name, again)
				}
				got := strings.ReplaceAll(string(export(t, other, again.Session)), string(again.Session), string(first.Session))
				if got, want := withoutOrigin(t, got), withoutOrigin(t, string(lines)); got != want {
					t.Errorf("%s: the second export is\n%s\nwant\n%s", filepath.Base(name), got, want)
				}
			}
		})
	}
}

// orderedFirst moves "format" to the front.
func orderedFirst(text string) string {
	line := fmt.Sprintf(" \"format\": %q,\n", transfer.Format)
	return strings.Replace(strings.Replace(text, line, "", 1), "{\n", "{\n"+line, 1)
}

// withoutOrigin takes from the root of an export where it was imported from.
func withoutOrigin(t *testing.T, text string) string {
	t.Helper()
	root, rest, _ := strings.Cut(text, "\n")
	var e session.Event
	if err := json.Unmarshal([]byte(root), &e); err != nil {
		t.Fatal(err)
	}
	c := e.Body.(session.Created)
	c.Imported = session.Import{}
	e.Body = c
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n" + rest
}

// A fault of an export is an error with its position. The store keeps nothing of the export.
func TestBrokenExports(t *testing.T) {
	const (
		root = `{"seq":1,"id":"r","time":"2025-01-01T00:00:00Z","kind":"created","body":{"dir":"/home/me/x"}}` + "\n"
		said = `{"seq":2,"id":"a","parent":"r","time":"2025-01-01T00:00:01Z","kind":"message","body":{"role":"user","content":[{"type":"text","text":"hello"}]}}` + "\n"
	)
	for name, c := range map[string]struct{ text, want string }{
		"a line that is cut":      {root + said + said[:40], ":3: unexpected end of JSON input"},
		"a line that is no JSON":  {root + "garbage\n", ":2: invalid character"},
		"an entry twice":          {root + said + said, ":3: entry \"a\" has the number 2"},
		"an entry is missing":     {root + strings.Replace(said, `"parent":"r"`, `"parent":"q"`, 1), ":2: entry a follows \"q\""},
		"a second root":           {root + strings.Replace(root, `"seq":1`, `"seq":2`, 1), ":2: the first entry, and no other"},
		"a head to nowhere":       {root + `{"seq":2,"id":"a","parent":"x","kind":"head","body":{"to":"x"}}`, ":2: entry a goes back to \"x\""},
		"a transient event":       {root + `{"kind":"delta","body":{"type":"text","text":"x"}}`, ":2: delta is no entry"},
		"a body of another shape": {root + `{"seq":2,"id":"a","parent":"r","kind":"message","body":[]}`, ":2: "},
		"a note with a parent":    {root + `{"seq":2,"id":"a","parent":"r","kind":"note","body":{"text":"x"}}`, ":2: entry a hangs on no branch"},
		"a strange directory":     {strings.Replace(root, "/home/me/x", `..\u0000`, 1) + said, ":1: the working directory"},
		"no ID":                   {root + `{"seq":2,"parent":"r","kind":"todo","body":{"items":[]}}`, ":2: entry \"\""},
		"a role of its own":       {root + strings.Replace(said, `"role":"user"`, `"role":"boss"`, 1), ":2: a message has the role"},
		"a call of a person": {
			root + strings.Replace(said, `{"type":"text","text":"hello"}`, `{"type":"tool_call","id":"x","name":"y","arguments":"{}"}`, 1),
			":2: the call \"x\" of a message of the role \"user\"",
		},
		"a call without an ID": {
			root + strings.Replace(strings.Replace(said, "user", "assistant", 1), `{"type":"text","text":"hello"}`,
				`{"type":"tool_call","id":"","name":"y","arguments":"{}"}`, 1),
			":2: the call \"\" of a message",
		},
		"an object that is cut":    {`{"format":"tenon.session","version":1,"entries":[` + root + "," + said[:50], ":entry 2: "},
		"a newer version":          {`{"format":"tenon.session","version":7,"entries":[` + root + "]}", "the export has version 7"},
		"entries that are no list": {`{"format":"tenon.session","version":1,"entries":7}`, "the entries are no list"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			path := write(t, "export.jsonl", c.text)
			_, err := transfer.Import(t.Context(), store, transfer.Source{Program: transfer.Tenon, File: path, ID: "r"}, transfer.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("the error is %v, want %s%s", err, path, c.want)
			}
			if n := sessionsIn(t, store); n != 0 {
				t.Errorf("%d sessions were kept", n)
			}
		})
	}
}

// Whatever a file is, the error says which one, and nothing is kept.
func TestNoSessions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.jsonl": "", "text.jsonl": "hello\nworld\n", "other.json": `{"a":1}`, "list.json": "[1,2]", "zero.jsonl": "\x00\x00\x00",
		"fake.db": "SQLite format 3\x00and no more", "cut.json": `{"format":"tenon.session"`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := transfer.Open(t.Context(), "", path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		for _, program := range transfer.Programs() {
			store := newStore(t)
			_, err := transfer.Import(t.Context(), store, transfer.Source{Program: program, File: path, ID: "x"}, transfer.Options{})
			if err == nil || sessionsIn(t, store) != 0 {
				t.Errorf("%s as a session of %s: %v", name, program, err)
			}
		}
	}
	if _, err := transfer.Open(t.Context(), "", filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := transfer.Open(t.Context(), "", dir); err == nil || !strings.Contains(err.Error(), "no session in") {
		t.Errorf("a directory without sessions: %v", err)
	}
	if _, err := transfer.Import(t.Context(), newStore(t), transfer.Source{Program: "word"}, transfer.Options{}); err == nil {
		t.Error("a source of an unknown program is imported")
	}
	other := database(t, filepath.Join(dir, "other.db"), `CREATE TABLE x (y); CREATE VIEW messages AS SELECT 1 id`)
	if _, err := transfer.Open(t.Context(), "", other); err == nil || !strings.Contains(err.Error(), "has no sessions of") {
		t.Errorf("a database of something else: %v", err)
	}
}

// A person's file has lines that no program wrote: they are counted, and the rest is taken.
func TestDamagedLines(t *testing.T) {
	long := strings.Repeat("x", 33<<20)
	line := func(id, parent, more string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"s","cwd":"../../etc","timestamp":"%s","message":{"role":"user","content":"hello %s"}}`, id, parent, more, id)
	}
	text := strings.Join([]string{
		line("a", "", "2025-02-03T04:05:06Z"), "{garbage", line("b", "a", "0001-01-01T00:00:00Z"), `{"type":"user","uuid":"big","message":"` + long + `"}`,
		line("c", "nowhere", "9999-01-01T00:00:00Z"), "", strings.Replace(line("d", "c", "2025-02-03T04:05:08Z"), "hello", "hello \xff", 1), line("a", "", ""),
		`{"type":"assistant","uuid":"e","parentUuid":"c","sessionId":"s","message":{"id":"m","content":[{"type":"hologram"},{"type":"tool_use","id":"t","name":"x","input":{}}]}}`,
		`{"type":"user","uuid":"f","parentUuid":"e","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"other","content":"?"},{"type":"tool_result","tool_use_id":"t","content":"!"},{"type":"tool_result","tool_use_id":"t","content":"!!"}]}}`,
		`{"type":"user","uuid":"g","parentUuid":"f","mess`,
	}, "\n")
	store := newStore(t)
	r := imported(t, store, "", write(t, "s.jsonl", text))
	want := map[string]string{
		"line that cannot be read": "s.jsonl:2", "line that is too long": "s.jsonl:4", "line with a missing predecessor": "s.jsonl:5",
		"invalid UTF-8 (replaced)": "s.jsonl:7", "working directory that is not an absolute path": "s.jsonl:1",
		`part "hologram" of a message`: "s.jsonl:9", "result without a call": "s.jsonl:10", "second result of a call": "s.jsonl:10",
	}
	for _, l := range r.Lost {
		if want[l.Kind] != l.Place {
			t.Errorf("lost %q at %s", l.Kind, l.Place)
		}
		delete(want, l.Kind)
	}
	if len(want) > 0 || r.Messages != 5 || r.Results != 1 || r.Dir != "" {
		t.Errorf("not reported: %v; %+v", want, r)
	}
	for _, e := range entriesOf(t, store, r.Session) {
		if e.Time.Year() != 2025 {
			t.Errorf("entry %d has the time %v", e.Seq, e.Time)
		}
	}
}

// Keys that are known are in nothing that is kept; thinking that was changed loses its proof.
func TestKeysAreTakenOut(t *testing.T) {
	const key = "sk-planted-0123456789"
	text := `{"type":"user","uuid":"a","sessionId":"s","timestamp":"2025-02-03T04:05:06Z","message":{"role":"user","content":"my key is ` + key + `"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"id":"m","content":[{"type":"thinking","thinking":"` + key + `","signature":"proof"},{"type":"tool_use","id":"t","name":"x","input":{"k":"` + key + `"}}]}}
{"type":"user","uuid":"c","parentUuid":"b","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"KEY=` + key + `"}]}}
{"type":"custom-title","customTitle":"About ` + key + `"}`
	store := newStore(t)
	redact := func(s string) string { return strings.ReplaceAll(s, key, "[hidden]") }
	r, err := transfer.Import(t.Context(), store, open(t, "", write(t, "s.jsonl", text)), transfer.Options{Redact: redact})
	if err != nil {
		t.Fatal(err)
	}
	if out := string(export(t, store, r.Session)); strings.Contains(out, key) || strings.Contains(out, "proof") || strings.Count(out, "[hidden]") != 5 {
		t.Error(out)
	}
}

// The store knows imported sessions, and whether their source has changed since.
func TestImported(t *testing.T) {
	store := newStore(t)
	data, err := os.ReadFile(fixtures(t)[transfer.Pi])
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "pi.jsonl", string(data))
	r := imported(t, store, "", path)
	past, err := transfer.Imported(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	b, changed, ok := past.Has(open(t, "", path))
	if !ok || changed || b.Session != r.Session {
		t.Errorf("it was imported as %+v (changed: %v, known: %v)", b, changed, ok)
	}
	more := `{"type":"message","id":"p99","parentId":"p18","timestamp":"2025-11-07T12:05:00.000Z","message":{"role":"user","content":"And now?"}}` + "\n"
	if err := os.WriteFile(path, append(data, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, changed, ok := past.Has(open(t, "", path)); !ok || !changed {
		t.Errorf("it has grown, but: %v, %v", changed, ok)
	}
	own := write(t, "own.jsonl", string(export(t, store, r.Session)))
	if b, _, ok := past.Has(open(t, "", own)); !ok || b.Session != r.Session {
		t.Errorf("our own session is not known: %+v, %v", b, ok)
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	put := func(from, to string) {
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(home, to)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(home, to), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	files := fixtures(t)
	put(files[transfer.Claude], ".claude/projects/-home-me-shop/"+filepath.Base(files[transfer.Claude]))
	put(files[transfer.Claude], ".claude/projects/-home-me-shop/agent-1.jsonl")
	put(files[transfer.Codex], ".codex/sessions/2025/11/05/"+filepath.Base(files[transfer.Codex]))
	put(files[transfer.Pi], ".pi/agent/sessions/--home-me-game--/"+filepath.Base(files[transfer.Pi]))
	put(files[transfer.OpenCode], ".local/share/opencode/opencode.db")

	all, err := transfer.Find(t.Context(), "", transfer.Places{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{
		transfer.Claude: "The total in the cart is off by one cent. See the screenshot.", transfer.Codex: "Why does the feed have no dates?",
		transfer.Pi: "The ball falls through the floor.", transfer.OpenCode: "Slow start page",
	}
	dirs := map[string]string{transfer.Claude: "/home/me/shop", transfer.Codex: "/home/me/blog", transfer.Pi: "/home/me/game", transfer.OpenCode: "/home/me/site"}
	if len(all) != len(titles) {
		t.Fatalf("found %+v", all)
	}
	for _, s := range all {
		if s.Title != titles[s.Program] || s.Dir != dirs[s.Program] || s.ID == "" || !filepath.IsAbs(s.File) || s.Updated.IsZero() {
			t.Errorf("found %+v", s)
		}
		here, err := transfer.Find(t.Context(), "", transfer.Places{Home: home, Dir: s.Dir})
		if err != nil || len(here) != 1 || here[0].ID != s.ID {
			t.Errorf("in %s: %+v, %v", s.Dir, here, err)
		}
	}
	crush := files[transfer.Crush]
	project := filepath.Dir(filepath.Dir(crush))
	found, err := transfer.Find(t.Context(), transfer.Crush, transfer.Places{Dir: filepath.Join(project, "sub")})
	if err != nil || len(found) != 1 || found[0].Title != "Rename a flag" || found[0].Dir != project || found[0].Size != 8 {
		t.Errorf("crush: %+v, %v", found, err)
	}
	if none, err := transfer.Find(t.Context(), "", transfer.Places{}); err != nil || len(none) != 0 {
		t.Errorf("without a home: %v, %v", none, err)
	}
	whole, err := transfer.Open(t.Context(), "", home)
	if err != nil || len(whole) != 4 {
		t.Errorf("the whole directory: %d, %v", len(whole), err)
	}
}

// Import reads the database of another program while that program writes it, and one with a leftover log.
func TestDatabaseWithLog(t *testing.T) {
	file := crushDB(t)
	text := `PRAGMA journal_mode = WAL; UPDATE sessions SET title = 'From the log' WHERE id = '8d1f'`
	database(t, file, text)
	if s := open(t, transfer.Crush, file); s.Title != "From the log" {
		t.Errorf("found %+v", s)
	}
}

// endless is a session of Claude Code of many messages, as large as wanted.
func endless(t testing.TB, messages, size int) string {
	path := filepath.Join(t.TempDir(), "endless.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := strings.Repeat("abcdefgh ", size/9)
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range messages {
		kind, content := "user", fmt.Sprintf(`%q`, text)
		if i%2 == 1 {
			kind, content = "assistant", fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
		}
		parent := ""
		if i > 0 {
			parent = fmt.Sprint("u", i-1)
		}
		fmt.Fprintf(f, `{"type":%q,"uuid":"u%d","parentUuid":%q,"sessionId":"s","timestamp":%q,"message":{"id":"m%d","role":%q,"content":%s}}`+"\n",
			kind, i, parent, at.Add(time.Duration(i)*time.Second).Format(time.RFC3339), i, kind, content)
	}
	return path
}

// discard is a store that keeps nothing of what it takes.
type discard struct{ index.Store }

func (discard) Import(_ context.Context, entries iter.Seq2[session.Event, error]) (session.SessionID, error) {
	for _, err := range entries {
		if err != nil {
			return "", err
		}
	}
	return "x", nil
}

// A file of any size takes memory for the number of its messages, not for what they say.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 24 MB")
	}
	path := endless(t, 48, 1<<19)
	s := open(t, "", path)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	stop := make(chan struct{})
	var most uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		var m runtime.MemStats
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			case <-stop:
				return
			}
		}
	}()
	r, err := transfer.Import(t.Context(), discard{}, s, transfer.Options{})
	close(stop)
	<-done
	if err != nil || r.Messages != 48 {
		t.Fatalf("%+v, %v", r, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(most) - int64(before.HeapInuse); used > 16<<20 {
		t.Errorf("24 MB took %d MB of memory", used>>20)
	}
}

// An import that is broken off leaves nothing.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := newStore(t)
	for name, file := range fixtures(t) {
		s := open(t, "", file)
		if _, err := transfer.Import(ctx, store, s, transfer.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := sessionsIn(t, store); n != 0 {
		t.Errorf("%d sessions were kept", n)
	}
}

// The facts of an answer that the file spreads over lines come together.
func TestAnswersAreWhole(t *testing.T) {
	store := newStore(t)
	r := imported(t, store, "", fixtures(t)[transfer.Claude])
	used := llm.Usage{}
	for _, e := range entriesOf(t, store, r.Session) {
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			used = used.Plus(m.Usage)
		}
	}
	if used != r.Usage || used.Output != 454 {
		t.Errorf("used %+v, reported %+v", used, r.Usage)
	}
}

// The files that Claude Code has for sub-agents are branches of the session next to them.
func TestSubAgentFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := put("s[1].jsonl", `{"type":"user","uuid":"a","sessionId":"s","timestamp":"2025-02-03T04:05:06Z","message":{"content":"ask an agent"}}`)
	put("s[1]/subagents/agent-1.jsonl", `{"type":"user","uuid":"k","sessionId":"s","isSidechain":true,"timestamp":"2025-02-03T04:05:07Z","message":{"content":"look around"}}`)
	put("s[1]/subagents/agent-2.jsonl", "garbage")
	store := newStore(t)
	r := imported(t, store, "", file)
	messages, err := view.Messages(t.Context(), view.Stored(store, r.Session, ""))
	if err != nil || len(messages) != 1 || messages[0].Body.(session.Message).Text() != "ask an agent" || r.Messages != 2 {
		t.Errorf("the conversation is %v, %v; %+v", messages, err, r)
	}
	if len(r.Lost) != 2 || r.Lost[1].Kind != "file of a sub-agent" {
		t.Errorf("lost %+v", r.Lost)
	}
}

// A table that is none is not read: a view could go on for ever.
func TestViewsAreNotRead(t *testing.T) {
	file := database(t, filepath.Join(t.TempDir(), "crush.db"), `CREATE TABLE sessions (id, parent_session_id, title, created_at, updated_at, cost, prompt_tokens);
		CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
			SELECT id, 's' session_id, 'user' role, '[]' parts, '' model, 1 created_at FROM n`)
	if _, err := transfer.Open(t.Context(), "", file); err == nil {
		t.Error("a database whose messages are a view is read")
	}
}

// A database is found by a relative path too.
func TestDatabaseByARelativePath(t *testing.T) {
	file := crushDB(t)
	t.Chdir(filepath.Dir(file))
	for _, name := range []string{filepath.Base(file), "." + string(filepath.Separator) + filepath.Base(file)} {
		if s := open(t, transfer.Crush, name); s.ID == "" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
