package transfer_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// goOn takes up what is new in a file.
func goOn(t *testing.T, store index.Store, id session.SessionID, file string) *transfer.Report {
	t.Helper()
	r, err := transfer.GoOn(t.Context(), store, id, open(t, "", file), transfer.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told is the conversation of a session, and what all of it has used.
func told(t *testing.T, store index.Store, id session.SessionID) string {
	t.Helper()
	events, err := view.Messages(t.Context(), view.Stored(store, id, ""))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range events {
		if d, ok := e.Body.(session.Summarized); ok {
			fmt.Fprintf(&b, "summary %s\n", d.Summary)
			for _, k := range d.Verbatim {
				fmt.Fprintf(&b, "  keeps %s\n", k.Message.Text())
			}
			continue
		}
		m, ok := e.Body.(session.Message)
		if !ok {
			continue
		}
		m.Usage = llm.Usage{}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", data)
	}
	var used llm.Usage
	title, origin := "", ""
	for _, e := range entriesOf(t, store, id) {
		if _, u, ok := view.Consumed(e.Body); ok {
			used = used.Plus(u)
		}
		switch b := e.Body.(type) {
		case session.Title:
			title = b.Title
		case session.Import:
			origin = b.Program
		}
	}
	used.Cost = math.Round(used.Cost*1e6) / 1e6
	if origin == transfer.OpenCode {
		used = llm.Usage{} // the messages of the fixture have the sum of all their steps from the beginning
	}
	fmt.Fprintf(&b, "%+v %s\n", used, title)
	return b.String()
}

// growing makes a source of each program at every moment of its life: it calls f with the file and how much of it is there.
func growing(t *testing.T, name string, f func(file string, moment int)) {
	t.Helper()
	fixture := fixtures(t)[name]
	if filepath.Ext(fixture) == ".jsonl" {
		data, err := os.ReadFile(fixture)
		if err != nil {
			t.Fatal(err)
		}
		file := write(t, filepath.Base(fixture), "")
		all := slices.Collect(bytes.Lines(data))
		for n := 1; n <= len(all); n++ {
			if err := os.WriteFile(file, bytes.Join(all[:n], nil), 0o600); err != nil {
				t.Fatal(err)
			}
			f(file, n)
		}
		return
	}
	if name == transfer.OpenCode {
		growingFiles(t, fixture, f)
		return
	}
	step, query := 1, `SELECT 'DELETE FROM messages WHERE id = ''' || id || '''' FROM messages ORDER BY created_at DESC, rowid DESC`
	if name == "opencode-db" {
		step, query = 4, `SELECT 'DELETE FROM part WHERE id = ''' || id || '''' FROM part ORDER BY message_id DESC, id DESC`
	}
	steps := column(t, fixture, query)
	for n := step; n <= len(steps); n += step {
		file := crushDB(t)
		if name == "opencode-db" {
			file = openCodeDB(t)
		}
		database(t, file, strings.Join(steps[:len(steps)-n], ";\n")+";")
		f(file, n)
	}
}

// growingFiles gives OpenCode's directory one part more each time.
func growingFiles(t *testing.T, fixture string, f func(file string, moment int)) {
	t.Helper()
	base := "testdata/opencode/storage"
	parts, err := filepath.Glob(base + "/part/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(parts) + 1 {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		for _, part := range parts[n:] {
			if err := os.Remove(filepath.Join(dir, strings.TrimPrefix(part, base))); err != nil {
				t.Fatal(err)
			}
		}
		f(filepath.Join(dir, strings.TrimPrefix(fixture, base)), n)
	}
}

func column(t *testing.T, file, query string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// A source of every program is imported at each moment of its life, and again at every later one. The conversation is then that of the
// source, no use is counted twice, and importing once more adds nothing.
func TestGrown(t *testing.T) {
	for name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			type begun struct {
				id     session.SessionID
				moment int
			}
			var all []begun
			growing(t, name, func(file string, moment int) {
				found, err := transfer.Open(t.Context(), "", file)
				if err != nil {
					return // not enough of it to tell what it is
				}
				fresh, err := transfer.Import(t.Context(), store, found[0], transfer.Options{Version: "test"})
				if errors.Is(err, transfer.ErrEmpty) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				want := told(t, store, fresh.Session)
				all = append(all, begun{fresh.Session, moment})
				for _, b := range all {
					if later := moment - b.moment; later&(later-1) != 0 {
						continue // 0, 1, 2, 4 ... moments later are enough
					}
					if _, err := transfer.GoOn(t.Context(), store, b.id, found[0], transfer.Options{}); err != nil {
						t.Fatalf("begun at %d, at %d: %v\n%s\nwant\n%s", b.moment, moment, err, export(t, store, b.id), want)
					}
					if got := told(t, store, b.id); got != want {
						t.Fatalf("begun at %d, at %d it is\n%s\nwant\n%s\n%s", b.moment, moment, got, want, export(t, store, b.id))
					}
					before := len(entriesOf(t, store, b.id))
					again := goOn(t, store, b.id, file)
					if n := len(entriesOf(t, store, b.id)); n != before || again.Entries != 0 {
						t.Fatalf("begun at %d, at %d importing once more adds %d entries: %+v", b.moment, moment, n-before, again)
					}
				}
			})
			if len(all) < 4 {
				t.Errorf("only %d moments had a session", len(all))
			}
		})
	}
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

