package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// talk opens a terminal in which a person and the model said something.
func talk(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	s := play(t, &theater{
		client: llmtest.New(t, "text First *answer*:\ntext \"\\n\\n```\\ncode\\n```\\n\"\nusage input=100 output=9 cost=0.5\n---\ntext Second answer.\n---\ntext Third answer.\n---\ntext Fourth answer."),
		tools:  []tool.Tool{look()}, judge: policy(t), src: t.TempDir(),
		jobs: []workspace.JobStatus{{ID: "job1", Command: workspace.Command{Line: "make watch"}, Started: time.Now()}},
	}, 100, 40)
	s.shows("test/script")
	s.says("first prompt", "First answer")
	return s
}

// says sends a prompt and waits for its answer and the end of its run.
func (s *stage) says(prompt, answer string) {
	s.t.Helper()
	s.types(prompt)
	s.press("enter")
	s.shows(answer)
	s.idle()
}

// gives sends a slash command.
func (s *stage) gives(line string) {
	s.types(line)
	s.press("enter")
	if !s.app.editor.Empty() { // enter took the completion
		s.press("enter")
	}
}

func TestEveryCommandDoesWhatItsWordsSay(t *testing.T) {
	all := map[string]func(s *stage){
		"help":    func(s *stage) { s.gives("/help"); s.shows("next thinking level") },
		"keys":    func(s *stage) { s.gives("/keys"); s.shows("next thinking level") },
		"role":    func(s *stage) { s.gives("/role planner"); s.does("set role=planner") },
		"palette": func(s *stage) { s.gives("/palette"); s.shows("─ Commands ─"); s.shows("/sessions") },
		"model":   func(s *stage) { s.gives("/model test/other"); s.does("set model=test/other mode= network=") },
		"mode": func(s *stage) {
			s.gives("/mode yolo")
			s.shows("yolo · test/script")
			s.gives("/mode")
			s.shows("inspect")
		},
		"thinking": func(s *stage) {
			s.gives("/thinking high")
			s.shows("thinking high")
			s.gives("/thinking odd")
			s.shows(`no level "odd"`)
		},
		"network":  func(s *stage) { s.gives("/network a.example"); s.does("set model= mode= network=a.example") },
		"new":      func(s *stage) { s.gives("/new"); s.hides("First answer"); s.shows("Tenon test") },
		"clear":    func(s *stage) { s.gives("/clear"); s.hides("First answer"); s.shows("Tenon test") },
		"sessions": func(s *stage) { s.gives("/sessions"); s.shows("this terminal"); s.shows("enter resume") },
		"resume": func(s *stage) {
			old := s.app.pane.session()
			s.gives("/new")
			s.hides("First answer")
			s.gives("/resume " + string(old))
			s.shows("First answer")
		},
		"fork": func(s *stage) {
			old := s.app.pane.session()
			s.gives("/fork")
			s.until("another session", func(string) bool { return s.app.pane.session() != old })
			s.shows("First answer")
			s.says("more", "Second answer")
		},
		"rewind": func(s *stage) { s.gives("/rewind"); s.shows("BEFORE THE PROMPT") },
		"undo":   func(s *stage) { s.gives("/undo"); s.hides("First answer") },
		"redo":   func(s *stage) { s.gives("/undo"); s.hides("First answer"); s.gives("/redo"); s.shows("First answer") },
		"compact": func(s *stage) {
			s.gives("/compact the parser")
			s.shows("the summary failed: there is nothing to summarize")
			s.does("compact the parser")
			if n := strings.Count(s.screen(), "nothing to summarize"); n != 1 {
				s.t.Errorf("the screen has the error %d times:\n%s", n, s.screen())
			}
		},
		"context": func(s *stage) { s.gives("/context"); s.shows("first prompt"); s.shows("close") },
		"pin": func(s *stage) {
			s.gives("/pin")
			s.shows("pin on: First")
			s.until("the pin", func(string) bool { return len(s.app.pane.facts.pinned) == 1 })
		},
		"cost": func(s *stage) {
			s.until("usage", func(string) bool { return s.app.pane.state.Usage.Total() > 0 })
			s.gives("/cost")
			s.shows("100 tokens in")
		},
		"budget": func(s *stage) {
			s.gives("/budget 5")
			s.shows("limit of each run: $5.00")
			s.gives("/budget session $20")
			s.shows("limit of the session: $20.00")
			s.gives("/budget off")
			s.shows("no limit of cost of each run")
			s.gives("/budget")
			s.shows("no limit · session: ")
			s.shows("of $20.00")
			s.gives("/budget much")
			s.shows("write an amount in dollars")
		},
		"stats":  func(s *stage) { s.gives("/stats"); s.shows("output of stats") },
		"export": func(s *stage) { s.gives("/export out.html"); s.shows("wrote out.html") },
		"copy":   func(s *stage) { s.gives("/copy"); s.gets("setClipboardMsg First *answer*") },
		"paste":  func(s *stage) { s.gives("/paste"); s.until("the end", func(string) bool { return true }) },
		"diff":   func(s *stage) { s.gives("/diff"); s.shows("The session changed no file.") },
		"todo": func(s *stage) {
			s.gives("/todo")
			s.shows("the model has no list of tasks")
			s.app.pane.facts.todo = []session.TodoItem{{Text: "a", Status: "completed"}, {Text: "b", Status: "in_progress"}, {Text: "c"}}
			s.gives("/todo")
			s.shows("│ ☑ a")
			s.shows("│ ▸ b")
			s.shows("│ ☐ c")
		},
		"parallel": func(s *stage) {
			s.app.pane.opened.Contests = nil
			s.gives("/parallel")
			s.shows("the terminal that has the session open")
			s.app.pane.opened.Contests = contestants{}
			s.gives("/parallel")
			s.shows("there are no parallel runs")
			s.gives("/parallel 2 do it")
			s.shows("in mode ask: no one answers")
		},
		"agents": func(s *stage) { s.gives("/agents"); s.shows("This session has no other agents.") },
		"jobs": func(s *stage) {
			s.gives("/jobs")
			s.shows("make watch")
			s.press("ctrl+d")
			s.shows("End the job")
			s.press("enter")
			s.does("end job1")
		},
		"lsp": func(s *stage) { s.gives("/lsp"); s.shows("gopls: waiting, for 4s, after 2 failures: it ended") },
		"mcp": func(s *stage) {
			s.gives("/mcp -github")
			s.does("switch -github")
			s.gives("/mcp")
			s.shows("MCP servers")
			s.shows("connected")
			s.press("enter")
			s.does("switch -files")
			s.press("down")
			s.press("enter")
			s.does("switch github")
		},
		"queue":       func(s *stage) { s.gives("/queue"); s.shows("No prompt waits.") },
		"permissions": func(s *stage) { s.gives("/permissions"); s.shows("allow") },
		"skills": func(s *stage) {
			s.gives("/skills")
			s.shows("Review a change")
			s.press("enter")
			s.shows("› /skill review")
		},
		"skill": func(s *stage) {
			s.gives("/skill review the parser")
			s.shows(`Load the skill "review" and follow it. the parser`)
		},
		"loop": func(s *stage) {
			s.gives("/loop")
			s.shows("there is no open goal")
			s.gives("/loop check make test")
			s.shows("there is no open goal")
			s.gives("/loop all tests pass")
			s.shows("› all tests pass")
			s.shows("Second answer")
			s.shows("loop 3/50")
			s.idle()
			s.gives("/loop check")
			s.shows("write the command")
			s.gives("/loop check make test")
			s.shows("check: make test")
			s.gives("/loop")
			s.shows("check   make test")
			s.shows("state   executing")
			s.press("esc")
			s.gives("/loop off")
			s.hides("loop 3/50")
		},
		"init":   func(s *stage) { s.gives("/init"); s.shows("Write AGENTS.md"); s.shows("Second answer") },
		"doctor": func(s *stage) { s.gives("/doctor"); s.shows("output of doctor") },
		"trust":  func(s *stage) { s.gives("/trust"); s.shows("no configuration that needs trust") },
		"login":  func(s *stage) { s.gives("/login"); s.shows("Anthropic") },
		"state":  func(s *stage) { s.gives("/state"); s.shows(`"session":`) },
		"debug":  func(s *stage) { s.gives("/debug"); s.shows("output of sessions show") },
		"theme": func(s *stage) {
			s.gives("/theme light")
			s.does("save theme light")
			s.gives("/theme odd")
			s.shows("there is no theme odd")
		},
		"vim": func(s *stage) {
			s.gives("/vim")
			s.does("save vim true")
			s.until("vim", func(string) bool { return s.app.editor.Mode() != "" })
		},
		"editor": func(s *stage) { s.gives("/editor"); s.until("the end", func(string) bool { return true }) },
		"rename": func(s *stage) {
			s.gives("/rename Parser work")
			s.shows("renamed to Parser work")
			s.gives("/rename")
			s.shows("Rename the session")
		},
		"exit": func(s *stage) { s.gives("/exit"); s.gets("QuitMsg") },
		"quit": func(s *stage) { s.gives("/quit"); s.gets("QuitMsg") },
	}
	for _, c := range commands() {
		t.Run(c.name, func(t *testing.T) {
			test := all[c.name]
			if test == nil {
				t.Fatal("the command has no test")
			}
			test(talk(t))
		})
		delete(all, c.name)
	}
	for name := range all {
		t.Errorf("there is no command /%s", name)
	}
}

