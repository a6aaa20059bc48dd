package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/tool"
)

func open(t *testing.T, script string, tools ...tool.Tool) *stage {
	t.Helper()
	t.Parallel()
	s := play(t, &theater{client: llmtest.New(t, script), tools: tools, judge: policy(t), src: t.TempDir()}, 100, 40)
	s.shows("test/script")
	return s
}

func TestAnAnswerStreams(t *testing.T) {
	s := open(t, "think I think.\ntext Hello **there**.\nhang")
	s.types("hi")
	s.shows("› hi")
	s.press("enter")
	s.shows("Hello there.")
	s.shows("answering")
	s.shows("esc cancels")
	s.press("esc")
	s.idle()
	s.shows("Hello there.")
	s.shows("cancelled")
	s.hides("cancelling")
	if s.app.now().After(s.app.until) {
		t.Error("the remark outlived the run")
	}
}

func TestDrafts(t *testing.T) {
	until := make(chan struct{})
	s := open(t, "call wait {\"path\":\"it\"}\n---\ntext First.\n---\ntext Second.\n---\ntext Last.", wait(until))
	s.types("begin")
	s.press("enter")
	s.shows("wait it")
	for _, text := range []string{"one", "two", "three", "four"} {
		s.types(text)
		s.press("enter")
		if text != "four" {
			s.shows("◷ " + text)
		}
	}
	s.shows("and 1 more prompt")
	queued := func(want string) {
		t.Helper()
		s.until(want, func(string) bool {
			var all []string
			for _, d := range s.app.pane.drafts() {
				all = append(all, string(d.Lane)+" "+d.Message.Text())
			}
			return strings.Join(all, ", ") == want
		})
	}
	queued("follow_up one, follow_up two, follow_up three, follow_up four")
	s.press("alt+q")
	s.shows("After the run")
	s.press("alt+down") // later
	queued("follow_up two, follow_up one, follow_up three, follow_up four")
	s.press("down", "delete") // the picker keeps its row
	s.until("three drafts", func(string) bool { return len(s.app.pane.drafts()) == 3 })
	s.press("esc")
	s.closed()
	left := s.app.pane.drafts()[0].Message.Text()
	s.press("enter") // in the empty prompt
	s.until("steering", func(string) bool {
		return slices.ContainsFunc(s.app.pane.drafts(), func(d request.Draft) bool { return d.Lane == session.FromSteering && d.Message.Text() == left })
	})
	s.shows("↳ " + left)
	s.press("alt+q")
	s.press("end", "enter")
	s.shows("editing the queued prompt")
	s.closed()
	last := s.app.editor.Value().Text
	s.types(" changed")
	s.press("enter")
	s.until("the change", func(string) bool {
		return slices.ContainsFunc(s.app.pane.drafts(), func(d request.Draft) bool { return d.Message.Text() == last+" changed" })
	})
	close(until)
	s.shows("Last.")
	s.shows("› You, meanwhile: " + left)
	s.shows("› " + last + " changed")
}

// A draft that was edited still has its images, each in its place.
func TestAnEditedDraftKeepsItsImages(t *testing.T) {
	until := make(chan struct{})
	defer close(until)
	s := open(t, "call wait {\"path\":\"it\"}\n---\ntext End.", wait(until))
	s.types("begin")
	s.press("enter")
	s.shows("wait it")
	s.types("compare ")
	s.app.editor.InsertChip(editor.Part{Kind: editor.Image, MediaType: "image/png", Data: []byte("one")})
	s.types(" with ")
	s.app.editor.InsertChip(editor.Part{Kind: editor.Image, MediaType: "image/gif", Data: []byte("two")})
	s.press("enter")
	s.shows("◷ compare")
	s.press("alt+q", "enter")
	s.shows("editing the queued prompt")
	s.closed()
	s.types(", quickly")
	s.press("enter")
	const want = "compare [image 1: png, 1 kB] with [image 2: gif, 1 kB], quickly"
	s.until("the change", func(string) bool { d := s.app.pane.drafts(); return len(d) == 1 && d[0].Message.Text() == want })
	var images []string
	for _, part := range s.app.pane.drafts()[0].Message.Content {
		if image, ok := part.(llm.Image); ok {
			images = append(images, image.MIME+" "+string(image.Data))
		}
	}
	if !slices.Equal(images, []string{"image/png one", "image/gif two"}) {
		t.Errorf("the images are %q", images)
	}
}

