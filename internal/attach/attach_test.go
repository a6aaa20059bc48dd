//go:build linux || darwin

package attach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
)

func TestMain(m *testing.M) {
	if os.Getenv(dialVar) != "" {
		os.Exit(dialMain())
	}
	goleak.VerifyTestMain(m)
}

// dataDir is a data directory with a short path.
func dataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "at")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// serve serves a conversation and returns a client of it.
func serve(t testing.TB, c conversation.Conversation, dir string, id session.SessionID) *Client {
	t.Helper()
	s, err := Serve(c, dir, id, "a test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return dial(t, dir, id, "one")
}

func dial(t testing.TB, dir string, id session.SessionID, name string) *Client {
	t.Helper()
	c, err := Dial(context.Background(), dir, id, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// local is a conversation with a model that answers by f.
func local(t testing.TB, f func(ctx context.Context, r *llm.Request) (llm.Message, error)) *conversation.Local {
	t.Helper()
	c, _, err := conversation.Open(context.Background(), memory.New(), conversation.Which{Dir: "/a"}, agent.Options{Client: llmtest.Func(f)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func says(text string) func(context.Context, *llm.Request) (llm.Message, error) {
	return func(context.Context, *llm.Request) (llm.Message, error) { return llm.AssistantText(text), nil }
}

// A client prompts and sees what a listener in the process of the session sees, in the same order.
func TestAClientSeesTheSame(t *testing.T) {
	c := local(t, says("Well, well."))
	client := serve(t, c, dataDir(t), c.Session())
	var seen []session.Event
	for e, err := range client.Run(t.Context(), conversation.Prompt{Message: llm.UserText("How are you?")}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e)
	}
	if end, ok := seen[len(seen)-1].Body.(session.RunEnded); !ok || end.Reason != session.ReasonDone {
		t.Errorf("the last event is %+v", seen[len(seen)-1])
	}
	remote, err1 := client.State(t.Context())
	here, err2 := c.State(t.Context())
	if err := errors.Join(err1, err2); err != nil || fmt.Sprintf("%+v", remote) != fmt.Sprintf("%+v", here) {
		t.Errorf("the state is\n%+v\nwant\n%+v, %v", remote, here, err)
	}
	next := func(c conversation.Conversation) (kinds string, speaker session.Speaker) {
		for e, err := range c.Follow(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			kinds += fmt.Sprint(e.Seq, e.Kind(), " ")
			if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleUser {
				speaker = m.Speaker
			}
			if e.Seq == here.Seq {
				break
			}
		}
		return kinds, speaker
	}
	got, by := next(client)
	if want, _ := next(c); got != want || by != (session.Speaker{Kind: session.SpeakerPerson, Name: "one"}) {
		t.Errorf("%s by %+v, want %s", got, by, want)
	}
	if err := client.Rename(t.Context(), " "); err != conversation.ErrNoTitle {
		t.Errorf("an empty title: %v", err)
	}
}

// Of two clients that answer a question, the first one counts. The second gets the typed error, and both see who it was.
func TestTwoClientsAnswer(t *testing.T) {
	c := local(t, says(""))
	dir := dataDir(t)
	one := serve(t, c, dir, c.Session())
	two := dial(t, dir, c.Session(), "two")
	asked := make(chan []ask.Answer, 1)
	go func() {
		answers, err := c.Ask(context.Background(), session.Asking{Questions: []ask.Question{{Text: "Why?"}}})
		if err != nil {
			t.Error(err)
		}
		asked <- answers
	}()
	var id string
	for e, err := range two.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := e.Body.(session.Asking); ok {
			id = q.ID
			break
		}
	}
	if err := one.Answer(t.Context(), id, ask.Answer{Choices: []string{"because"}}); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; len(got) != 1 || got[0].Choices[0] != "because" {
		t.Errorf("the answers are %+v", got)
	}
	err := two.Answer(t.Context(), id, ask.Answer{Choices: []string{"no"}})
	if late, ok := errors.AsType[*request.LateError](err); !ok || late.ID != id || late.By == 0 {
		t.Errorf("the second answer: %v", err)
	}
	for e, err := range two.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := e.Body.(session.Answered); ok {
			if a.By.Name != "one" || a.By.Kind != session.SpeakerPerson {
				t.Errorf("the answer is by %+v", a.By)
			}
			break
		}
	}
}

// A client that does not read stops neither the agent nor other clients, and gets all entries later. A run outlives the client that started it.
func TestASlowClient(t *testing.T) {
	const turns = 300
	n := 0
	c := local(t, func(context.Context, *llm.Request) (llm.Message, error) {
		if n++; n == turns {
			return llm.AssistantText("done"), nil
		}
		return llm.Message{Role: llm.RoleAssistant, Content: llm.Content{llm.ToolCall{ID: fmt.Sprint(n), Name: "none", Arguments: `{"x":"` + strings.Repeat("x", 4<<10) + `"}`}}}, nil
	})
	dir := dataDir(t)
	slow := serve(t, c, dir, c.Session())
	var last int64
	for e, err := range slow.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if last++; e.Seq != last && e.Durable() {
			t.Fatalf("entry %d follows %d", e.Seq, last-1)
		}
		if e.Seq == 1 { // it reads nothing while the run goes on
			other := dial(t, dir, c.Session(), "other")
			for range other.Run(t.Context(), conversation.Prompt{Message: llm.UserText("go")}) {
				break // the client leaves at once
			}
			for e, err := range c.Follow(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := e.Body.(session.RunEnded); ok {
					break
				}
			}
		}
		if !e.Durable() {
			last--
		}
		if _, ok := e.Body.(session.RunEnded); ok {
			break
		}
	}
}

// The end of a context cancels a run that a client started.
func TestACancelledRun(t *testing.T) {
	c := local(t, func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
		<-ctx.Done()
		return llm.Message{}, ctx.Err()
	})
	client := serve(t, c, dataDir(t), c.Session())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var reason session.Reason
	for e, err := range client.Run(ctx, conversation.Prompt{Message: llm.UserText("go")}) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case live.TurnStarted:
			cancel()
		case session.RunEnded:
			reason = b.Reason
		}
	}
	if reason != session.ReasonCancelled {
		t.Errorf("the run ended with %q", reason)
	}
}

