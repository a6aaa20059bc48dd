package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// workplace is a person with a repository and an agent in it.
type workplace struct {
	t          *testing.T
	home, repo string
	getenv     func(string) string
	app        *App
	spec       Spec

	sum     func(ctx context.Context) // is called before a summary; nil: nothing
	failing error                     // of summaries

	mu       sync.Mutex
	requests []*llm.Request
	answer   func(req *llm.Request) llm.Message
	agent    *Agent
	events   []session.Event
}

const smallWindow = 16_000 // tokens

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newWorkplaceIn(t, base)
}

// newWorkplaceIn is newWorkplace in a directory that may have been one before.
func newWorkplaceIn(t *testing.T, base string) *workplace {
	t.Helper()
	var err error
	w := &workplace{t: t, home: filepath.Join(base, "home"), repo: filepath.Join(base, "repo")}
	w.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	w.write("home/.keep", "")
	w.getenv = vars("HOME", w.home, "TENON_DATA_DIR", filepath.Join(base, "data"))
	if w.app, err = Open(w.getenv, "test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.app.Close(); err != nil {
			t.Error(err)
		}
	})
	w.configure()
	return w
}

// configure reads the configuration as it is now.
func (w *workplace) configure() {
	w.t.Helper()
	s, err := NewSetup(w.getenv, w.repo, "test")
	if err != nil {
		w.t.Fatal(err)
	}
	w.spec = s.Spec()
	w.spec.Client = llmtest.Func(w.reply, llmtest.WithModel(llm.Model{Provider: "test", ID: "small", Context: smallWindow}))
	w.spec.Bounds = s.Bounds(w.repo)
	w.spec.Bounds.Sandbox, w.spec.Bounds.Off = nil, "off in this test"
	if w.spec.Policy, err = s.Policy(w.spec.Bounds, Permissions{Mode: permission.Edits}); err != nil {
		w.t.Fatal(err)
	}
	if w.spec.Skills, err = s.Skills(w.repo); err != nil {
		w.t.Fatal(err)
	}
	w.spec.Limits.Turns = 1000
	w.spec.Titles.Off = true
}

func (w *workplace) write(name, text string) {
	w.t.Helper()
	name = filepath.Join(filepath.Dir(w.repo), name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// reply is the model: a wish for a summary gets one, everything else what the test says.
func (w *workplace) reply(ctx context.Context, req *llm.Request) (llm.Message, error) {
	if wish := req.Messages[len(req.Messages)-1]; strings.Contains(wish.Text(), "Write a summary of this conversation") {
		if w.sum != nil {
			w.sum(ctx)
		}
		if w.failing != nil {
			return llm.Message{}, w.failing
		}
		if ctx.Err() != nil {
			return llm.Message{}, ctx.Err()
		}
		var b strings.Builder
		for _, s := range window.Sections() {
			fmt.Fprintf(&b, "## %s\nSummed up.\n\n", s)
		}
		return llm.AssistantText(b.String()), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, req)
	return w.answer(req), nil
}

// script lets the model give one answer after the other. A text that begins with a brace is the arguments of the call of the tool before it.
func (w *workplace) script(answers ...llm.Message) {
	w.answer = func(*llm.Request) llm.Message {
		if len(answers) == 0 {
			return llm.AssistantText("Done.")
		}
		next := answers[0]
		answers = answers[1:]
		return next
	}
}

// calls is an answer with a call.
func calls(tool, arguments string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Stop: llm.StopCalls, Content: llm.Content{
		llm.Text{Text: "Next."}, llm.ToolCall{Name: tool, Arguments: arguments},
	}}
}

// open makes an agent with a new session.
func (w *workplace) open() {
	w.t.Helper()
	ag, err := w.app.New(w.t.Context(), w.spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.use(ag)
}

// again closes the agent and continues its session, as another process would.
func (w *workplace) again() {
	w.t.Helper()
	id := w.agent.Session()
	w.close()
	w.configure()
	ag, err := w.app.Resume(w.t.Context(), id, w.spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.use(ag)
}

func (w *workplace) use(ag *Agent) {
	w.agent = ag
	w.t.Cleanup(w.close)
}

func (w *workplace) close() {
	if w.agent == nil {
		return
	}
	if err := w.agent.Close(); err != nil {
		w.t.Error(err)
	}
	w.agent = nil
}

// ask runs the agent on a prompt and returns the events.
func (w *workplace) ask(prompt string) []session.Event {
	w.t.Helper()
	var events []session.Event
	for e, err := range w.agent.Run(w.t.Context(), llm.UserText(prompt)) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e)
		if r, ok := e.Body.(session.Requested); ok && r.Broken != "" {
			w.t.Errorf("within an epoch %s has changed", r.Broken)
		}
	}
	w.events = append(w.events, events...)
	if end, ok := events[len(events)-1].Body.(session.RunEnded); !ok || end.Reason != session.ReasonDone {
		w.t.Errorf("the run ended with %+v", events[len(events)-1].Body)
	}
	return events
}

// sent is the text of a request: the last one, or one from the end.
func (w *workplace) sent(back int) string {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, m := range w.requests[len(w.requests)-1-back].Messages {
		fmt.Fprintf(&b, "[%s] %s\n", m.Role, m.Text())
	}
	return b.String()
}

func of[B session.Body](events []session.Event) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

func (w *workplace) wants(text string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			w.t.Errorf("no %q in\n%s", p, text)
		}
	}
}

