package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func modelsOf(o *Options) *Picker[Model] {
	p := NewModels(o)
	p.Set([]Model{
		{Ref: "main", Group: "Pools", Members: []string{"anthropic/claude-opus-5", "openai/gpt-6"}, Health: []string{"openai/gpt-6 answers until 12:30"}},
		{Ref: "anthropic/claude-opus-5", Group: "Anthropic", Window: 400_000, In: 5, Out: 25, Can: "images, thinking", Current: true, Default: true},
		{Ref: "anthropic/claude-haiku-5", Group: "Anthropic", Window: 200_000, In: 1, Out: 5, Can: "images", Health: []string{"key work rests until 12:40: rate limit"}},
		{Ref: "ollama/qwen3-coder:30b", Group: "Ollama", Window: 32768, Assumed: true},
		{Ref: "openai/gpt-6", Group: "OpenAI", Window: 400_000, In: 1.25, Out: 10, Can: "images, thinking", Why: "set OPENAI_API_KEY"},
	}, "")
	return p
}

func sessionsOf(o *Options) *Picker[index.Summary] {
	p := NewSessions("s1", o)
	p.Set([]index.Summary{
		{ID: "s1", Title: "Fix the parser of dates", Dir: "/home/ada/project", Updated: ago(5 * time.Minute), Messages: 42, Model: "anthropic/claude-opus-5", Usage: llm.Usage{Cost: 1.25}},
		{ID: "s2", Title: "Move the service to Postgres and write the migrations for all of the tables", Dir: "/home/ada/service", Updated: ago(26 * time.Hour), Messages: 311, Owner: "another terminal", Tags: []string{"db"}},
		{ID: "s3", Dir: "/home/ada/project", Updated: ago(400 * time.Hour)},
	}, "")
	p.SetDetail("You: Fix the parser\n\nModel: The parser reads months from zero.", func(s index.Summary) bool { return s.ID == "s1" })
	return p
}

func plan() *undo.Plan {
	state := func(hash string) *session.FileState { return &session.FileState{Hash: hash} }
	return &undo.Plan{
		Session: "s1", Head: "e3", Notes: []string{"a command may have changed files outside of the project"},
		Files: []undo.File{
			{Path: "/home/ada/project/a.go", Now: state("1"), Want: state("2")},
			{Path: "/home/ada/project/new.go", Now: state("1")},
			{Path: "/home/ada/project/gone.go", Want: state("1")},
			{Path: "/home/ada/project/b.go", Now: state("1"), Want: state("2"), Problem: "another program changed it after the session", Unsure: true},
		},
	}
}

func rewindOf(o *Options) *Rewind {
	return NewRewind([]Point{
		{To: "e9", Text: "Now make the tests pass", Time: ago(time.Minute)},
		{To: "e3", Text: "Fix the parser of dates\n\nIt reads months from zero.", Time: ago(20 * time.Minute)},
	}, o)
}

func contextOf(o *Options) *Context {
	c := NewContext(o)
	c.SetWindow(conversation.ContextWindow{
		Used: 109_000, Size: 200_000,
		Parts: []conversation.WindowPart{{Kind: "results", Tokens: 64_000}, {Kind: "answers", Tokens: 21_000}, {Kind: "tools", Tokens: 12_000}, {Kind: "system", Tokens: 9000}, {Kind: "prompts", Tokens: 3000}},
		Largest: []conversation.WindowItem{
			{Kind: "results", Name: "shell go test ./...", Tokens: 31_000},
			{Kind: "results", Name: "read internal/server/handler.go", Tokens: 8000},
			{Kind: "prompts", Name: "Fix the parser of dates", Entry: "e2", Tokens: 900},
		},
	}, func(id session.ID) bool { return id == "e2" }, "")
	return c
}

func commands() []Command {
	return []Command{
		{Name: "/model", Words: "Choose the model", Key: "ctrl+o", Group: "Session"},
		{Name: "/rewind", Words: "Go back to an earlier prompt", Key: "alt+r", Group: "Session"},
		{Name: "/compact", Words: "Replace the older part of the context window by a summary", Group: "Session", Off: "a run is going"},
		{Name: "/theme", Words: "Choose the theme", Group: "Terminal"},
	}
}