// The socket of a killed process is found to be dead, and the next process replaces it. Only its owner can use it.
func TestSockets(t *testing.T) {
	c, dir := local(t, says("")), dataDir(t)
	id := c.Session()
	if _, err := Find(t.Context(), dir, id); !errors.Is(err, ErrGone) {
		t.Errorf("without a server: %v", err)
	}
	if err := makeDir(Dir(dir)); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: Path(dir, id), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	dead := filepath.Join(Dir(dir), "dead.sock")
	if err := errors.Join(os.WriteFile(dead, nil, 0o600), os.Chtimes(dead, old, old)); err != nil {
		t.Fatal(err)
	}
	if live, err := List(t.Context(), dir); err != nil || len(live) != 0 {
		t.Errorf("with a dead socket: %+v, %v", live, err)
	}
	if _, err := os.Lstat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old dead socket: %v", err)
	}
	first, err := Serve(c, dir, id, "first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Serve(c, dir, id, "second") // which took the session over
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	live, err := List(t.Context(), dir)
	if err != nil || len(live) != 1 || live[0].ID != id || live[0].Owner != "second" || live[0].PID != os.Getpid() {
		t.Errorf("the sessions are %+v, %v", live, err)
	}
	socket, err1 := os.Lstat(Path(dir, id))
	directory, err2 := os.Lstat(Dir(dir))
	if err := errors.Join(err1, err2); err != nil || socket.Mode().Perm() != 0o600 || directory.Mode().Perm() != 0o700 {
		t.Errorf("the modes are %v and %v, %v", socket.Mode(), directory.Mode(), err)
	}
	client := dial(t, dir, id, "")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.State(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("after the end of the server: %v", err)
	}
	if entries, err := os.ReadDir(Dir(dir)); err != nil || len(entries) != 0 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// A data directory with a long path has its sockets elsewhere, in a directory that no other account made.
func TestALongDataDirectory(t *testing.T) {
	c := local(t, says(""))
	dir := filepath.Join(dataDir(t), strings.Repeat("long/", 30))
	if at := Dir(dir); !strings.HasPrefix(at, "/tmp/tenon-") || len(Path(dir, "123456789012")) > 103 {
		t.Fatalf("the directory is %s", at)
	}
	defer os.RemoveAll(Dir(dir))
	if _, err := serve(t, c, dir, c.Session()).State(t.Context()); err != nil {
		t.Error(err)
	}
	if Dir(dir+"x") == Dir(dir) {
		t.Error("two data directories share the sockets")
	}
	link := dataDir(t)
	if err := os.Symlink(Dir(dir), filepath.Join(link, DirName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(c, link, c.Session(), ""); !errors.Is(err, ErrRefused) {
		t.Errorf("a link in place of the directory: %v", err)
	}
}

// A server that closes ends the streams of its clients.
func TestCloseWithClients(t *testing.T) {
	c, dir := local(t, says("")), dataDir(t)
	s, err := Serve(c, dir, c.Session(), "a test")
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, dir, c.Session(), "one")
	var works sync.WaitGroup
	following := make(chan struct{})
	works.Go(func() {
		for _, err := range client.Follow(context.Background(), 0) {
			if err != nil {
				if !errors.Is(err, ErrGone) && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			select {
			case <-following:
			default:
				close(following)
			}
		}
	})
	<-following
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	works.Wait()
}