// Whichever branch of a source goes on, the session follows.
func TestGrownBranches(t *testing.T) {
	store := newStore(t)
	text := piHead + piEntry("a", "", "user", "begin") + piEntry("b", "a", "assistant", "one") + piEntry("c", "b", "user", "two")
	file := write(t, "s.jsonl", text)
	id := imported(t, store, "", file).Session
	for _, more := range []string{
		piEntry("d", "a", "assistant", "one, otherwise") + piEntry("e", "d", "user", "three"), // another branch
		piEntry("f", "c", "assistant", "back on the first"),
		piEntry("g", "a", "user", "a third") + piEntry("h", "e", "assistant", "four"), // one that is left at once, and the second again
		`{"type":"label","id":"l","parentId":"h","timestamp":"2025-11-07T12:00:59.000Z","targetId":"c","label":"here"}` + "\n",
	} {
		text += more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		goOn(t, store, id, file)
		other := newStore(t)
		if got, want := told(t, store, id), told(t, other, imported(t, other, "", file).Session); got != want {
			t.Errorf("it is\n%s\nwant\n%s", got, want)
		}
	}
	var c session.ID
	for _, e := range entriesOf(t, store, id) {
		if m, ok := e.Body.(session.Message); ok && m.Text() == "two" {
			c = e.ID
		}
		if n, ok := e.Body.(session.Note); ok && n.Text != "label here at entry "+string(c) {
			t.Errorf("the label is %q, not at %s", n.Text, c)
		}
	}
}