func TestEscLeavesADraftAsItWas(t *testing.T) {
	until := make(chan struct{})
	defer close(until)
	s := open(t, "call wait {\"path\":\"it\"}\n---\ntext End.", wait(until))
	s.types("begin")
	s.press("enter")
	s.shows("wait it")
	s.types("later")
	s.press("enter")
	s.shows("◷ later")
	for _, key := range []string{"esc", "ctrl+u"} {
		s.press("alt+q", "enter")
		s.shows("editing the queued prompt")
		s.closed()
		s.types("x")
		s.press(key)
		if key == "esc" && (s.app.editing != "" || !s.app.editor.Empty()) {
			t.Fatal("the draft is still in the prompt")
		}
	}
	s.press("ctrl+c") // cancels the run, and the prompt goes nowhere
	s.shows("cancelled")
}

func TestInterrupts(t *testing.T) {
	s := open(t, "text Hello.\nhang\n---\ntext Again.")
	s.says2("hi", "Hello.")
	s.press("ctrl+c")
	s.shows("cancelled")
	s.idle()
	s.press("ctrl+c") // the run was cancelled a moment ago: this is the first one that leaves
	s.shows("press ctrl+c again to leave")
	s.later(3 * time.Second)
	s.types("text")
	s.press("ctrl+c")
	s.hides("› text")
	s.later(time.Second)
	s.press("ctrl+c")
	s.shows("again to leave")
	s.later(time.Second)
	s.press("ctrl+c")
	s.gets("QuitMsg")
	if s.app.forced {
		t.Error("the exit was forced")
	}
}

func TestThreeInterruptsForceTheExit(t *testing.T) {
	s := open(t, "text Hello.\nhang")
	s.says2("hi", "Hello.")
	s.press("ctrl+c", "ctrl+c", "ctrl+c")
	s.gets("QuitMsg")
	if !s.app.forced {
		t.Error("the exit was not forced")
	}
	if err := s.host.last.Close(); err != nil {
		t.Error(err)
	}
}

// says2 sends a prompt and waits for a text.
func (s *stage) says2(prompt, answer string) {
	s.t.Helper()
	s.types(prompt)
	s.press("enter")
	s.shows(answer)
}

func TestThePanelHasTheFilesOfCommands(t *testing.T) {
	s := open(t, "text Hello.")
	s.send(tea.WindowSizeMsg{Width: 160, Height: 24})
	s.app.pane.add([]session.Event{{Seq: 1000, Body: session.FilesChanged{
		Cause: session.ByCommand, Files: []session.FileChange{{Path: s.host.src + "/made.txt", After: &session.FileState{Size: 1}}},
	}}}, s.clock())
	s.send(tea.WindowSizeMsg{Width: 161, Height: 24})
	s.shows("│ made.txt changed")
}

func TestPermission(t *testing.T) {
	script := "call change {\"path\":\"parse.go\"}\n---\ntext Done."
	t.Run("allowed here", func(t *testing.T) {
		s := open(t, script, change())
		s.says2("go", "Allow once")
		s.quiet()
		s.press("y")
		s.shows("Done.")
		s.idle()
		s.host.diff = `{"path":"parse.go","added":1,"removed":1}` + "\n" + `{"path":"made.txt","added":3}`
		s.gives("/diff")
		s.shows("made.txt")
		s.shows("parse.go")
		s.shows("+1 -1")
	})
	t.Run("denied with esc closed and opened again", func(t *testing.T) {
		s := open(t, script, change())
		s.says2("go", "Allow once")
		s.quiet()
		s.press("esc")
		s.hides("Allow once")
		s.shows("tab answers")
		s.press("tab")
		s.shows("Allow once")
		s.quiet()
		s.press("n")
		s.shows("Done.")
	})
	t.Run("answered elsewhere", func(t *testing.T) {
		s := open(t, script, change())
		s.says2("go", "Allow once")
		q := s.app.pane.fold.Requests.Questions[0]
		if err := s.host.last.Answer(conversation.WithSpeaker(t.Context(), session.Speaker{Kind: session.SpeakerPerson, Name: "Grace"}), q.ID, ask.Answer{Allow: true}); err != nil {
			t.Fatal(err)
		}
		s.hides("Allow once")
		s.shows("Done.")
		s.shows("Grace")
	})
	t.Run("cancelled", func(t *testing.T) {
		s := open(t, script, change())
		s.says2("go", "Allow once")
		s.press("ctrl+c")
		s.hides("Allow once")
		s.idle()
		s.shows("cancelled")
	})
}