// A session that is far longer than the window of its model goes on, keeps what people said and what holds of the place, and every request fits.
func TestASessionThatIsLongerThanItsWindow(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/AGENTS.md", "Use tabs.")
	w.write("repo/sub/AGENTS.md", "In sub, use spaces.")
	const files = 60
	for i := range files {
		w.write(fmt.Sprintf("repo/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d, which is read once and not needed again\n", i), 60))
	}
	w.write("repo/sub/g.txt", "one line")
	n := 0
	w.answer = func(req *llm.Request) llm.Message {
		used := window.Header{Model: w.spec.Client.Model()}
		if estimate, usable := (&window.View{Messages: req.Messages}).Estimate(used).Tokens, window.Usable(used); estimate > usable {
			t.Errorf("request %d has about %d tokens of %d", len(w.requests), estimate, usable)
		}
		n++
		switch n {
		case 20:
			w.write("repo/AGENTS.md", "Use spaces, from now on.")
		case 30:
			return calls("read", `{"path": "sub/g.txt"}`)
		case files:
			return llm.AssistantText("All read.")
		}
		return calls("read", fmt.Sprintf(`{"path": "f%d.txt"}`, n))
	}
	w.open()
	events := w.ask("Read all files. The needle is blue.")
	epochs := of[session.Epoch](events)
	if summaries := of[session.Summarized](events); len(summaries) < 2 || summaries[0].By != "test/small" {
		t.Errorf("%d summaries in %d epochs", len(summaries), len(epochs))
	}
	for i := range w.requests {
		text := w.sent(i)
		if !strings.Contains(text, "The needle is blue") || !strings.Contains(text, "Working directory: "+w.repo) {
			t.Fatalf("request %d from the end has lost what it must keep:\n%.2000s", i, text)
		}
	}
	last := w.sent(0)
	w.wants(last, "Use spaces, from now on.", "In sub, use spaces.", `<context name="sub/AGENTS.md">`, "## Goal")
	if strings.Contains(last, "Use tabs.") {
		t.Error("the model still sees the old instructions")
	}
	if strings.Contains(w.sent(len(w.requests)-1), "In sub") {
		t.Error("the model sees the nested file before a call touched its directory")
	}

	// Another process takes it up: the window is the same, and the model knows only what it still sees.
	w.again()
	w.script(calls("edit", `{"path": "f1.txt", "old_text": "line of file 1, which", "new_text": "x"}`))
	w.ask("Go on.")
	w.wants(w.sent(0), "The needle is blue", "In sub, use spaces.", "was not read yet")
	if news := of[session.Context](w.events[len(events):]); len(news) != 0 {
		t.Errorf("the model sees the same blocks again: %+v", news)
	}
}

// If the workspace changes during the session, Tenon adds the news to the end of the conversation and changes nothing before it.
func TestChangesOfTheWorkspaceComeAtTheEnd(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/CLAUDE.md", "Old rules. See @rules.md.")
	w.write("repo/rules.md", "The rules.")
	day := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	w.spec.now = func() time.Time { return day }
	w.script()
	w.open()
	w.ask("One.")
	w.wants(w.sent(0), "branch main", "Date: 2026-03-04", "Old rules.", `<context name="rules.md">`)
	if !strings.HasPrefix(w.sent(0), "[user] <context") {
		t.Errorf("the description of the workspace is not first:\n%s", w.sent(0))
	}
	first := w.sent(0)
	w.write("repo/CLAUDE.md", "New rules.")
	w.write("repo/.git/HEAD", "ref: refs/heads/other\n")
	day = day.Add(24 * time.Hour)
	w.ask("Two.")
	second := w.sent(0)
	if !strings.HasPrefix(second, first) {
		t.Errorf("the second request does not go on from the first:\n%s", second)
	}
	w.wants(strings.TrimPrefix(second, first), "branch other", "Date: 2026-03-05", "New rules.", `<context name="rules.md" gone="true"/>`)
}

