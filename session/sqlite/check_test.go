package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// problems is all that a check finds.
func problems(t *testing.T, s *Store, repair bool) (list []index.Problem) {
	t.Helper()
	for p, err := range s.Check(t.Context(), repair) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// lived makes a session that has a bit of everything, and a fork of it, and has both indexed.
func lived(t *testing.T, s *Store) (id, fork session.SessionID) {
	t.Helper()
	w := writerFor(t, s)
	run := session.NewID()
	m := llm.AssistantText("The mill turns.")
	m.Model, m.Usage = "p/m", llm.Usage{Input: 10, Cost: 0.1}
	events, err := w.Append(t.Context(), session.Stamp{Run: run}, session.RunStarted{Run: run, Tag: "again"}, user("Does it?"), // 2 3
		session.Message{Message: m}, session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "read"}, "x", false)}, // 4 5
		session.Summarized{By: "p/s", Usage: llm.Usage{Input: 3}}, session.Title{Title: "The mill"}, session.Tags{Tags: []string{"a"}}) // 6 7 8
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), session.Stamp{}, session.Head{To: events[1].ID}, answer("on")); err != nil { // 9 10
		t.Fatal(err)
	}
	fork, err = s.Create(t.Context(), session.Created{From: session.Origin{Session: w.Session(), Entry: events[2].ID}, Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	fw, err := s.Open(t.Context(), fork, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := fw.Append(t.Context(), session.Stamp{}, session.Head{To: events[1].ID}, user("of the fork"))
	_, err2 := s.PutBlob(t.Context(), fork, []byte("data"))
	if err := errors.Join(err1, err2, fw.Close(), w.Close(), s.Index(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w.Session(), fork
}

// everythingOf is all that a store says of itself.
func everythingOf(t *testing.T, s *Store) (all []any) {
	t.Helper()
	list := func(v any, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
		return true
	}
	for sum, err := range s.List(t.Context(), index.Query{}) {
		list(sum, err)
		for e, err := range s.Backward(t.Context(), sum.ID, "") {
			list(e, err)
		}
	}
	for row, err := range s.Usage(t.Context(), index.UsageQuery{By: []index.Group{index.GroupModel, index.GroupAgent, index.GroupTool}}) {
		list(row, err)
	}
	for hit, err := range s.Search(t.Context(), search.Request{Text: "mill"}) {
		list(hit, err)
	}
	return all
}

// A repair recomputes everything that the entries determine.
func TestCheckRepairs(t *testing.T) {
	t.Parallel()
	const parent, child = "SELECT min(key) FROM sessions", "SELECT max(key) FROM sessions"
	for name, c := range map[string]struct {
		search bool // it is the index that is damaged
		change string
		part   index.Part
	}{
		"a title":               {false, `UPDATE sessions SET title = 'x'`, index.PartSummary},
		"the directory":         {false, `UPDATE sessions SET dir = 'x'`, index.PartSummary},
		"the model":             {false, `UPDATE sessions SET model = 'x' WHERE key = (` + parent + `)`, index.PartSummary},
		"messages":              {false, `UPDATE sessions SET messages = messages + 1`, index.PartSummary},
		"runs":                  {false, `UPDATE sessions SET runs = 9`, index.PartSummary},
		"usage":                 {false, `UPDATE sessions SET input = 9`, index.PartSummary},
		"cost":                  {false, `UPDATE sessions SET cost = 9`, index.PartSummary},
		"tags":                  {false, `UPDATE sessions SET tags = '["b"]'`, index.PartSummary},
		"tags that are no tags": {false, `UPDATE sessions SET tags = '{'`, index.PartSummary},
		"times":                 {false, `UPDATE sessions SET created = 5, updated = 6`, index.PartSummary},
		"the origin":            {false, `UPDATE sessions SET from_entry = 'x'`, index.PartSummary},
		"in the trash":          {false, `UPDATE sessions SET deleted = 77`, index.PartSummary},
		"a row that is behind":  {false, `UPDATE sessions SET seq = seq - 1`, index.PartSummary},
		"a row that is missing": {false, `DELETE FROM sessions WHERE key = (` + parent + `)`, index.PartSummary},
		"entries aside":         {false, `UPDATE sessions SET aside = aside + 1`, index.PartSummary},
		"a tip":                 {false, `UPDATE sessions SET tip = id`, index.PartTip},
		"a fork's base":         {false, `UPDATE sessions SET base = base + 1 WHERE base <> 0`, index.PartFork},
		"a base of no fork":     {false, `UPDATE sessions SET base = 7 WHERE base = 0`, index.PartFork},
		"no base":               {false, `UPDATE sessions SET base = 0`, index.PartFork},
		"a parent":              {false, `UPDATE entries SET parent = 'x' WHERE place = (` + parent + `) << 36 | 4`, index.PartEntries},
		"a head's parent":       {false, `UPDATE entries SET parent = 'x' WHERE place = (` + parent + `) << 36 | 9`, index.PartEntries},
		"a fork's parent":       {false, `UPDATE entries SET parent = '' WHERE place = (` + child + `) << 36 | 1`, index.PartEntries},
		"a title's parent":      {false, `UPDATE entries SET parent = 'x' WHERE kind = 'title'`, index.PartEntries},
		"no spending":           {false, `DELETE FROM spending`, index.PartSpending},
		"spending":              {false, `UPDATE spending SET cost = cost + 1`, index.PartSpending},
		"a model's spending":    {false, `UPDATE spending SET model = 'x'`, index.PartSpending},
		"an agent's spending":   {false, `UPDATE spending SET agent = ''`, index.PartSpending},
		"spending of nothing": {false, `INSERT INTO spending (time, place, model, input, cache_read, cache_write, output, reasoning, cost)
			VALUES (1, 1, '', 1, 1, 1, 1, 1, 1)`, index.PartSpending},
		"search without texts":     {true, `DELETE FROM docs`, index.PartSearch},
		"search with another text": {true, `UPDATE docs SET place = place + 1`, index.PartSearch},
		"search without words":     {true, `DELETE FROM said WHERE rowid = 1`, index.PartSearch},
		"search without calls":     {true, `DELETE FROM calls`, index.PartSearch},
		"search of no session":     {true, `INSERT INTO docs (place, time, weight) VALUES (77 << 36 | 1, 1, 1)`, index.PartSearch},
		"search with a bad block":  {true, `UPDATE said_data SET block = x'00' WHERE id > 10`, index.PartSearch},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			lived(t, s)
			want := everythingOf(t, s)
			file := path
			if c.search {
				file = s.index.path
			}
			raw(t, file, c.change)
			found := problems(t, s, false)
			if len(found) == 0 || found[0].Part != c.part || found[0].Fixed || found[0].Lost || found[0].Advice == "" || found[0].Text == "" {
				t.Fatalf("it found %+v", found)
			}
			if again := problems(t, s, false); !reflect.DeepEqual(again, found) {
				t.Errorf("without repair something changed: %+v", again)
			}
			for _, p := range problems(t, s, true) {
				if !p.Fixed || p.Lost {
					t.Errorf("it left %+v", p)
				}
			}
			if left := problems(t, s, false); len(left) != 0 {
				t.Errorf("after the repair there is %+v", left)
			}
			if got := everythingOf(t, s); !reflect.DeepEqual(got, want) {
				t.Errorf("after the repair:\ngot  %+v\nwant %+v", got, want)
			}
		})
	}
}

// Check reports the lost entries and changes nothing.
func TestCheckReportsLostEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string
		part   index.Part
		seq    int64
	}{
		"an entry":                 {`DELETE FROM entries WHERE place = (SELECT min(key) FROM sessions) << 36 | 5`, index.PartEntries, 5},
		"the last entry":           {`DELETE FROM entries WHERE place = (SELECT min(key) FROM sessions) << 36 | 10`, index.PartEntries, 10},
		"the first entry":          {`DELETE FROM entries WHERE place = (SELECT min(key) FROM sessions) << 36 | 1`, index.PartEntries, 1},
		"a body":                   {`UPDATE entries SET body = '{' WHERE kind = 'summary'`, index.PartEntries, 6},
		"what a head leads to":     {`UPDATE entries SET body = '{"to":"x"}' WHERE place = (SELECT min(key) FROM sessions) << 36 | 9`, index.PartEntries, 9},
		"what a fork goes on from": {`DELETE FROM entries WHERE place = (SELECT max(base) FROM sessions)`, index.PartEntries, 4},
		"a blob":                   {`UPDATE blobs SET data = x'00'`, index.PartBlobs, 0},
		"a blob that is not there": {`DELETE FROM blobs`, index.PartBlobs, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			lived(t, s)
			raw(t, path, c.change)
			for _, repair := range []bool{false, true, true} {
				found := problems(t, s, repair)
				if len(found) == 0 || found[0].Part != c.part || found[0].Seq != c.seq || !found[0].Lost || found[0].Fixed {
					t.Fatalf("with repair %v it found %+v", repair, found)
				}
				if advice := found[0].Advice; advice == "" || strings.Contains(advice, "fork") != (c.part == index.PartEntries) {
					t.Errorf("with repair %v it advises %q", repair, advice)
				}
			}
		})
	}
}

