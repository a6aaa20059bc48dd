package sqlite

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// searchEnv says how many megabytes of sessions BenchmarkSearch makes.
const searchEnv = "TENON_BENCH_SEARCH_MB"

// sources is the text of Go's own sources, over and over.
type sources struct {
	text []byte
	at   int
	rand *rand.Rand
}

func goSources(b *testing.B) *sources {
	b.Helper()
	s := &sources{rand: rand.New(rand.NewPCG(1, 2))}
	root, err := exec.CommandContext(b.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip(err)
	}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		data, err := os.ReadFile(name)
		s.text = append(append(s.text, "// "+filepath.ToSlash(name)+":1\n"...), data...)
		return err
	})
	if err != nil || len(s.text) < 10<<20 {
		b.Skipf("there are no sources of Go here: %v", err)
	}
	return s
}

// next is the next so many bytes.
func (s *sources) next(size int) string {
	if s.at+size > len(s.text) {
		s.at = 0
	}
	s.at += size
	return strings.ToValidUTF8(string(s.text[s.at-size:s.at]), "")
}

// fillWith makes sessions of so many megabytes: questions, answers with a call, and results of 1 to 20 KB.
func fillWith(b *testing.B, s *Store, megabytes int) {
	b.Helper()
	talk := goSources(b)
	for size, n := 0, 0; size < megabytes<<20; n++ {
		w := writerFor(b, s)
		for range 20 {
			var bodies []session.Body
			for range 5 {
				call := llm.ToolCall{ID: "c", Name: "read", Arguments: fmt.Sprintf(`{"path":"net/http/file%d.go"}`, n)}
				m := llm.AssistantText(talk.next(600))
				m.Content = append(m.Content, call)
				result := talk.next(1000 << talk.rand.IntN(5))
				bodies = append(bodies, user(talk.next(200)), session.Message{Message: m}, session.Message{Message: llm.ToolText(call, result, false)})
				size += 850 + len(result)
			}
			if n == 7 {
				bodies = append(bodies, user("the needle in the haystack, 会话的存储"))
			}
			if _, err := w.Append(b.Context(), session.Stamp{}, bodies...); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func sizeOf(b *testing.B, paths ...string) (total float64) {
	b.Helper()
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			total += float64(info.Size())
		}
	}
	return total / 1e6
}

// BenchmarkSearch makes 200 MB of sessions, or as many as TENON_BENCH_SEARCH_MB says, indexes them, and searches.
func BenchmarkSearch(b *testing.B) {
	megabytes := 200
	if text := os.Getenv(searchEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		megabytes = n
	}
	path := filepath.Join(b.TempDir(), "sessions.db")
	s := open(b, path)
	fillWith(b, s, megabytes)
	start := time.Now()
	if err := s.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start).Seconds()
	size := sizeOf(b, path, path+"-wal")
	b.Logf("%.0f MB, indexed in %.0f s, the index has %.0f MB", size, took, sizeOf(b, s.index.path, s.index.path+"-wal"))
	for _, c := range []struct{ name, text string }{
		{"rare", "needle haystack"},
		{"common", "error"},
		{"two common", "func return"},
		{"three common", "error nil string"},
		{"phrase", `"if err := json"`},
		{"phrase of common", `"return nil"`},
		{"path", "net/http/server.go"},
		{"part of a name", "Unmarshal"},
		{"beginning", "unmar*"},
		{"short beginning", "un*"},
		{"Chinese", "会话"},
		{"but not", "func -return"},
		{"nothing", "nowhereatall"},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = 0
				for _, err := range s.Search(b.Context(), search.Request{Text: c.text}) {
					if n++; err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(n), "hits")
		})
	}
	b.Run("one session", func(b *testing.B) {
		id := session.SessionID("")
		for sum, err := range s.List(b.Context(), index.Query{Limit: 1}) {
			if err != nil {
				b.Fatal(err)
			}
			id = sum.ID
		}
		for b.Loop() {
			for _, err := range s.Search(b.Context(), search.Request{Text: "error", Session: id}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("after an append", func(b *testing.B) {
		w := writerFor(b, s)
		for b.Loop() {
			if _, err := w.Append(b.Context(), session.Stamp{}, user(fmt.Sprint("the newest ", b.N))); err != nil {
				b.Fatal(err)
			}
			for _, err := range s.Search(b.Context(), search.Request{Text: "newest"}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