func firstRunOf(o *Options) *FirstRun {
	d := NewFirstRun([]string{"This directory has a CLAUDE.md. Tenon reads it."}, o)
	d.SetWays([]Way{
		{Ref: "anthropic/claude-opus-5", Title: "Anthropic", Why: "the key in $ANTHROPIC_API_KEY"},
		{Ref: "ollama/qwen3-coder:30b", Title: "Ollama", Why: "a server on this machine"},
		{Ref: "offline/offline", Title: "Offline", Why: "no network; it only tries Tenon out"},
		{Title: "OpenAI", Provider: "openai", NeedsKey: true},
	})
	return d
}

// everyDialog makes each dialog with usual contents.
func everyDialog(o *Options) map[string]Dialog {
	rewinding := rewindOf(o)
	typed(rewinding, "down", "enter")
	rewinding.SetPlan(rewinding.back(true), plan(), "")
	key := firstRunOf(o)
	typed(key, "end", "down", "down", "down", "enter")
	written(key, "sk-very-secret")
	queue := NewQueue(o)
	draft := func(id session.ID, lane session.Source, text string) request.Draft {
		return request.Draft{ID: id, Lane: lane, Message: session.Message{Message: llm.UserText(text)}}
	}
	queue.Set([]request.Draft{draft("d1", session.FromSteering, "Use the standard library"), draft("d2", session.FromFollowUp, "Then update the README\nand the changelog")}, "")
	jobs := NewJobs(o)
	job := func(id, line string, started time.Duration) workspace.JobStatus {
		return workspace.JobStatus{ID: id, Command: workspace.Command{Line: line}, Started: ago(started)}
	}
	ended := job("job2", "make bench", 3*time.Hour)
	ended.Ended, ended.ExitCode, ended.Head = noon, 2, "make: no rule\n"
	jobs.Set([]workspace.JobStatus{job("job1", "npm run dev", time.Hour), ended}, "")
	servers := NewServers(o)
	servers.Set([]conversation.Server{
		{Name: "docs", State: "needs login", Detail: "to log in: tenon mcp login docs"},
		{Name: "files", State: "connected", Tools: 12},
		{Name: "github", State: conversation.ServerOff, Tools: 41},
	}, "")
	agents := NewAgents(o)
	agents.Set([]Agent{
		{Task: "t1", Session: "s1", Name: "find the callers", Role: "explorer", State: AgentRuns, Does: "search X", Attempt: 1, Usage: llm.Usage{Cost: 0.02}, Prompt: "Find the callers of X."},
		{Task: "t2", Name: "write the tests", State: AgentCreated, Prompt: "Write the tests."},
		{Task: "t3", Session: "s3", Name: "fix the parser", State: "completed", Attempt: 2, Usage: llm.Usage{Cost: 1.5}, Worktree: "parser", Prompt: "Fix it.", Report: "It is **fixed**."},
	}, "")
	skills := NewSkills(o)
	skills.Set([]Skill{{Name: "release", About: "Prepare a release", Where: ".agents/skills/release"}, {Name: "pdf", About: "Read PDF files", Off: "needs pdftotext"}}, "")
	roles := NewRoles(o)
	roles.Set([]Role{
		{Name: "explorer", About: "Answers questions about the project and changes nothing", Model: "openai/gpt-6-mini", Source: "built in", Current: true},
		{Name: "tester", About: "Writes tests", Source: "/home/ada/project/.tenon/agents/tester.md"},
	}, "")
	rules := NewRules(o)
	rules.Set([]conversation.Rule{
		{Action: permission.Deny, Scope: permission.User, Text: "shell(git push --force *)", Words: "running git push --force with any arguments, in all sessions"},
		{Action: permission.Allow, Scope: permission.Session, Text: "shell(go test *)", Words: "running go test with any arguments, until the session ends", Granted: true},
	}, "")
	files := NewFiles(o)
	files.Set([]undo.FileDiff{{Path: "internal/server/handler.go", Added: 2, Removed: 1, Diff: someDiff}, {Path: "logo.png", Note: "not a text"}}, "")
	prompt := NewPrompt("Rename the session", "The title of the session:", "Fix the parser", false, o)
	secret := NewPrompt("API key", "The key for OpenAI:", "", true, o)
	written(secret, "sk-very-secret")
	page := NewPage("Doctor", strings.Repeat("ok    git 2.51\nok    sandbox: namespaces\nwarn  no key for OpenAI; run tenon auth login openai\n\n", 12), o)
	return map[string]Dialog{
		"models": modelsOf(o), "sessions": sessionsOf(o), "rewind": rewindOf(o), "rewind-plan": rewinding, "context": contextOf(o),
		"modes": NewModes(permission.AskMode, o), "thinking": NewThinking(llm.Model{Thinks: []llm.Thinks{llm.ThinkOff, llm.ThinkLow, llm.ThinkHigh}}, llm.ThinkLow, o),
		"themes": NewThemes("light", o), "skills": skills, "roles": roles, "agents": agents, "jobs": jobs, "servers": servers, "queue": queue, "rules": rules, "files": files,
		"palette": NewPalette(append(commands(), KeyCommands(o.Keys, keys.Models, keys.Rewind)...), o), "help": NewHelp(commands(), o),
		"confirm": NewConfirm("Leave?", "A run is going. It ends if you leave.", "Leave and end the run", "Stay", o),
		"prompt":  prompt, "prompt-masked": secret, "page": page,
		"trust":    awaken2(NewTrust("/home/ada/project", []string{"hooks: run ./check.sh after each change", "mcp: start the server npx hub", "model: openai/gpt-6"}, o)),
		"firstrun": firstRunOf(o), "firstrun-key": key, "firstrun-searching": NewFirstRun(nil, o),
	}
}

