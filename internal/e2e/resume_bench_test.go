package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// resumeName is what the test binary is called when it is to resume a session and say what that took.
const resumeName = "resume"

// BenchmarkLongSession resumes a session of 20 000 turns, 200 MB, in a process of its own, and makes its next request. It does the same with
// a short session of the same kind: both must cost the same.
func BenchmarkLongSession(b *testing.B) {
	for _, turns := range []int{200, 20_000} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "sessions.db")
			id := longSession(b, path, "/home/me/mill", turns)
			if info, err := os.Stat(path); err == nil {
				b.Logf("%d MB", info.Size()>>20)
			}
			b.Run("resume", func(b *testing.B) { resumes(b, path, id) })
			b.Run("request", func(b *testing.B) { nextRequests(b, path, id) })
		})
	}
}

// longModel is the model of the session. No request reaches a server.
type longModel struct{ llm.Client }

func (longModel) Model() llm.Model {
	return llm.Model{Provider: "p", ID: "m", Context: 200_000, MaxOutput: 32_000}
}

// longSession writes a session: in each turn a call with a result of 8 KB, every tenth a question, every fifth a change of a file; and
// a summary whenever the window is full.
func longSession(b *testing.B, path, dir string, turns int) session.SessionID {
	store, err := sqlite.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	ctx := b.Context()
	id, err := store.Create(ctx, session.Created{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	w, err := store.Open(ctx, id, session.Lease{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	model := longModel{}.Model()
	epoch := session.Epoch{Reason: "start", Model: model, System: "Be good."}
	var bodies []session.Body
	var last session.ID
	flush := func() {
		events, err := w.Append(ctx, session.Stamp{Run: "run", Turn: 1}, bodies...)
		if err != nil {
			b.Fatal(err)
		}
		last, bodies = events[len(events)-1].ID, nil
	}
	result := strings.Repeat("func part(x int) int { return x + 1 } // as it says, and no more than that\n", 133)
	bodies = append(bodies, session.RunStarted{Run: "run"})
	for i := range turns {
		if i%10 == 0 {
			bodies = append(bodies, session.Message{Message: llm.UserText(fmt.Sprintf("Question %d: what does the next part do?", i)), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
		}
		if i%60 == 0 {
			if i > 0 {
				flush()
				bodies = append(bodies, session.Summarized{Through: last, Reason: "full", Summary: strings.Repeat("So far. ", 500)})
				epoch.Reason = "compaction"
			}
			bodies = append(bodies, epoch)
		}
		name := fmt.Sprintf("/home/me/mill/part%d.go", i)
		c := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "read", Arguments: fmt.Sprintf(`{"path":%q}`, name)}
		answer := llm.Message{Role: llm.RoleAssistant, Model: model.Ref(), Content: llm.Content{llm.Text{Text: "I read the next part."}, c}}
		answer.Usage = llm.Usage{Input: int64(2100 * (i%60 + 1)), Output: 40}
		bodies = append(bodies,
			session.Requested{Model: model.Ref(), Segments: 2, Hashes: []string{"0123456789abcdef", "0123456789abcdef"}, Scale: 1},
			session.Message{Message: answer},
			session.CallStarted{
				Call: c.ID, Tool: c.Name, Arguments: json.RawMessage(c.Arguments), Effects: json.RawMessage(fmt.Sprintf(`{"reads":[{"name":%q}]}`, name)),
			},
			session.Message{Message: llm.ToolText(c, fmt.Sprint(i, "\n", result), false)})
		if i%5 == 0 {
			bodies = append(bodies, session.FilesChanged{Call: c.ID, Cause: session.ByTool, Files: []session.FileChange{{Path: name}}})
		}
		if i%50 == 0 {
			draft := session.NewID()
			bodies = append(bodies, session.Queued{Draft: draft, Change: "added", Message: llm.UserText("And quick."), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
				session.Queued{Draft: draft, Change: "taken"})
		}
	}
	bodies = append(bodies, session.Message{Message: llm.AssistantText("All is read.")}, session.RunEnded{Reason: session.ReasonDone})
	flush()
	return id
}

// resumes takes the session up in processes of their own.
func resumes(b *testing.B, path string, id session.SessionID) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var took, memory []float64
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), self, path, string(id))
		cmd.Args[0] = resumeName
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err, string(out))
		}
		var ms, mb float64
		if _, err := fmt.Sscan(string(out), &ms, &mb); err != nil {
			b.Fatal(err)
		}
		took, memory = append(took, ms), append(memory, mb)
	}
	slices.Sort(took)
	slices.Sort(memory)
	b.ReportMetric(took[len(took)/2], "median-ms")
	b.ReportMetric(memory[len(memory)/2], "peak-MB")
}

// resume takes a session up until a person can go on: its agent is there, and the next request is made. It prints the milliseconds that took
// and the most memory that the process had, in MB.
func resume(path, id string) (err error) {
	start := time.Now()
	ctx := context.Background()
	store, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	w := window.New(window.Options{})
	defer w.Close()
	a, err := agent.Open(ctx, store, session.SessionID(id), agent.Options{Client: longModel{offline.New()}, Window: w, System: "Be good."})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if _, err := a.Prepare(ctx); err != nil {
		return err
	}
	fmt.Println(float64(time.Since(start).Microseconds())/1000, peak())
	return nil
}

// peak is the most memory that this process had, in MB; 0 where the system does not say.
func peak() float64 {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(data) {
		var kb float64
		if _, err := fmt.Sscanf(string(line), "VmHWM: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	return 0
}

// nextRequests makes the next request of the session, as a run does that is on.
func nextRequests(b *testing.B, path string, id session.SessionID) {
	store, err := sqlite.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	branch, err := view.NewBranch(b.Context(), store, id)
	if err != nil {
		b.Fatal(err)
	}
	w := window.New(window.Options{})
	defer w.Close()
	h := window.Header{Model: longModel{}.Model(), System: "Be good."}
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		req, entries, err := w.Request(b.Context(), branch, h)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := window.Seal(b.Context(), branch, entries, req); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}
