package app

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// childDir is the variable with the working directory of this test's child process.
const childDir = "TENON_TEST_COMPACTING"

// A process that is killed while it writes a summary during its run loses nothing: the session opens, the context window is unchanged, and
// the process that continues makes the next summary.
func TestAProcessIsKilledWhileItSumsUp(t *testing.T) {
	if base := os.Getenv(childDir); base != "" {
		sumUpForEver(t, base)
		return
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessIsKilledWhileItSumsUp$", "-test.v")
	child.Env = append(os.Environ(), childDir+"="+base)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	id, lines := session.SessionID(""), bufio.NewScanner(out)
	for id == "" && lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "summing up "); ok {
			id = session.SessionID(rest)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // it says that it was killed
	if id == "" {
		t.Fatal("the child never came to sum up")
	}

	w := newWorkplaceIn(t, base)
	before := w.said(id)
	ag, err := w.app.Resume(t.Context(), id, w.spec)
	if err != nil {
		t.Fatal(err)
	}
	w.use(ag)
	n := 0
	w.answer = func(*llm.Request) llm.Message {
		if n++; n < 15 {
			return calls("read", fmt.Sprintf(`{"path": "f%d.txt"}`, 100+n))
		}
		return llm.AssistantText("Done.")
	}
	events := w.ask("Go on.")
	if len(of[session.Summarized](events)) == 0 {
		t.Error("the run made no summary")
	}
	w.wants(w.sent(0), "The needle is blue")
	if after := w.said(id); !strings.HasPrefix(after, before) || len(before) < 10_000 {
		t.Errorf("of %d bytes of the conversation not all is there", len(before))
	}
}

// sumUpForEver runs until it is killed.
func sumUpForEver(t *testing.T, base string) {
	w := newWorkplaceIn(t, base)
	for i := range 120 {
		w.write(fmt.Sprintf("repo/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d that is read once\n", i), 60))
	}
	w.sum = func(ctx context.Context) {
		fmt.Println("summing up " + w.agent.Session())
		<-ctx.Done()
	}
	n := 0
	w.answer = func(*llm.Request) llm.Message {
		n++
		return calls("read", fmt.Sprintf(`{"path": "f%d.txt"}`, n%100))
	}
	w.open()
	w.ask("Read on and on. The needle is blue.")
}

// said is the whole conversation of a session as the journal has it, but for an answer that was cut off.
func (w *workplace) said(id session.SessionID) string {
	w.t.Helper()
	messages, err := view.Messages(w.t.Context(), view.Stored(w.app.Store, id, ""))
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range messages {
		m := e.Body.(session.Message)
		if m.Stop == llm.StopAborted {
			continue // it starts again
		}
		fmt.Fprintf(&b, "[%s %s] %s\n", m.Role, m.CallID, m.Text())
	}
	return b.String()
}