func awaken2(c *Confirm) *Confirm {
	c.Update(Opened{})
	c.Update(Message{c, quietEnded(c.guard.turn)})
	return c
}

func TestScreens(t *testing.T) {
	o := options(t)
	for name, d := range everyDialog(o) {
		t.Run(name, func(t *testing.T) { golden(t, name, o, d) })
	}
}

// Each dialog draws in every size.
func TestEverySize(t *testing.T) {
	o := options(t)
	for name, d := range everyDialog(o) {
		t.Run(name, func(t *testing.T) {
			for _, o.Reader = range []bool{false, true} {
				for _, width := range []int{1, 2, 3, 5, 8, 13, 30, 79, 97, 200} {
					for _, height := range []int{1, 2, 3, 4, 7, 24, 60} {
						checkLines(t, d.Lines(width, height), width, height)
						checkLines(t, Box(d, width, height, o.Theme), width, height)
						d.Cursor()
					}
				}
			}
			o.Reader = false
		})
	}
}

// A terminal without Unicode gets only ASCII.
func TestASCII(t *testing.T) {
	o := options(t)
	ascii := *o.Theme
	ascii.ASCII = true
	o.Theme = &ascii
	all := everyDialog(o)
	for name, q := range permissions() {
		all["permission-"+name] = awaken(NewPermission(q, false, o))
	}
	all["question"] = awaken(NewQuestions(someQuestions(), false, o))
	for name, d := range all {
		for _, s := range []size{{40, 12}, {80, 24}, {200, 60}} {
			for _, line := range screen(d, o, s) {
				if strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e }) {
					t.Errorf("%s: %q", name, line)
				}
			}
		}
	}
}

// A key that a person enters is on no screen.
func TestSecretsAreOnNoScreen(t *testing.T) {
	o := options(t)
	for name, d := range everyDialog(o) {
		text := strings.Join(d.Lines(200, 60), "\n") + fmt.Sprint(d.Title(), d.Hints())
		if strings.Contains(text, "secret") && name != "queue" {
			t.Errorf("%s shows the key:\n%s", name, text)
		}
	}
}