// A session that lost an answer does not keep others from being counted, also after a repair removed the usage of the answer.
func TestUsageAfterALoss(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	ids := conversations(t, s)
	raw(t, path, `DELETE FROM entries WHERE place = (SELECT place FROM spending LIMIT 1)`)
	problems(t, s, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	var all float64
	for sum, err := range s.List(t.Context(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		all += sum.Usage.Cost
	}
	u, err := s.Spent(t.Context(), time.Time{})
	if err != nil || u.Cost != all {
		t.Errorf("spent %v, %v; the lists have %v", u.Cost, err, all)
	}
	for _, err = range s.Read(t.Context(), ids[0], 0) {
	}
	if !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("read: %v", err)
	}
}

// An index of SQLite's that does not match its table is built again.
func TestCheckReindexes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id, _ := lived(t, s)
	raw(t, path, `PRAGMA writable_schema = ON`,
		`CREATE TABLE twin (id TEXT NOT NULL)`, `CREATE INDEX twin_id ON twin(id)`,
		`UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'twin_id') WHERE name = 'entries_id'`,
		`DELETE FROM sqlite_schema WHERE name IN ('twin', 'twin_id')`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	found := problems(t, s, true)
	if len(found) == 0 || found[0].Part != index.PartFile {
		t.Fatalf("it found %+v", found)
	}
	for e, err := range s.Backward(t.Context(), id, "") {
		if err != nil {
			t.Errorf("after the repair, at %d: %v", e.Seq, err)
		}
	}
}

func TestCheckStops(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	lived(t, s)
	raw(t, path, `UPDATE sessions SET title = 'x'`, `UPDATE blobs SET data = x'00'`)
	for range s.Check(t.Context(), true) {
		break
	}
	if left := problems(t, s, false); len(left) != 2 {
		t.Errorf("after one of three there are left %+v", left)
	}
}

// A damaged index causes no error. The store rebuilds it.
func TestDamagedIndexIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"missing": func(t *testing.T, path string) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(path + suffix)
			}
		},
		"garbage": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("garbage ", 4096)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"cut off": func(t *testing.T, path string) {
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"an older version":     func(t *testing.T, path string) { raw(t, path, `PRAGMA user_version = 0`) },
		"ahead of the journal": func(t *testing.T, path string) { raw(t, path, `UPDATE done SET seq = seq + 5`) },
		"of another journal":   func(t *testing.T, path string) { raw(t, path, `UPDATE done SET id = 'other'`) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			lived(t, s)
			want := everythingOf(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			damage(t, s.index.path)
			s = open(t, path)
			if got := everythingOf(t, s); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if left := problems(t, s, false); len(left) != 0 {
				t.Errorf("there is %+v", left)
			}
		})
	}
}