func TestSkillsAreLoadedOnce(t *testing.T) {
	w := newWorkplace(t)
	w.write("home/.config/tenon/skills/release/SKILL.md", "---\nname: release\ndescription: How a release is made.\n---\nRun make release. See notes.md.\n")
	w.write("home/.config/tenon/skills/release/notes.md", "Ask Ann first.")
	w.write("repo/.claude/skills/test/SKILL.md", "---\nname: test\ndescription: How tests are run.\n---\nmake test\n")
	w.configure()
	if w.spec.Skills.Inert != 1 || len(w.spec.Skills.Skills) != 1 {
		t.Errorf("of a folder that is not trusted: %+v", w.spec.Skills)
	}
	if err := config.NewTrustStore(filepath.Join(w.home, ".config", "tenon")).Trust(t.Context(), w.repo); err != nil {
		t.Fatal(err)
	}
	w.configure()
	notes := filepath.Join(w.home, ".config/tenon/skills/release/notes.md")
	w.script(
		calls("skill", `{"name": "release"}`), calls("skill", `{"name": "release"}`), calls("read", fmt.Sprintf(`{"path": %q}`, notes)),
		calls("write", fmt.Sprintf(`{"path": %q, "content": "x"}`, notes)), calls("skill", `{"name": "test"}`), calls("skill", `{"name": "none"}`),
	)
	w.open()
	w.ask("Make a release.")
	w.wants(w.sent(0), "- release: How a release is made.", "Run make release.", "already loaded", "Ask Ann first.", "make test", `skill "none" not found`)
	if text, err := os.ReadFile(notes); err != nil || string(text) != "Ask Ann first." {
		t.Errorf("the model has changed a skill: %q, %v", text, err)
	}
	if n := strings.Count(w.sent(0), "Run make release."); n != 1 {
		t.Errorf("it is there %d times", n)
	}
	w.spec.Skills = SkillSet{}
	id := w.agent.Session()
	w.close()
	ag, err := w.app.Resume(t.Context(), id, w.spec)
	if err != nil {
		t.Fatal(err)
	}
	w.use(ag)
	w.script()
	w.ask("Without skills.")
	w.wants(w.sent(0), `<context name="skills" gone="true"/>`)
	for _, one := range w.requests[len(w.requests)-1].Tools {
		if one.Name == "skill" {
			t.Error("the tool is there without skills")
		}
	}
}

func TestTheModelGoesBack(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/a.txt", "a dead end")
	w.script(
		calls("revert", `{"steps": 1, "category": "failure", "lesson": "too early"}`),
		calls("read", `{"path": "a.txt"}`), calls("read", `{"path": "a.txt"}`),
		calls("revert", `{"steps": 9, "category": "failure", "lesson": "too far"}`),
		calls("revert", `{"steps": 2, "category": "failure", "lesson": "a.txt leads nowhere"}`),
	)
	w.open()
	w.ask("Look around.")
	last := w.sent(0)
	w.wants(w.sent(1), "you can go back at most 3 answers: ")
	w.wants(last, "cannot go back: ", "Lesson: a.txt leads nowhere")
	if strings.Contains(last, "too far") || strings.Count(last, "a dead end") != 1 {
		t.Errorf("what was taken back is there still:\n%s", last)
	}
	heads, reverts := of[session.Head](w.events), of[session.Revert](w.events)
	if len(heads) != 1 || len(reverts) != 1 || heads[0].To != reverts[0].To {
		t.Errorf("heads %+v, reverts %+v", heads, reverts)
	}
	// Only what was taken back is gone, and what comes then goes on from it.
	w.script(calls("revert", `{"steps": 1, "category": "step", "lesson": "over"}`))
	w.ask("And now?")
	w.wants(w.sent(0), "cannot go back: ", "a.txt leads nowhere")
	w.again()
	w.script()
	w.ask("Still there?")
	w.wants(w.sent(0), "a.txt leads nowhere")
}

func TestTheModelGivesUpAResult(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/log.txt", strings.Repeat("a line that helps no one\n", 200))
	w.script(calls("read", `{"path": "log.txt"}`), calls("cleanup", `{"quote": "a line that helps no one", "reason": "of another service", "summary": "nothing in it"}`))
	w.open()
	w.ask("Look at the log.")
	w.wants(w.sent(0), "a line that helps no one") // the provider's cache is worth more than the room
	w.spec.System = "Another system prompt."
	id := w.agent.Session()
	w.close()
	ag, err := w.app.Resume(t.Context(), id, w.spec)
	if err != nil {
		t.Fatal(err)
	}
	w.use(ag)
	w.script()
	w.ask("Go on.")
	w.wants(w.sent(0), "[You discarded this result: of another service]\nnothing in it")
	if strings.Contains(w.sent(0), "helps no one\n") {
		t.Error("the model still sees the result")
	}
}

