package transfer_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the difference before you keep it")

// fixtures are a session of each program, as people have them.
func fixtures(t testing.TB) map[string]string {
	return map[string]string{
		transfer.Claude:   "testdata/claude/3f0c7c1e-8a52-4b6e-9a5d-0e6a1f2b3c4d.jsonl",
		transfer.Codex:    "testdata/codex/rollout-2025-11-05T10-00-00-0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b.jsonl",
		transfer.Pi:       "testdata/pi/2025-11-07T12-00-00-000Z_a1b2c3d4-0000-4000-8000-000000000001.jsonl",
		transfer.OpenCode: openCodeDB(t),
		transfer.Crush:    crushDB(t),
	}
}

func TestGolden(t *testing.T) {
	for name, file := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			got := golden(t, store, imported(t, store, "", file))
			path := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
				for i := range max(len(g), len(w)) {
					if i >= len(g) || i >= len(w) || g[i] != w[i] {
						t.Fatalf("%s:%d differs; see -update\ngot  %s\nwant %s", path, i+1, at(g, i), at(w, i))
					}
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// An imported session can be sent to a model and continues.
func TestImportsCanGoOn(t *testing.T) {
	for name, file := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			r := imported(t, store, "", file)
			w, err := store.Open(t.Context(), r.Session, session.Lease{Owner: "test"})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if _, err := w.Append(t.Context(), session.Stamp{}, session.Message{Message: llm.UserText("go on"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}); err != nil {
				t.Fatal(err)
			}
			events, err := view.Messages(t.Context(), view.Stored(store, r.Session, ""))
			if err != nil {
				t.Fatal(err)
			}
			sent := window.Repair(events)
			if last := sent[len(sent)-1]; last.Text() != "go on" {
				t.Errorf("the last message is %q", last.Text())
			}
			open := map[string]bool{}
			for i, m := range sent {
				if strings.Contains(m.Text(), "was lost") {
					t.Errorf("message %d: a result had to be made up", i)
				}
				for _, c := range m.Calls() {
					open[c.ID] = true
				}
				if m.Role == llm.RoleTool {
					delete(open, m.CallID)
				} else if len(m.Calls()) == 0 && len(open) > 0 {
					t.Errorf("message %d comes before the results of %v", i, open)
				}
			}
		})
	}
}