// closed waits until no dialog is open.
func (s *stage) closed() {
	s.t.Helper()
	s.until("the end of the dialog", func(string) bool { return s.app.top() == nil })
}

// quiet waits until the dialog takes keys.
func (s *stage) quiet() {
	s.t.Helper()
	s.until("a dialog that takes keys", func(screen string) bool { return s.app.top() != nil && !strings.Contains(screen, "opening") })
}

func TestAQuestionOfTheModel(t *testing.T) {
	s := open(t, "text Hello.")
	done := make(chan []answer, 1)
	go func() {
		a, err := s.host.last.Ask(t.Context(), session.Asking{Questions: []ask.Question{{Text: "Which color?", Options: []ask.Option{{Label: "red"}, {Label: "green"}}}}})
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	s.shows("Which color?")
	s.quiet()
	s.press("down", "enter")
	s.hides("enter choose")
	s.until("the answer", func(string) bool { return len(done) == 1 })
	if a := <-done; len(a) != 1 || !slices.Contains(a[0].Choices, "green") {
		t.Errorf("the answer is %+v", a)
	}
}

func TestRewind(t *testing.T) {
	s := open(t, "text One.\n---\ntext Two.\n---\ntext Three.\n---\ntext Four.")
	s.says("p1", "One.")
	long := "p2 " + strings.Repeat("word ", 60) + "end"
	s.says(long, "Two.")
	s.press("esc", "esc")
	s.shows("BEFORE THE PROMPT")
	s.press("enter")
	s.shows("no file changes")
	s.press("enter")
	s.closed()
	s.hides("Two.")
	s.shows("One.")
	if got := s.app.editor.Value().Text; got != long {
		t.Errorf("the prompt is %q", got)
	}
	s.press("ctrl+c")
	s.says("p3", "Three.")
	s.shows("One.")
	if screen := s.screen(); strings.Contains(screen, "Two.") || strings.Contains(screen, "p2") {
		t.Errorf("the old branch is visible:\n%s", screen)
	}
	s.gives("/undo")
	s.hides("Three.")
	s.gives("/redo")
	s.shows("Three.")
	s.says("p4", "Four.")
	s.press("alt+r")
	s.shows("BEFORE THE PROMPT")
	screen := s.screen()
	if strings.Contains(screen, "p2") || strings.Count(screen, "p3  ") != 1 {
		t.Errorf("the list has the prompts of other branches:\n%s", screen)
	}
	s.press("down", "down", "enter") // to the beginning
	s.shows("no file changes")
	s.press("enter")
	s.closed()
	s.hides("One.")
	s.hides("Four.")
}

func TestANewSessionDuringARunAsks(t *testing.T) {
	s := open(t, "text Hello.\nhang")
	s.says2("hi", "Hello.")
	old := s.app.pane.session()
	s.press("ctrl+n")
	s.shows("A run is on.")
	s.press("esc")
	s.hides("A run is on.")
	if s.app.pane.session() != old {
		t.Error("it left the session")
	}
	s.press("ctrl+n")
	s.shows("End the run")
	s.press("y")
	s.until("another session", func(string) bool { return s.app.pane.session() != old })
	s.hides("Hello.")
}

func TestFilesOfAPrompt(t *testing.T) {
	s := open(t, "text Read.\n---\ntext Later.")
	s.types("read @main.go now")
	s.press("enter")
	s.shows("Read.")
	client := s.host.client.(*llmtest.Client)
	requests := client.Requests()
	if all := requests[0].Messages; !strings.Contains(all[len(all)-1].Text(), "contents of main.go") {
		t.Errorf("the model got %+v", all)
	}
	s.idle()
	s.types("read @missing now")
	s.press("enter")
	s.shows("cannot attach missing: no such file")
	s.shows("› read @missing now")
	if n := len(client.Requests()); n != 1 {
		t.Errorf("the model got %d requests", n)
	}
}

func TestASessionThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text Hello."), fail: errors.New("the disk is full"), src: t.TempDir()}
	s := play(t, h, 100, 40)
	s.types("early")
	s.press("enter")
	s.shows("✗ the disk is full")
	s.shows("› early") // the prompt came back
	s.press("enter")
	s.shows("there is no open session")
	for _, c := range commands() { // none of them needs a session so badly that it panics
		if !slices.Contains([]string{"exit", "quit", "editor", "paste", "stats", "doctor", "new", "clear"}, c.name) {
			s.run(c.do(s.app, ""))
			for s.app.top() != nil {
				s.app.close(s.app.top())
			}
		}
	}
	h.fail = nil
	s.app.editor.Clear()
	s.gives("/new")
	s.shows("Tenon test")
	s.says("hi", "Hello.")
}