// The index may be removed while it is open.
func TestIndexRemovedUnderUs(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	lived(t, s)
	want := everythingOf(t, s)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(s.index.path + suffix); err != nil {
			t.Skipf("an open file cannot be removed here: %v", err)
		}
	}
	if got := everythingOf(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestIndexThatIsNotOurs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change string
		want   error
	}{
		"newer":             {`PRAGMA user_version = 99`, session.ErrNewer},
		"another program's": {`PRAGMA application_id = 7`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			lived(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			raw(t, s.index.path, c.change)
			s = open(t, path)
			err := s.Index(t.Context())
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), s.index.path) {
				t.Errorf("error %v", err)
			}
			if _, err := s.Spent(t.Context(), session.Now()); err != nil {
				t.Errorf("the journal is as good as before: %v", err)
			}
		})
	}
}

// Neither file contains purged text, not even in free space.
func TestPurgedWordsAreGone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	w := writerFor(t, s)
	if _, err := w.Append(t.Context(), session.Stamp{}, user("my password is xyzzyplugh"), user(strings.Repeat("xyzzyplugh ", 3000))); err != nil {
		t.Fatal(err)
	}
	lived(t, s)
	if err := errors.Join(w.Close(), s.Purge(t.Context(), w.Session()), s.Index(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, s.index.path} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "xyzzy") {
			t.Errorf("%s still has it", filepath.Base(name))
		}
	}
}

// The costs in a note belong to that note. Check finds no fault in them, and no repair removes them.
func TestCheckKnowsWhatNotesSpent(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	id := newSession(t, s)
	if _, err := s.Annotate(t.Context(), id, session.Note{Text: "in vain", By: "p/m", Usage: llm.Usage{Input: 7, Cost: 0.5}}); err != nil {
		t.Fatal(err)
	}
	for p, err := range s.Check(t.Context(), true) {
		t.Errorf("%+v, %v", p, err)
	}
	if u, err := s.Spent(t.Context(), time.Time{}); err != nil || u.Input != 7 {
		t.Errorf("spent %+v, %v", u, err)
	}
}
