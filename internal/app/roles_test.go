package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team/role"
)

// roleFile writes the file of a role.
func roleFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// become gives a conversation another role.
func become(t *testing.T, o *Opened, name string) {
	t.Helper()
	if err := o.Conversation.Set(t.Context(), session.Change{Role: name}); err != nil {
		t.Fatal(err)
	}
}

func stateOf(t *testing.T, o *Opened) conversation.State {
	t.Helper()
	s, err := o.Conversation.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The roles of a project count only if its directory is trusted, and their allow rules never do. The configuration sets models.
func TestRoles(t *testing.T) {
	dir := t.TempDir()
	project, conf := filepath.Join(dir, "project"), filepath.Join(dir, "config")
	getenv := vars("TENON_DATA_DIR", filepath.Join(dir, "data"), "TENON_CONFIG_DIR", conf, "HOME", filepath.Join(dir, "home"))
	allowing := "---\ndescription: Writes\nallow: write(docs/**)\ndeny: write(src/**)\n---\nWrite.\n"
	roleFile(t, filepath.Join(dir, "home", ".claude", "agents"), "docs", allowing)
	roleFile(t, filepath.Join(conf, "agents"), "wrong", "no front matter\n")
	roleFile(t, filepath.Join(project, ".tenon", "agents"), "tester", allowing)
	roleFile(t, filepath.Join(project, ".claude", "agents"), "planner", "---\ndescription: Of the project\n---\nPlan.\n")
	roleFile(t, conf, "tenon", "")
	if err := os.WriteFile(filepath.Join(conf, "tenon.json"), []byte(`{"roles": {"reviewer": "anthropic/claude-opus-5-5", "judge": "offline"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(getenv, project, "v1")
	if err != nil {
		t.Fatal(err)
	}
	find := func() (RoleSet, map[string]role.Role) {
		t.Helper()
		set, err := s.Roles(project)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]role.Role{}
		for _, r := range set.Roles {
			all[r.Name] = r
		}
		return set, all
	}
	set, all := find()
	if set.Inert != 2 || len(set.Problems) != 1 || len(set.Warnings()) != 2 || !slices.IsSortedFunc(set.Roles, func(a, b role.Role) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("without trust: %+v", set)
	}
	if all["tester"].Name != "" || all["planner"].File != "" || all["explorer"].Model != "" || all["reviewer"].Model != "anthropic/claude-opus-5-5" ||
		all["judge"].Model != "offline" || len(all["docs"].Rules.Allow) != 1 {
		t.Errorf("without trust: %+v", all)
	}
	if err := config.NewTrustStore(conf).Trust(t.Context(), config.ProjectRoot(project)); err != nil {
		t.Fatal(err)
	}
	set, all = find()
	if set.Inert != 0 || all["planner"].Description != "Of the project" || len(all["tester"].Rules.Allow) != 0 || len(all["tester"].Rules.Deny) != 1 || len(all["docs"].Rules.Allow) != 1 {
		t.Errorf("with trust: %+v, %+v", set, all)
	}
}

// A role narrows the conversation, and another role lifts that. Its prompt is a message: no epoch begins.
func TestARoleTakesEffect(t *testing.T) {
	dir := t.TempDir()
	write := `call write {"path": "src/a.txt", "content": "one"}` + "\n---\ntext Done.\n---\n"
	roleFile(t, filepath.Join(dir, "config", "agents"), "docs", "---\ndescription: Writes\ndeny: write(src/**)\nturns: 7\ncost: 3\ntime: 5m\n---\nYou write documents.\n")
	roleFile(t, filepath.Join(dir, "config", "agents"), "mute", "---\ndescription: Reads\ntools: read\n---\nYou read.\n")
	o := openedAt(t, dir, strings.Repeat(write, 6)+"text Done.", Opening{Permissions: Permissions{Mode: permission.Edits}, Limits: agent.Limits{Turns: 9, Cost: 2, Unpriced: budget.Notice}})
	for i, step := range []struct {
		role   string
		denied int
		mode   permission.Mode
		prompt string
		turns  int
	}{
		{"", 0, permission.Edits, "", 9},
		{"docs", 1, permission.Edits, "You write documents.", 7},
		{"planner", 1, permission.Plan, "You write a plan", 9},
		{"mute", 1, permission.Edits, "You read.", 9},
		{"builder", 0, permission.Edits, "You carry out one task", 9},
		{NoRole, 0, permission.Edits, "", 9},
	} {
		if step.role != "" {
			become(t, o, step.role)
		}
		before, denied, epochs := stateOf(t, o), 0, 0
		for e, err := range o.Conversation.Run(t.Context(), conversation.Prompt{Message: llm.UserText("Write.")}) {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case session.Message:
				if b.Outcome == session.OutcomeDenied {
					denied++
				}
			case session.Epoch:
				epochs++
			case session.RunStarted:
				if b.Config.Role != strings.TrimPrefix(step.role, NoRole) || b.Config.MaxTurns != step.turns || b.Config.MaxCost != 2 ||
					(b.Config.MaxTime == session.Duration(5*time.Minute)) != (step.role == "docs") {
					t.Errorf("step %d: %+v", i, b.Config)
				}
			case session.Context:
				for _, block := range b.Blocks {
					if block.Name == roleBlock && (step.prompt == "" != (block.Text == "") || !strings.Contains(block.Text, step.prompt)) {
						t.Errorf("step %d: the prompt is %q", i, block.Text)
					}
				}
			}
		}
		if denied != step.denied || before.Mode != step.mode || epochs > 0 && i > 0 || before.Role != strings.TrimPrefix(step.role, NoRole) {
			t.Errorf("step %d: %d calls denied, mode %s, %d epochs, role %q", i, denied, before.Mode, epochs, before.Role)
		}
		blocks, err := o.agent.environment(t.Context(), nil)
		if has := slices.ContainsFunc(blocks, func(b session.ContextBlock) bool { return b.Name == roleBlock }); err != nil || has != (step.prompt != "") {
			t.Errorf("step %d: the context has the role: %v, %v", i, has, err)
		}
	}
}

// A role never widens the mode of the person, and a person leaves a role to widen it.
func TestARoleKeepsTheModeOfThePerson(t *testing.T) {
	dir := t.TempDir()
	roleFile(t, filepath.Join(dir, "config", "agents"), "free", "---\ndescription: Everything\nmode: yolo\nallow: write\n---\nDo it.\n")
	o := openedAt(t, dir, "text Done.", Opening{Role: "free", Permissions: Permissions{Mode: permission.Plan}})
	if s := stateOf(t, o); s.Mode != permission.Plan || s.Role != "free" {
		t.Errorf("the role has mode %s", s.Mode)
	}
	become(t, o, "planner")
	err := o.Conversation.Set(t.Context(), session.Change{Mode: string(permission.Edits)})
	if err == nil || !strings.Contains(err.Error(), "the role planner allows at most mode plan") {
		t.Errorf("a wider mode than that of the role: %v", err)
	}
	if err := o.Conversation.Set(t.Context(), session.Change{Role: NoRole, Mode: string(permission.Edits)}); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, o); s.Mode != permission.Edits || s.Role != "" {
		t.Errorf("after the roles: mode %s, role %q", s.Mode, s.Role)
	}
}

// A role brings its model and its thinking, and takes them along. A model that the person chooses stays.
func TestTheModelOfARole(t *testing.T) {
	dir := t.TempDir()
	roleFile(t, filepath.Join(dir, "config", "agents"), "cheap", "---\ndescription: Cheap\nmodel: offline\nthinking: high\n---\nBe cheap.\n")
	roleFile(t, filepath.Join(dir, "config", "agents"), "claude", "---\ndescription: Of Claude Code\nmodel: opus\n---\nBe wise.\n")
	o := openedAt(t, dir, "text Done.", Opening{})
	own := stateOf(t, o)
	become(t, o, "cheap")
	if s := stateOf(t, o); s.Model.Ref() != "offline/rules" || o.agent.Header().Thinking != llm.ThinkHigh {
		t.Errorf("the role has model %s, thinking %s", s.Model.Ref(), o.agent.Header().Thinking)
	}
	become(t, o, "claude") // whose model is not set up
	if s := stateOf(t, o); s.Model.Ref() != own.Model.Ref() || o.agent.Header().Thinking != "" {
		t.Errorf("after the role: model %s, thinking %s", s.Model.Ref(), o.agent.Header().Thinking)
	}
	become(t, o, "cheap")
	if err := o.Conversation.Set(t.Context(), session.Change{Model: "offline/rules"}); err != nil {
		t.Fatal(err)
	}
	become(t, o, NoRole)
	if s := stateOf(t, o); s.Model.Ref() != "offline/rules" {
		t.Errorf("the model of the person is now %s", s.Model.Ref())
	}
}

// The names of Claude Code mean the newest usable model of a family.
func TestTheModelsOfClaude(t *testing.T) {
	dir := t.TempDir()
	s, err := NewSetup(vars("TENON_CONFIG_DIR", dir, "HOME", dir, "TENON_DATA_DIR", dir), dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	if ref, warning := modelOf(s, role.Role{Name: "r", Model: "haiku"}); ref != "" || !strings.Contains(warning, "set roles.r in ") {
		t.Errorf("without a key: %q, %q", ref, warning)
	}
	if s, err = NewSetup(vars("TENON_CONFIG_DIR", dir, "HOME", dir, "TENON_DATA_DIR", dir, "ANTHROPIC_API_KEY", "sk-ant-test"), dir, "v1"); err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"sonnet", "opus", "haiku"} {
		if ref, warning := modelOf(s, role.Role{Name: "r", Model: family}); !strings.HasPrefix(ref, "anthropic/claude-"+family) || warning != "" {
			t.Errorf("%s is %q, %q", family, ref, warning)
		}
	}
}

// A session continues in the role of its last run, also in a fork, until a flag names another one.
func TestARoleSurvivesAResume(t *testing.T) {
	dir := t.TempDir()
	roleFile(t, filepath.Join(dir, "config", "agents"), "gone", "---\ndescription: Soon gone\n---\nBe brief.\n")
	begin := func(o Opening) (*Opened, session.SessionID) {
		t.Helper()
		o.Permissions.Mode = permission.Edits
		c := openedAt(t, dir, strings.Repeat("text Done.\n---\n", 3)+"text Done.", o)
		say(t, c.Conversation, "go")
		return c, c.Conversation.Session()
	}
	ends := func(o *Opened) {
		t.Helper()
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		o.server, o.agent, o.app = nil, nil, nil // the test closes it once more
	}
	o, id := begin(Opening{Role: "planner"})
	ends(o)
	for _, step := range []struct {
		opening Opening
		role    string
		mode    permission.Mode
	}{
		{Opening{Which: conversation.Which{ID: string(id)}}, "planner", permission.Plan},
		{Opening{Which: conversation.Which{ID: string(id), Fork: true}}, "planner", permission.Plan},
		{Opening{Which: conversation.Which{ID: string(id)}, Role: NoRole}, "", permission.Edits},
		{Opening{Which: conversation.Which{ID: string(id)}}, "", permission.Edits},
		{Opening{Which: conversation.Which{ID: string(id)}, Role: "gone"}, "gone", permission.Edits},
	} {
		o, _ := begin(step.opening)
		if s := stateOf(t, o); s.Role != step.role || s.Mode != step.mode {
			t.Errorf("%+v: role %q, mode %s", step.opening.Which, s.Role, s.Mode)
		}
		ends(o)
	}
	if err := os.Remove(filepath.Join(dir, "config", "agents", "gone.md")); err != nil {
		t.Fatal(err)
	}
	o, _ = begin(Opening{Which: conversation.Which{ID: string(id)}})
	if s := stateOf(t, o); s.Role != "" || !slices.ContainsFunc(o.Warnings, func(w conversation.Warning) bool { return w.Code == "role.unusable" }) {
		t.Errorf("without its file: role %q, warnings %v", s.Role, o.Warnings)
	}
}