func TestAPromptThatFailsComesBack(t *testing.T) {
	s := open(t, "text Hello.")
	if err := s.host.last.Close(); err != nil {
		t.Fatal(err)
	}
	s.types("hi")
	s.press("enter")
	s.shows("› hi")
	s.shows("✗")
}

// long makes a session with many turns and returns it.
func long(t testing.TB, h *theater, turns int, rewind bool) session.SessionID {
	t.Helper()
	h.store = memory.New()
	id, err := h.store.Create(t.Context(), session.Created{Dir: "/src"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.store.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []session.Body
	for i := range turns {
		call := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "look", Arguments: fmt.Sprintf(`{"path":"file%d.go"}`, i)}
		prompt := session.Message{Message: llm.UserText(fmt.Sprintf("prompt %d", i)), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
		asks := session.Message{Message: llm.AssistantText(fmt.Sprintf("I look at **file %d**, because `it` matters.\n\n- one\n- two\n", i))}
		asks.Content, asks.Stop = append(asks.Content, call), llm.StopCalls
		result := session.Message{Message: llm.Message{Role: llm.RoleTool, CallID: call.ID, Tool: "look", Content: llm.Content{llm.Text{Text: strings.Repeat("a line of the file\n", 10)}}}, Brief: "10 lines"}
		end := session.Message{Message: llm.AssistantText(fmt.Sprintf("answer %d", i))}
		bodies = append(bodies, prompt, asks, session.CallStarted{Call: call.ID, Tool: "look", Title: fmt.Sprintf("file%d.go", i), Arguments: []byte(call.Arguments)}, result, end)
	}
	all, err := w.Append(t.Context(), session.Stamp{}, bodies...)
	if err == nil && rewind {
		_, err = w.Append(t.Context(), session.Stamp{}, session.Head{To: all[len(all)/2-1].ID}, session.Message{Message: llm.UserText("after the rewind"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestALongSession(t *testing.T) {
	for _, rewind := range []bool{false, true} {
		t.Run(fmt.Sprint("rewind ", rewind), func(t *testing.T) {
			t.Parallel()
			h := &theater{client: llmtest.New(t, "text Hello."), tools: []tool.Tool{look()}}
			id := long(t, h, 1000, rewind)
			s := play(t, h, 100, 30)
			s.shows("test/script")
			s.gives("/resume " + string(id))
			last := "answer 999"
			if rewind {
				last = "after the rewind"
			}
			s.shows(last)
			if s.app.pane.reading == 0 && !rewind {
				t.Error("the whole session was read before its end was visible")
			}
			s.until("the beginning", func(string) bool { return s.app.pane.reading == 0 })
			s.shows(last)
			want := 1000 * 3
			if rewind {
				want = 500*3 + 2
			}
			if n := s.app.list.Len(); n != want && n != want+1 {
				t.Errorf("the list has %d items, want %d", n, want)
			}
			s.press("ctrl+t", "home")
			s.shows("› prompt 0")
			for i := range s.app.list.Len() {
				it := s.app.card(i).Item()
				if strings.HasPrefix(it.Note.Title, "Result of") {
					t.Fatalf("item %d is a result without its call", i)
				}
				for _, c := range it.Calls {
					if c.Result == nil {
						t.Fatalf("the call of item %d has no result", i)
					}
				}
			}
			if rewind {
				s.press("end")
				s.shows("answer 499")
				if strings.Contains(s.screen(), "answer 999") {
					t.Error("the old branch is visible")
				}
			}
		})
	}
}

func TestAStateThatComesLateIsIgnored(t *testing.T) {
	s := open(t, "text Hello.")
	s.says("hi", "Hello.")
	gen, state := s.app.pane.gen, s.app.pane.state
	s.gives("/new")
	s.hides("Hello.")
	before := s.screen()
	state.Model.ID, state.Title = "late", "late"
	s.send(states{gen: gen, state: state, git: "late", say: "late"})
	s.send(older{gen: gen, items: nil, err: errors.New("late")})
	s.send(events{gen: gen, all: []session.Event{{Seq: 1, Body: session.Message{Message: llm.UserText("late")}}}})
	s.send(opened{gen: gen, err: errors.New("late")})
	if after := s.screen(); after != before || strings.Contains(after, "late") {
		t.Errorf("the screen is\n%s", after)
	}
}

func TestAnOpenQuestionIsThereAfterAResume(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text Hello.\n---\ntext Done."), tools: []tool.Tool{change()}, judge: policy(t), src: t.TempDir(), store: memory.New()}
	id, err := h.store.Create(t.Context(), session.Created{Dir: h.src})
	if err != nil {
		t.Fatal(err)
	}
	w, err := h.store.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	asks := session.Message{Message: llm.AssistantText("I ask.")} // a question about no open call ends when the session opens
	asks.Content, asks.Stop = append(asks.Content, llm.ToolCall{ID: "c1", Name: "question", Arguments: "{}"}), llm.StopCalls
	prompt := session.Message{Message: llm.UserText("Paint it."), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
	if _, err := w.Append(t.Context(), session.Stamp{}, prompt, asks, session.Asking{ID: "q1", Call: "c1", Questions: []ask.Question{{Text: "Which color?", Options: []ask.Option{{Label: "red"}}}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := play(t, h, 100, 40)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.shows("Which color?")
	s.quiet()
	s.press("enter")
	s.hides("enter choose")
}

func TestThemes(t *testing.T) {
	s := open(t, "text Hello.")
	s.gives("/theme")
	s.shows("contrast")
	before := s.app.theme.Name
	s.press("up", "up")
	s.until("a preview", func(string) bool { return s.app.theme.Name != before })
	s.press("esc")
	s.until("the old theme", func(string) bool { return s.app.theme.Name == before })
	s.gives("/theme")
	s.shows("contrast")
	s.press("up", "up", "enter")
	s.until("the new theme", func(string) bool { return s.app.theme.Name != before && s.app.top() == nil })
	if s.app.o.Config.Theme == "plain" {
		t.Error("the choice was not kept")
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text One.\n---\ntext Two.\n---\ntext Three."), src: t.TempDir(), config: func(c *Config) { c.Inline = true }}
	s := play(t, h, 80, 24)
	s.shows("test/script")
	printed := func() (all string) {
		for _, m := range s.sent {
			if strings.HasPrefix(m, "printLineMessage") {
				all += ansi.Strip(m) + "\n"
			}
		}
		return all
	}
	for i, text := range []string{"One.", "Two."} {
		s.types(fmt.Sprint("prompt ", i))
		s.press("enter")
		s.until(text, func(string) bool { return strings.Contains(printed(), text) })
		s.idle()
	}
	s.gives("/undo")
	s.until("the note", func(string) bool { return s.app.pane.facts.turned })
	s.says2("prompt 2", "")
	s.until("Three.", func(string) bool { return strings.Contains(printed(), "Three.") })
	at := -1
	for _, text := range []string{"Tenon test", "prompt 0", "One.", "prompt 1", "Two.", "prompt 2", "Three."} {
		i := strings.Index(printed(), text)
		if i < at || strings.Count(printed(), text) != 1 {
			t.Errorf("%q is not there once and in its order:\n%s", text, printed())
		}
		at = i
	}
}

func TestALongSessionInline(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text Hello."), tools: []tool.Tool{look()}, config: func(c *Config) { c.Inline = true }}
	id := long(t, h, 200, false)
	s := play(t, h, 80, 24)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.until("the beginning", func(string) bool {
		return s.app.pane.session() == id && s.app.pane.reading == 0 && s.app.list.Len() == 0
	})
	if n := len(s.app.pane.cards); n != 600 {
		t.Errorf("the session has %d items", n)
	}
	s.gives("/rewind")
	s.shows("prompt 199")
}

func TestReader(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text One."), src: t.TempDir(), config: func(c *Config) { c.Reader = true }}
	s := play(t, h, 140, 24)
	s.shows("test/script")
	s.says("hi", "One.")
	s.shows("You: hi")
	if strings.Contains(s.screen(), "│") {
		t.Errorf("there is a box:\n%s", s.screen())
	}
	s.press("ctrl+o")
	s.shows("test/other")
	if strings.ContainsAny(s.screen(), "│╭╰") {
		t.Errorf("there is a box:\n%s", s.screen())
	}
}

func TestSizes(t *testing.T) {
	s := open(t, "text Hello.\ncall change {\"path\":\"a\"}\n---\ntext End.", change())
	states := []struct {
		name string
		do   func()
	}{
		{"welcome", func() {}},
		{"prompt", func() { s.types("hi") }},
		{"permission", func() { s.press("enter"); s.shows("Allow once") }},
		{"ended", func() { s.quiet(); s.press("y"); s.shows("End."); s.idle() }},
		{"search", func() { s.press("ctrl+f"); s.types("Hello") }},
		{"help", func() { s.press("esc", "f1") }},
		{"completion", func() { s.press("esc"); s.types("/m") }},
	}
	for _, state := range states {
		s.send(size(100, 40))
		state.do()
		for _, d := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {300, 1}, {1, 80}, {80, 24}, {300, 80}, {120, 3}} {
			s.send(size(d[0], d[1]))
			fits(t, s.app.View(), d[0], d[1])
		}
	}
}

func fits(t testing.TB, v tea.View, width, height int) {
	t.Helper()
	lines := strings.Split(v.Content, "\n")
	if len(lines) > height {
		t.Fatalf("%d lines at height %d", len(lines), height)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > width {
			t.Fatalf("a line of %d cells at width %d: %q", w, width, l)
		}
	}
	if c := v.Cursor; c != nil && (c.X < 0 || c.X > width || c.Y < 0 || c.Y >= height) {
		t.Fatalf("the cursor is at %d,%d at %dx%d", c.X, c.Y, width, height)
	}
}

// The items of the beginning of a very long session come when the person goes there; facts such as pins are known before.
func TestAVeryLongSession(t *testing.T) {
	h := &theater{client: llmtest.New(t, "text Hello.")}
	id := long(t, h, whole/5+20, false)
	s := play(t, h, 100, 30)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.shows(fmt.Sprint("answer ", whole/5+19))
	s.until("the outline", func(string) bool { return s.app.pane.reading == 0 })
	if n := s.app.list.Len(); n > recent {
		t.Fatalf("the list has %d items; the session is too short for this test, or all of it was read", n)
	}
	s.press("ctrl+t", "home")
	s.shows("› prompt 0")
	if s.app.pane.rest != nil {
		t.Error("the beginning is not here")
	}
}

// Pages up beyond the items that are here count when the others come.
func TestPagesBeforeTheBeginning(t *testing.T) {
	h := &theater{client: llmtest.New(t, "text Hello.")}
	id := long(t, h, whole/5+20, false)
	s := play(t, h, 100, 30)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.shows(fmt.Sprint("answer ", whole/5+19))
	for s.app.list.Len() == 0 || !s.app.list.AtTop() {
		s.press("pgup")
	}
	first := s.screen()
	s.press("pgup")
	s.until("an earlier page", func(string) bool { return s.app.list.Len() > recent && s.screen() != first && !s.app.list.AtTop() })
	if s.app.pane.rest == nil {
		t.Error("one page up has read all of the session")
	}
	s.press("ctrl+t", "home")
	s.shows("› prompt 0")
	if n, want := len(s.app.pane.cards), 3*(whole/5+20); n != want { // each item once
		t.Errorf("%d cards, want %d", n, want)
	}
}

func TestTheRewindOfAVeryLongSessionHasAllPrompts(t *testing.T) {
	t.Parallel()
	h := &theater{client: llmtest.New(t, "text Hello."), tools: []tool.Tool{look()}}
	id := long(t, h, 2100, false)
	s := play(t, h, 80, 24)
	s.shows("test/script")
	s.gives("/resume " + string(id))
	s.shows("answer 2099")
	s.gives("/rewind")
	s.shows("BEFORE THE PROMPT")
	s.types("prompt 123")
	s.shows("prompt 1234")
}

func TestTheSearchFindsTextAcrossMarks(t *testing.T) {
	s := open(t, "text A **very** important matter.")
	s.says2("hi", "important")
	s.press("ctrl+f")
	s.types("very important")
	s.shows("1 message")
}

func TestTheFilterOfSessionsSearchesTheirTexts(t *testing.T) {
	s := open(t, "text The zebra sleeps.")
	s.says2("hi", "zebra")
	s.gives("/sessions")
	s.shows("this terminal")
	s.types("zebra")
	s.shows("no match")
	s.shows("In the text")
}
