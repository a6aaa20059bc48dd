package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// These variables turn the test program into another process. They give its task, its directory and its sessions.
const (
	otherRole     = "TENON_TEST_OTHER"
	otherDir      = "TENON_TEST_OTHER_DIR"
	otherSessions = "TENON_TEST_OTHER_SESSIONS"
)

// otherMain is what the other process does.
func otherMain() int {
	store, err := sqlite.Open(filepath.Join(os.Getenv(otherDir), "sessions.db"))
	if err == nil {
		defer store.Close()
		ids := strings.Fields(os.Getenv(otherSessions))
		err = map[string]func(index.Store, []string) error{"listen": listens, "drive": drives, "ask": asks}[os.Getenv(otherRole)](store, ids)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// other starts the other process.
func other(t *testing.T, role, dir string, sessions ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), otherRole+"="+role, otherDir+"="+dir, otherSessions+"="+strings.Join(sessions, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func openStore(t *testing.T, dir string) index.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// mark of the end of a session that is followed.
const theEnd = "the end"

// listens follows sessions, attaching and leaving at random, and prints the hash of the entries of each.
func listens(store index.Store, ids []string) error {
	var all sync.WaitGroup
	hashes := make([]string, len(ids))
	for i, id := range ids {
		all.Go(func() {
			var seen []session.Event
			for after, over := int64(0), false; !over; {
				left := rand.IntN(40)
				for e, err := range store.Watch(context.Background(), session.SessionID(id), after) {
					if err != nil {
						hashes[i] = err.Error()
						return
					}
					seen, after = append(seen, e), e.Seq
					n, note := e.Body.(session.Note)
					if over = note && n.Text == theEnd; over || left == 0 {
						break
					}
					left--
				}
			}
			hashes[i] = hashOf(seen)
		})
	}
	all.Wait()
	for i, id := range ids {
		fmt.Println(id, hashes[i])
	}
	return nil
}

func hashOf(events []session.Event) string {
	data, err := json.Marshal(events)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// chancy is a model that answers at random, in pieces.
type chancy struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func (c *chancy) Model() llm.Model { return llm.Model{Provider: "test", ID: "chancy"} }

func (c *chancy) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := llm.AssistantText(strings.Repeat("word ", 1+c.rand.IntN(20)))
	if c.rand.IntN(3) == 0 && req.Messages[len(req.Messages)-1].Role == llm.RoleUser {
		for range 1 + c.rand.IntN(3) {
			name := []string{"look", "command", "change"}[c.rand.IntN(3)]
			m.Content = append(m.Content, llm.ToolCall{ID: string(session.NewID()), Name: name, Arguments: `{"path":"/x"}`})
		}
		m.Stop = llm.StopCalls
	}
	return llmtest.Stream(m, 1+c.rand.IntN(6))
}

// gaps is the transient events between entries, by the entry that ends the gap: deltas and progress put together.
type gaps map[int64]string

// hears follows an agent from an entry and returns at random, or at the end. It adds entries to seen, and the gaps that it saw to g.
func hears(ctx context.Context, a *agent.Agent, seen []session.Event, g gaps, left int) (_ []session.Event, over bool, _ error) {
	after := int64(0)
	if len(seen) > 0 {
		after = seen[len(seen)-1].Seq
	}
	gap, at := "", ""
	for e, err := range a.Follow(ctx, after) {
		if err != nil {
			return seen, false, err
		}
		if !e.Durable() {
			if e.After != after {
				return seen, false, fmt.Errorf("a transient event after entry %d comes after entry %d", e.After, after)
			}
			kind, text := e.Body.Kind(), ""
			switch b := e.Body.(type) {
			case live.Delta:
				kind, text = fmt.Sprint(kind, b.Type, b.Part), b.Text
			case live.Progress:
				kind, text = kind+b.Call, b.Text
			}
			if kind != at || text == "" {
				gap += " ." + kind + " "
			}
			gap, at = gap+text, kind
			continue
		}
		if e.Seq != after+1 {
			return seen, false, fmt.Errorf("entry %d comes after entry %d", e.Seq, after)
		}
		if gap != "" {
			g[e.Seq] = gap
		}
		seen, after, gap, at = append(seen, e), e.Seq, "", ""
		n, note := e.Body.(session.Note)
		if over = note && n.Text == theEnd; over || left == 0 {
			return seen, over, nil
		}
		left--
	}
	return seen, false, errors.New("the stream ended")
}

// Three listeners, two in the process of the agent and one in another, attach and leave at random over 1000 random runs. All see the same
// entries; the two see the same transient events between them, where they see them.
func TestThreeListeners(t *testing.T) {
	const sessions, runs = 20, 50
	dir := t.TempDir()
	store := openStore(t, dir)
	agents := make([]*agent.Agent, sessions)
	var ids []string
	for i := range agents {
		var log callLog
		a, err := agent.New(t.Context(), store, agent.Options{
			Client: &chancy{rand: rand.New(rand.NewPCG(7, uint64(i)))}, Tools: log.tools(), Gate: agent.AllowAll(),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		agents[i] = a
		ids = append(ids, string(a.Session()))
	}
	cmd, lines := other(t, "listen", dir, ids...)
	var all sync.WaitGroup
	hashes := map[string]string{}
	var mu sync.Mutex
	for i, a := range agents {
		seen := make([][]session.Event, 3) // the last listener never leaves
		heard := []gaps{{}, {}, {}}
		var listeners sync.WaitGroup
		for n := range seen {
			listeners.Go(func() {
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				for over := false; !over; {
					left := 1 << 30
					if n < 2 {
						left = r.IntN(60)
					}
					var err error
					if seen[n], over, err = hears(t.Context(), a, seen[n], heard[n], left); err != nil {
						t.Errorf("session %s, listener %d: %v", a.Session(), n, err)
						return
					}
				}
			})
		}
		all.Go(func() {
			for range runs {
				if _, err := agent.Wait(a.Run(t.Context(), text("go"))); err != nil {
					t.Error(err)
				}
				if _, err := store.Annotate(t.Context(), a.Session(), session.Note{Text: "from elsewhere"}); err != nil {
					t.Error(err)
				}
			}
			if err := a.Record(t.Context(), session.Note{Text: theEnd}); err != nil {
				t.Error(err)
			}
			listeners.Wait()
			for n := range 2 {
				if hashOf(seen[n]) != hashOf(seen[2]) {
					t.Errorf("session %s: listener %d saw other entries", a.Session(), n)
				}
				for seq, gap := range heard[n] {
					if whole := heard[2][seq]; whole != "" && gap != whole {
						t.Errorf("session %s: before entry %d listener %d saw\n%s\nand the one that never leaves\n%s", a.Session(), seq, n, gap, whole)
					}
				}
			}
			checkEntries(t, seen[2])
			mu.Lock()
			defer mu.Unlock()
			hashes[string(a.Session())] = hashOf(seen[2])
		})
	}
	all.Wait()
	for lines.Scan() {
		id, hash, _ := strings.Cut(lines.Text(), " ")
		if hashes[id] != hash {
			t.Errorf("session %s: the other process saw %s, this one %s", id, hash, hashes[id])
		}
		delete(hashes, id)
	}
	if err := cmd.Wait(); err != nil || len(hashes) > 0 {
		t.Errorf("the other process: %v; it said nothing of %v", err, hashes)
	}
}

// drives changes the drafts of a session, answers its question, and aborts its run.
func drives(store index.Store, ids []string) error {
	ctx, id := context.Background(), session.SessionID(ids[0])
	request := func(b session.Body) error {
		_, err := request.Send(ctx, store, id, b)
		return err
	}
	for e, err := range store.Watch(ctx, id, 0) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case session.Asking:
			for _, draft := range []session.ID{"a", "b", "c"} {
				if err := request(session.Queued{Draft: draft, Change: "added", Lane: session.FromFollowUp, Message: llm.UserText(string(draft)), Speaker: session.Speaker{Kind: session.SpeakerPerson}}); err != nil {
					return err
				}
			}
			err := errors.Join(
				request(session.Queued{Draft: "b", Change: "edited", Message: llm.UserText("B"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}),
				request(session.Queued{Draft: "c", Change: "moved", Before: "b"}),
				request(session.Queued{Draft: "a", Change: "removed"}),
				request(session.Answered{ID: b.ID, Answers: []ask.Answer{{Allow: true}}}),
			)
			if second := request(session.Answered{ID: b.ID, Answers: []ask.Answer{{}}}); !late(second) {
				err = errors.Join(err, fmt.Errorf("a second answer: %w", second))
			}
			if gone := request(session.Queued{Draft: "a", Change: "edited", Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}); !late(gone) {
				err = errors.Join(err, fmt.Errorf("an edit of a draft that is gone: %w", gone))
			}
			if err != nil {
				return err
			}
		case session.CallStarted: // the call is slow
			if err := request(session.Abort{Run: e.Run}); err != nil {
				return err
			}
		case session.RunEnded:
			if err := request(session.Abort{}); !late(err) {
				return fmt.Errorf("an abort after the end: %w", err)
			}
			return nil
		}
	}
	return nil
}

// Another process adds, edits, moves and removes drafts of a run, answers its question and aborts it.
func TestAnotherProcessDrivesTheRun(t *testing.T) {
	dir := t.TempDir()
	b := &bench{t: t, store: openStore(t, dir), client: llmtest.New(t, "call nap\n---\ntext never asked"), log: &callLog{}}
	a, err := agent.New(t.Context(), b.store, agent.Options{Client: b.client, Tools: b.log.tools(), Gate: asking(&b)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b.Agent = a
	cmd, _ := other(t, "drive", dir, string(a.Session()))
	events := b.run("go")
	endsWith(t, events, session.ReasonCancelled, "aborted")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: %v", err)
	}
	same(t, draftTexts(b), "follow_up c, follow_up B")
	kinds := strings.Fields(trace(events))
	if !slices.Contains(kinds, "asked") || !slices.Contains(kinds, "answered") {
		t.Errorf("the listener saw\n%s", trace(events))
	}
	checkJournal(t, b)
}

// asks runs an agent that asks a question, and waits for the answer until it is killed.
func asks(store index.Store, ids []string) error {
	var b *bench
	var log callLog
	a, err := agent.Open(context.Background(), store, session.SessionID(ids[0]), agent.Options{
		Client: llmtest.Must(questionable), Tools: log.tools(), Gate: asking(&b),
	})
	if err != nil {
		return err
	}
	b = &bench{Agent: a}
	for e, err := range a.Run(context.Background(), llm.UserText("go")) {
		if err != nil {
			return err
		}
		fmt.Println(e.Body.Kind())
	}
	return errors.New("the question was answered")
}

// A process is killed while its question is open. The next one finds the question, and an answer lets the calls run.
func TestKilledWithAnOpenQuestion(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	id, err := store.Create(t.Context(), session.Created{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	cmd, lines := other(t, "ask", dir, string(id))
	var shown bytes.Buffer
	for lines.Scan() && lines.Text() != "asking" {
		shown.WriteString(lines.Text() + "\n")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatalf("%v\n%s", err, shown.String())
	}
	_ = cmd.Wait() // it was killed

	b := &bench{t: t, store: store, client: llmtest.New(t, questionable, llmtest.ByHistory()), log: &callLog{}}
	a, err := agent.Open(t.Context(), store, id, agent.Options{Client: b.client, Tools: b.log.tools(), Gate: asking(&b)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b.Agent = a
	open := b.Requests().Questions
	if len(open) != 1 || len(open[0].Calls) != 2 {
		t.Fatalf("open questions: %+v", open)
	}
	if _, err := b.Request(t.Context(), session.Answered{ID: open[0].ID, Answers: allow(2)}); err != nil {
		t.Fatal(err)
	}
	endsWith(t, collect(t, b.Continue(t.Context(), agent.Continuation{})), session.ReasonDone, "")
	same(t, b.outcomes(), `
		user "go"
		assistant call look call change
		tool look ok "seen /a"
		tool change ok "changed /b"
		assistant "Done."`)
	checkJournal(t, b)
}