// A result that is too long for the window is kept whole where the model can read it. A file is there already, so its pages are shorter.
func TestLongResultsAreKept(t *testing.T) {
	w := newWorkplace(t)
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "%d the words, the words, the words, some words of a long file\n", i)
	}
	w.write("repo/long.txt", b.String())
	w.answer = func(req *llm.Request) llm.Message {
		switch text := req.Messages[len(req.Messages)-1].Text(); len(w.requests) {
		case 1:
			return calls("read", `{"path": "long.txt"}`)
		case 2:
			return calls("grep", `{"pattern": "words", "path": "long.txt", "limit": 120}`)
		case 3:
			_, call, _ := strings.Cut(text, "Read them: read ")
			return calls("read", call[:strings.Index(call, "}")+1])
		}
		return llm.AssistantText("Done.")
	}
	w.open()
	w.ask("Read it.")
	w.wants(w.sent(1), "continue with offset")
	results, err := filepath.Glob(filepath.Join(w.app.outputs(w.agent.Session()), "*"))
	if err != nil || len(results) != 1 {
		t.Fatalf("kept %v, %v", results, err)
	}
	if info, err := os.Stat(results[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if text := w.sent(0); strings.Count(text, "left out") != 1 || !strings.Contains(text, "some words of a long file\n[lines ") {
		t.Errorf("the model may not read what was kept:\n%s", text)
	}
}

// After a resume, a file that a command has shown counts as read if it is what it was.
func TestShownFilesAreKnownAfterAResume(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/same.txt", "the same\n")
	w.write("repo/other.txt", "before\n")
	w.script(calls("shell", `{"command":"cat same.txt other.txt"}`), llm.AssistantText("Seen."))
	w.open()
	w.ask("Look.")
	w.write("repo/other.txt", "after\n")
	w.again()
	w.script(calls("write", `{"path":"same.txt","content":"new"}`), calls("write", `{"path":"other.txt","content":"new"}`), llm.AssistantText("Done."))
	w.ask("Replace both.")
	for name, want := range map[string]string{"same.txt": "new", "other.txt": "after\n"} {
		if got, err := os.ReadFile(filepath.Join(w.repo, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

// Messages that people have pinned stay word for word.
func TestPinnedMessagesStay(t *testing.T) {
	w := newWorkplace(t)
	w.script(llm.AssistantText("The answer is 42."), llm.AssistantText("And that is not important."))
	w.open()
	w.ask("What is it?")
	w.ask("Anything else?")
	var pinned []session.Body
	for e, err := range w.agent.Path().Backward(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			pinned = append(pinned, session.Pin{Entry: e.ID})
		}
	}
	pinned = append(pinned, session.Pin{Entry: pinned[0].(session.Pin).Entry, Removed: true})
	if _, err := w.app.Store.Annotate(t.Context(), w.agent.Session(), pinned...); err != nil {
		t.Fatal(err)
	}
	kept, err := conversation.Pins(t.Context(), w.agent.Agent, w.app.Store)
	if err != nil || len(kept) != 1 || kept[0].Message.Text() != "The answer is 42." {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

// After a summary, the window has the newest versions of the files in work, as much as fits.
func TestFilesInWork(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/old.txt", "old")
	w.write("repo/long.txt", strings.Repeat("many words in a line\n", 5000))
	w.write("repo/.env", "KEY=secret")
	w.write("repo/bin", "\x00\x01")
	w.write("elsewhere.txt", "not ours")
	w.spec.Bounds.Hidden = append(w.spec.Bounds.Hidden, filepath.Join(w.repo, ".env"))
	w.script()
	w.open()
	var names []string
	for _, name := range []string{"elsewhere.txt", "repo/none.txt", "repo/bin", "repo/.env", "repo/sub", "repo/long.txt", "repo/old.txt"} {
		names = append(names, filepath.Join(filepath.Dir(w.repo), filepath.FromSlash(name)))
	}
	const most = 1500
	blocks, err := w.agent.site.openFiles(t.Context(), names, most)
	if err != nil || len(blocks) != 2 || blocks[0].Name != "file old.txt" || blocks[1].Name != "file long.txt" {
		t.Fatalf("got %+v, %v", blocks, err)
	}
	if long := blocks[1].Text; !strings.Contains(long, "bytes omitted]") || tokens.Text(long) > most {
		t.Errorf("%d bytes of the long one: %.100q", len(long), long)
	}
	if few, err := w.agent.site.openFiles(t.Context(), names, 300); err != nil || len(few) != 2 || tokens.Text(few[1].Text) > 300 {
		t.Errorf("in 300 tokens: %+v, %v", few, err)
	}
}