// A session that differs from its source, or that was continued in Tenon, stays unchanged; the error gives the reason.
func TestDiverged(t *testing.T) {
	text := piHead + piEntry("a", "", "user", "begin") + piEntry("b", "a", "assistant", "one") + piEntry("c", "b", "user", "two")
	more := piEntry("d", "c", "assistant", "three")
	for name, c := range map[string]struct {
		source string
		here   func(t *testing.T, store index.Store, id session.SessionID)
		why    string
	}{
		"the past was rewritten": {strings.Replace(text, "one", "eins", 1) + more, nil, "its source no longer has the content of entry 3"},
		"the end is gone":        {strings.Replace(text, piEntry("c", "b", "user", "two"), "", 1), nil, "its source no longer has the content of entry 4"},
		"continued here": {text + more, func(t *testing.T, store index.Store, id session.SessionID) {
			add(t, store, id, session.Message{Message: llm.UserText("here"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
		}, "it was continued in Tenon from entry 7 on"},
		"rewound here": {text + more, func(t *testing.T, store index.Store, id session.SessionID) {
			add(t, store, id, session.Head{To: entriesOf(t, store, id)[1].ID, Reason: "rewind"})
		}, "it was continued in Tenon from entry 7 on"},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			file := write(t, "s.jsonl", text)
			id := imported(t, store, "", file).Session
			if c.here != nil {
				c.here(t, store, id)
			}
			before := string(export(t, store, id))
			if err := os.WriteFile(file, []byte(c.source), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := transfer.GoOn(t.Context(), store, id, open(t, "", file), transfer.Options{})
			diverged, ok := errors.AsType[*transfer.DivergedError](err)
			if !ok || diverged.Session != id || diverged.Why != c.why || !strings.Contains(err.Error(), c.why) {
				t.Errorf("the error is %v, want %s", err, c.why)
			}
			if got := string(export(t, store, id)); got != before {
				t.Errorf("it was changed to\n%s", got)
			}
		})
	}
}

// add appends to a session, as somebody does who goes on in it.
func add(t *testing.T, store index.Store, id session.SessionID, bodies ...session.Body) {
	t.Helper()
	w, err := store.Open(t.Context(), id, session.Lease{Owner: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append(t.Context(), session.Stamp{}, bodies...); err != nil {
		t.Fatal(err)
	}
}

// A title, tags and notes that a person gave do not keep a session from going on, and stay.
func TestGrownKeepsMarks(t *testing.T) {
	store := newStore(t)
	name := func(title string) string {
		return `{"type":"session_info","id":"n` + title + `","name":"` + title + `"}` + "\n"
	}
	text := piHead + piEntry("a", "", "user", "begin") + name("One")
	file := write(t, "s.jsonl", text)
	id := imported(t, store, "", file).Session
	for i, step := range []struct {
		more  string
		here  []session.Body
		title string
	}{
		{name("Two"), nil, "Two"},
		{piEntry("b", "a", "assistant", "yes"), []session.Body{session.Title{Title: "Mine"}, session.Tags{Tags: []string{"x"}}, session.Note{Text: "!"}}, "Mine"},
		{name("Three") + piEntry("c", "b", "user", "and"), nil, "Mine"},
	} {
		if _, err := store.Annotate(t.Context(), id, step.here...); err != nil {
			t.Fatal(err)
		}
		text += step.more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := goOn(t, store, id, file)
		if !r.GoesOn || r.Session != id || !strings.HasSuffix(told(t, store, id), " "+step.title+"\n") {
			t.Errorf("step %d: %+v\n%s", i, r, told(t, store, id))
		}
	}
}

// A session that is being written is not touched.
func TestGrownLocked(t *testing.T) {
	store := newStore(t)
	file := write(t, "s.jsonl", piHead+piEntry("a", "", "user", "begin"))
	id := imported(t, store, "", file).Session
	w, err := store.Open(t.Context(), id, session.Lease{Owner: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = transfer.GoOn(t.Context(), store, id, open(t, "", file), transfer.Options{})
	if locked, ok := errors.AsType[*session.LockedError](err); !ok || locked.Owner != "somebody" {
		t.Errorf("the error is %v", err)
	}
}

// A later export of a session of ours goes on where the earlier one ended.
func TestGrownExport(t *testing.T) {
	from, to := newStore(t), newStore(t)
	origin := imported(t, from, "", write(t, "s.jsonl", piHead+piEntry("a", "", "user", "begin"))).Session
	file := write(t, "export.jsonl", string(export(t, from, origin)))
	id := imported(t, to, "", file).Session
	for _, text := range []string{"one", "two"} {
		add(t, from, origin, session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
		if err := os.WriteFile(file, export(t, from, origin), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := goOn(t, to, id, file); r.Messages != 1 || told(t, to, id) != told(t, from, origin) {
			t.Errorf("%+v\n%s\nwant\n%s", r, told(t, to, id), told(t, from, origin))
		}
		before := len(entriesOf(t, to, id))
		if r := goOn(t, to, id, file); r.Entries != 0 || len(entriesOf(t, to, id)) != before {
			t.Errorf("once more: %+v", r)
		}
	}
	add(t, to, id, session.Message{Message: llm.UserText("here"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	add(t, from, origin, session.Message{Message: llm.UserText("there"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	if err := os.WriteFile(file, export(t, from, origin), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := transfer.GoOn(t.Context(), to, id, open(t, "", file), transfer.Options{})
	if _, ok := errors.AsType[*transfer.DivergedError](err); !ok {
		t.Errorf("the error is %v", err)
	}
}