func TestEscClosesEachDialog(t *testing.T) {
	o := options(t)
	for name, d := range everyDialog(o) {
		closed := false
		for range 3 { // out of a step, of a detail
			for _, m := range typed(d, "esc") {
				c, ok := m.(Closed)
				closed = closed || ok && c.Dialog == d
			}
		}
		if !closed {
			t.Errorf("%s does not close", name)
		}
	}
}

func TestSessionActions(t *testing.T) {
	o := options(t)
	p := sessionsOf(o)
	if out := typed(p, "ctrl+d"); out != nil || p.ask != nil {
		t.Error("the open session can be deleted")
	}
	typed(p, "down", "ctrl+d")
	if got, closed := outcome[Picked[index.Summary]](t, typed(p, "enter")); got.Action != keys.Delete || got.Value.ID != "s2" || closed {
		t.Errorf("delete: %+v", got)
	}
	if got, closed := outcome[Picked[index.Summary]](t, typed(p, "ctrl+f")); got.Action != keys.ForkRow || !closed {
		t.Errorf("fork: %+v", got)
	}
	p.SetDetail("the last words", func(s index.Summary) bool { return s.ID == "s3" })
	if text := strings.Join(p.Lines(120, 30), "\n"); strings.Contains(text, "the last words") {
		t.Error("the preview of another session")
	}
}

func TestRewind(t *testing.T) {
	o := options(t)
	d := rewindOf(o)
	wanted, closed := outcome[PlanWanted](t, typed(d, "down", "enter"))
	if want := (conversation.Back{To: "e3", Scope: undo.Both, DryRun: true}); wanted.Back != want || closed {
		t.Fatalf("wants %+v", wanted.Back)
	}
	if out := typed(d, "enter"); out != nil {
		t.Errorf("rewinds without a plan: %v", out)
	}
	d.SetPlan(wanted.Back, &undo.Plan{Files: []undo.File{{Path: "/a", Problem: "changed", Unsure: true}, {Path: "/b", Problem: "not kept"}}}, "")
	if out := typed(d, "enter"); out != nil {
		t.Errorf("rewinds in spite of a problem: %v", out)
	}
	forced, _ := outcome[PlanWanted](t, typed(d, "space"))
	d.SetPlan(wanted.Back, plan(), "") // late: of another choice
	if !forced.Back.Force || d.plan != nil {
		t.Errorf("%+v", forced.Back)
	}
	d.SetPlan(forced.Back, plan(), "")
	got, closed := outcome[Rewound](t, typed(d, "enter"))
	if want := (conversation.Back{To: "e3", Scope: undo.Both, Force: true}); got.Back != want || !closed || !strings.HasPrefix(got.Text, "Fix the parser") {
		t.Errorf("%+v", got)
	}
	d = rewindOf(o)
	files, _ := outcome[PlanWanted](t, typed(d, "down", "enter", "down", "down"))
	d.SetPlan(files.Back, plan(), "")
	if got, _ := outcome[Rewound](t, typed(d, "enter")); got.Back.Scope != undo.Files || got.Text != "" {
		t.Errorf("%+v", got)
	}
}

func TestContextActions(t *testing.T) {
	p := contextOf(options(t))
	if got, closed := outcome[Picked[WindowItem]](t, typed(p, "t")); got.Action != keys.Trim || got.Dialog != p || closed {
		t.Errorf("%+v", got)
	}
	if out := typed(p, "p"); out != nil {
		t.Errorf("a tool result was pinned: %v", out)
	}
	if got, _ := outcome[Picked[WindowItem]](t, typed(p, "down", "down", "p")); got.Action != keys.Pin || got.Value.Entry != "e2" {
		t.Errorf("%+v", got)
	}
}