func TestAnUnknownCommand(t *testing.T) {
	s := talk(t)
	s.gives("/modle x")
	s.shows("there is no command /modle; did you mean /model?")
	s.shows("› /modle x")
	s.press("ctrl+c")
	s.says("/usr/bin is a path", "Second answer")
}

// shell are the actions that a key starts everywhere or in the transcript. The packages editor and dialog test the others.
func TestEveryKeyDoesWhatItsWordsSay(t *testing.T) {
	all := map[keys.Action]func(s *stage){
		keys.Cancel: func(s *stage) {
			s.press("esc", "esc")
			s.shows("BEFORE THE PROMPT")
			s.press("esc")
			s.hides("BEFORE THE PROMPT")
		},
		keys.Interrupt: func(s *stage) {
			s.types("draft")
			s.press("ctrl+c")
			s.hides("draft")
			s.press("ctrl+c")
			s.shows("again to leave")
		},
		keys.Quit:    func(s *stage) { s.press("ctrl+d"); s.gets("QuitMsg") },
		keys.Suspend: func(s *stage) { s.press("ctrl+z"); s.gets("SuspendMsg") },
		keys.Palette: func(s *stage) { s.press("ctrl+p"); s.shows("─ Commands ─"); s.shows("/sessions") },
		keys.Help: func(s *stage) {
			s.press("f1")
			s.shows("next thinking level")
			s.press("esc")
			s.hides("thinking level")
			s.press("?")
			s.shows("thinking level")
		},
		keys.Sessions:   func(s *stage) { s.press("ctrl+s"); s.shows("enter resume") },
		keys.NewSession: func(s *stage) { s.press("ctrl+n"); s.hides("First answer") },
		keys.Models: func(s *stage) {
			s.press("ctrl+o")
			s.shows("test/other")
			s.press("enter")
			s.does("set model=test/script mode= network=")
		},
		keys.Mode: func(s *stage) {
			s.press("shift+tab")
			s.shows("edits · test/script")
			s.press("shift+tab", "shift+tab")
			s.shows("mode")
		},
		keys.Thinking:    func(s *stage) { s.press("alt+t"); s.shows("thinking ") },
		keys.Context:     func(s *stage) { s.press("alt+c"); s.shows("LARGEST ITEMS") },
		keys.Rewind:      func(s *stage) { s.press("alt+r"); s.shows("BEFORE THE PROMPT") },
		keys.Agents:      func(s *stage) { s.press("alt+a"); s.shows("This session has no other agents.") },
		keys.AgentNext:   func(s *stage) { s.press("alt+n"); s.shows("no other agent has begun") }, // see TestNeighbors
		keys.AgentPrev:   func(s *stage) { s.press("alt+p"); s.shows("no other agent has begun") },
		keys.Queue:       func(s *stage) { s.press("alt+q"); s.shows("No prompt waits.") },
		keys.Background:  func(s *stage) { s.press("alt+s") }, // see TestDrafts
		keys.PasteImage:  func(s *stage) { s.press("ctrl+v") },
		keys.Redraw:      func(s *stage) { s.press("ctrl+l"); s.gets("clearScreenMsg") },
		keys.ToggleMouse: func(s *stage) { s.press("alt+m"); s.shows("mouse on"); s.press("alt+m"); s.shows("mouse off") },
		keys.Panel: func(s *stage) {
			s.send(size(140, 40))
			s.shows("│ first prompt")
			s.press("ctrl+b")
			s.hides("│ first prompt")
		},
		keys.FoldAll: func(s *stage) {
			s.press("alt+e")
			s.until("unfolded", func(string) bool { return !s.app.cards.Folded && !s.app.pane.cards[1].Folded() })
		},
		keys.Timestamps: func(s *stage) {
			s.press("alt+i")
			s.shows(time.Now().Format("15:"))
			s.press("alt+i")
			s.hides(time.Now().Format("15:"))
		},
		keys.Search: func(s *stage) {
			s.press("ctrl+f")
			s.types("FIRST")
			s.shows("2 messages")
			s.press("enter")
			s.until("the match", func(string) bool { c := s.app.selected(); return c != nil && strings.HasPrefix(c.Text(), "First") })
			s.press("esc", "esc")
			s.hides("search:")
		},
		keys.FocusNext: func(s *stage) { s.press("ctrl+t"); s.shows("▌"); s.press("ctrl+t"); s.hides("▌") },
		keys.ScrollUp: func(s *stage) {
			s.send(size(100, 8))
			s.press("pgup")
			s.shows("more below")
			s.press("pgdown", "pgdown")
			s.hides("more below")
		},
		keys.ScrollDown: func(s *stage) { s.send(size(100, 8)); s.press("pgup", "pgdown"); s.hides("more below") },

		keys.ItemPrev: func(s *stage) { s.press("ctrl+t", "up"); s.is("First *answer*"); s.press("k"); s.is("first prompt") },
		keys.ItemNext: func(s *stage) {
			s.press("ctrl+t", "home", "up", "up", "up", "j")
			s.is("first prompt")
			s.press("down")
			s.is("First *answer*")
		},
		keys.PromptPrev: func(s *stage) { s.press("ctrl+t", "["); s.is("first prompt") },
		keys.PromptNext: func(s *stage) { s.says("again", "Second answer"); s.press("ctrl+t", "[", "[", "]"); s.is("again") },
		keys.Top:        func(s *stage) { s.send(size(100, 8)); s.press("ctrl+t", "g"); s.shows("Tenon test") },
		keys.Bottom: func(s *stage) {
			s.send(size(100, 8))
			s.press("ctrl+t", "g")
			s.shows("Tenon test")
			s.press("G")
			s.shows("done")
		},
		keys.Toggle: func(s *stage) {
			s.press("ctrl+t", "up", "e")
			s.until("unfolded", func(string) bool { return !s.app.selected().Folded() })
			s.press("enter")
			s.until("folded", func(string) bool { return s.app.selected().Folded() })
		},
		keys.Copy:      func(s *stage) { s.press("ctrl+t", "up", "up", "y"); s.gets("setClipboardMsg first prompt") },
		keys.CopyBlock: func(s *stage) { s.press("ctrl+t", "up", "Y"); s.gets("setClipboardMsg code") },
		keys.MatchNext: func(s *stage) { s.press("ctrl+f"); s.types("first"); s.press("enter", "n"); s.is("first prompt") },
		keys.MatchPrev: func(s *stage) { s.press("ctrl+f"); s.types("first"); s.press("enter", "N"); s.is("first prompt") },
		keys.Pin: func(s *stage) {
			s.press("ctrl+t", "up", "up", "p")
			s.shows("pin on: first prompt")
			s.until("the pin", func(string) bool { return len(s.app.pane.facts.pinned) == 1 })
			s.press("p")
			s.shows("pin off")
		},
		keys.Fork: func(s *stage) {
			s.says("again", "Second answer")
			s.press("ctrl+t", "[", "[")
			s.is("first prompt")
			s.press("f")
			s.hides("Second answer")
			s.shows("first prompt")
		},
	}
	for _, b := range keys.Defaults() {
		if group, _, dotted := strings.Cut(string(b.Action), "."); dotted && group != "list" {
			continue
		}
		t.Run(string(b.Action), func(t *testing.T) {
			test := all[b.Action]
			if test == nil {
				t.Fatal("the key has no test")
			}
			test(talk(t))
		})
	}
}

// is waits until a card with a text is selected.
func (s *stage) is(text string) {
	s.t.Helper()
	s.until("the selection of "+text, func(string) bool { c := s.app.selected(); return c != nil && strings.HasPrefix(c.Text(), text) })
}
