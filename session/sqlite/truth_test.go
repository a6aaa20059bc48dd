package sqlite

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// truth is what a store says, by question: the answers before an error, if there was one.
type truth map[string]*answers

type answers struct {
	list []string
	err  error
}

func (a *answers) add(v any, err error) {
	if err != nil {
		a.err = err
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.list = append(a.list, string(text))
}

// ask asks a store everything about these sessions.
func ask(ctx context.Context, path string, ids []session.SessionID) truth {
	all := truth{}
	s, err := Open(path)
	if err != nil {
		all["open"] = &answers{err: err}
		return all
	}
	defer s.Close()
	of := func(question string) *answers {
		all[question] = &answers{}
		return all[question]
	}
	for _, id := range ids {
		a := of("read " + string(id))
		for e, err := range s.Read(ctx, id, 0) {
			a.add(e, err)
		}
		a = of("notes " + string(id))
		for e, err := range s.Read(ctx, id, 0, session.Note{}.Kind(), session.Title{}.Kind()) {
			a.add(e, err)
		}
		a = of("backward " + string(id))
		for e, err := range s.Backward(ctx, id, "") {
			a.add(e, err)
		}
	}
	a := of("list")
	for sum, err := range s.List(ctx, index.Query{}) {
		a.add(sum, err)
	}
	a = of("usage")
	for row, err := range s.Usage(ctx, index.UsageQuery{By: []index.Group{index.GroupModel, index.GroupAgent}}) {
		a.add(row, err)
	}
	a = of("spent")
	a.add(s.Spent(ctx, time.Time{}))
	return all
}

// wrong returns the first answer that is neither what it should be nor an error.
func (got truth) wrong(want truth) string {
	for question, g := range got {
		w := want[question]
		if w == nil {
			continue // the store could not be opened
		}
		if question == "list" && g.err != nil { // it may leave out a session in the middle, and says so
			listed := strings.Join(w.list, "\n")
			for _, one := range g.list {
				if !strings.Contains(listed, one) {
					return question + ": " + one
				}
			}
			continue
		}
		if len(g.list) > len(w.list) || g.err == nil && len(g.list) != len(w.list) {
			return fmt.Sprintf("%s: %d answers of %d, %v", question, len(g.list), len(w.list), g.err)
		}
		for i := range g.list {
			if g.list[i] != w.list[i] {
				return fmt.Sprintf("%s: %s, want %s", question, g.list[i], w.list[i])
			}
		}
	}
	return ""
}

// conversations fills a database with sessions, one of them a fork, and returns them.
func conversations(t *testing.T, s *Store) (ids []session.SessionID) {
	t.Helper()
	said := llm.AssistantText(strings.Repeat("It turns in the wind. ", 20))
	said.Model, said.Usage = "p/m", llm.Usage{Input: 100, CacheRead: 50, Output: 20, Cost: 0.25}
	for _, rounds := range []int{12, 12, 2 * fewEntries / 3, 12, 12, 12} { // the long one is read by the index
		w := writerFor(t, s)
		ids = append(ids, w.Session())
		for i := range rounds {
			bodies := []session.Body{user(fmt.Sprint("Does the mill turn? ", i)), session.Message{Message: said}, session.Note{Text: "n"}}
			if _, err := w.Append(t.Context(), session.Stamp{Run: "r", Turn: i}, bodies...); err != nil {
				t.Fatal(err)
			}
		}
	}
	fork, err := s.Create(t.Context(), session.Created{Fork: true, From: session.Origin{Session: ids[0]}})
	if err != nil {
		t.Fatal(err)
	}
	return append(ids, fork)
}

// copied copies a database with all files of its directory, except the lock of a lease.
func copied(t *testing.T, path string, change func(name string, data []byte) []byte) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.Mkdir(to+".owners", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "-wal", ".owners/" + headsName} {
		data, err := os.ReadFile(path + name)
		if err == nil {
			if data = change(name, data); data == nil {
				continue
			}
			err = os.WriteFile(to+name, data, 0o600)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return to
}

var (
	flips = flag.Int("flips", 50, "how many bits TestDamageIsNeverReadAsTruth flips")
	seed  = flag.Uint64("flip-seed", 1, "chooses the bits")
)

// No damage is read as truth: a damaged database returns correct data or an error.
func TestDamageIsNeverReadAsTruth(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	ids := conversations(t, s)
	live := copied(t, path, func(_ string, data []byte) []byte { return data }) // as kill -9 leaves it, with a log
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := ask(t.Context(), path, ids)
	for question, a := range want {
		if a.err != nil {
			t.Fatalf("%s: %v", question, a.err)
		}
	}
	size := func(name string) int {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size())
	}
	noticed := 0
	try := func(what, from, name string, change func(data []byte) []byte) {
		to := copied(t, from, func(n string, data []byte) []byte {
			if n == name {
				return change(data)
			}
			return data
		})
		got := ask(t.Context(), to, ids)
		if wrong := got.wrong(want); wrong != "" {
			t.Errorf("%s: %s", what, wrong)
		}
		for _, a := range got {
			if a.err != nil {
				noticed++
				break
			}
		}
	}
	random := rand.New(rand.NewPCG(*seed, 2))
	for n := range *flips {
		bit := random.IntN(size(path) * 8)
		if !sample.Takes(n, 1, 4) {
			continue
		}
		try(fmt.Sprintf("bit %d of byte %d flipped", bit%8, bit/8), path, "", func(data []byte) []byte {
			data[bit/8] ^= 1 << (bit % 8)
			return data
		})
	}
	t.Logf("%d of %d flips were noticed; the others were where nothing is", noticed, *flips)
	for at := 0; at < size(path); at += 2048 {
		if !sample.Takes(at/2048, 2, 5) {
			continue
		}
		try(fmt.Sprintf("cut at %d", at), path, "", func(data []byte) []byte { return data[:at] })
	}
	for at := 0; at < size(live+"-wal"); at += 15000 {
		if !sample.Takes(at/15000, 2, 5) {
			continue
		}
		try(fmt.Sprintf("log cut at %d", at), live, "-wal", func(data []byte) []byte { return data[:at] })
	}
	try("log removed", live, "-wal", func([]byte) []byte { return nil })
	try("database removed", path, "", func([]byte) []byte { return nil })
}