func TestQueueActions(t *testing.T) {
	for key, want := range map[string]keys.Action{"enter": keys.Accept, "alt+s": keys.Background, "shift+up": keys.MoveUp, "shift+down": keys.MoveDown, "ctrl+d": keys.Delete} {
		p := everyDialog(options(t))["queue"].(*Picker[request.Draft])
		got, closed := outcome[Picked[request.Draft]](t, typed(p, key))
		if got.Action != want || got.Value.ID != "d1" || closed != (key == "enter") {
			t.Errorf("%s: %+v, closed %v", key, got, closed)
		}
	}
}

func TestConfirm(t *testing.T) {
	o := options(t)
	for key, want := range map[string]bool{"enter": false, "up enter": true, "y": true, "n": false, "esc": false} {
		c := NewConfirm("Leave?", "really", "yes", "no", o)
		if got, closed := outcome[Confirmed](t, typed(c, strings.Fields(key)...)); got.Yes != want || !closed {
			t.Errorf("%s: %v", key, got.Yes)
		}
	}
	trust := NewTrust("/x", nil, o)
	trust.Update(press("y")) // in flight
	if trust.guard.open() {
		t.Error("trust takes keys at once")
	}
}

func TestPromptReturnsItsText(t *testing.T) {
	p := NewPrompt("Key", "", "", true, options(t))
	if out := typed(p, "enter"); out != nil {
		t.Errorf("an empty text: %v", out)
	}
	p.Update(tea.PasteMsg{Content: " sk-1\n"})
	if got, closed := outcome[Entered](t, typed(p, "enter")); got.Text != "sk-1" || !closed {
		t.Errorf("%+v", got)
	}
}

func TestPageFindsText(t *testing.T) {
	o := options(t)
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	p := NewPage("Log", b.String(), o)
	p.Lines(80, 20)
	typed(p, "ctrl+f")
	written(p, "line 77")
	if text := strings.Join(p.Lines(80, 20), "\n"); !strings.Contains(text, "line 77") {
		t.Errorf("not found:\n%s", text)
	}
	typed(p, "esc", "n")
	if p.found != 77 {
		t.Errorf("found %d: the only match", p.found)
	}
	typed(p, "G")
	if text := strings.Join(p.Lines(80, 20), "\n"); !strings.Contains(text, "line 499") {
		t.Errorf("not at the end:\n%s", text)
	}
}

func TestFirstRunEndsInAModel(t *testing.T) {
	o := options(t)
	d := firstRunOf(o)
	try, _ := outcome[Try](t, typed(d, "enter"))
	if try.Ref != "anthropic/claude-opus-5" || try.Key != "" {
		t.Errorf("%+v", try)
	}
	if cmd := d.Tried("", "the key is not valid"); cmd != nil || !strings.Contains(strings.Join(d.Lines(80, 20), "\n"), "not valid") {
		t.Error("a failure is not visible")
	}
	typed(d, "down", "down", "down", "enter")
	written(d, "sk-0")
	typed(d, "enter")
	d.Tried("", "the key is not valid")
	if text := strings.Join(d.Lines(80, 20), "\n"); !strings.Contains(text, "not valid") || d.key.field.Text() != "" {
		t.Errorf("the refused key stays, or no reason is visible:\n%s", text)
	}
	written(d, "sk-1")
	try, _ = outcome[Try](t, typed(d, "enter"))
	if try.Provider != "openai" || try.Key != "sk-1" || !d.trying {
		t.Errorf("%+v", try)
	}
	ready, closed := outcome[Ready](t, outcomes(d.Tried("openai/gpt-6", "")))
	if ready.Ref != "openai/gpt-6" || !closed {
		t.Errorf("%+v", ready)
	}
}

func TestHelpHasEachKey(t *testing.T) {
	o := options(t)
	p := NewHelp(commands(), o)
	text := ""
	for _, r := range p.rows {
		text += strings.Join(r.Cells, " ") + "\n"
	}
	for _, b := range o.Keys.Bindings() {
		if !strings.Contains(text, strings.Join(b.Keys, ", ")+" "+b.Words) {
			t.Errorf("no %s", b.Action)
		}
	}
}
