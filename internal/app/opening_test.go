package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// opened opens a new conversation in a directory, with a script that answers.
func opened(t *testing.T, script string, o Opening) *Opened {
	t.Helper()
	return openedAt(t, t.TempDir(), script, o)
}

// openedAt is opened with a project and a home in a directory.
func openedAt(t *testing.T, dir, script string, o Opening) *Opened {
	t.Helper()
	o.Getenv = vars("TENON_DATA_DIR", filepath.Join(dir, "data"), "TENON_CONFIG_DIR", filepath.Join(dir, "config"), "HOME", filepath.Join(dir, "home"))
	o.Dir, o.Version, o.Owner = filepath.Join(dir, "project"), "v1", "a test"
	if o.Client == nil {
		o.Client = llmtest.Must(script)
	}
	for _, name := range []string{"project", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, err := OpenConversation(t.Context(), o)
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

// say prompts and waits for the end of the run.
func say(t *testing.T, c conversation.Conversation, text string) (denied int) {
	t.Helper()
	before, err := c.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prompt(t.Context(), conversation.Prompt{Message: llm.UserText(text)}); err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Follow(t.Context(), before.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.Message:
			if b.Outcome == session.OutcomeDenied {
				denied++
			}
		case session.RunEnded:
			return denied
		}
	}
	return denied
}

// An undo works on an open session, also of files, and the conversation continues from there.
func TestRewindOfAnOpenConversation(t *testing.T) {
	c := opened(t, `call write {"path": "a.txt", "content": "one"}`+"\n---\ntext Done.\n---\ntext Again.",
		Opening{Permissions: Permissions{Mode: permission.Edits}}).Conversation
	say(t, c, "write it")
	s, err := c.State(t.Context())
	if err != nil || s.Mode != permission.Edits || s.Title == "" || s.Run != "" {
		t.Errorf("the state is %+v, %v", s, err)
	}
	name := filepath.Join(s.Dir, "a.txt")
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	if plan, err := c.Rewind(t.Context(), conversation.Back{DryRun: true}); err != nil || len(plan.Files) != 1 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if _, err := c.Rewind(t.Context(), conversation.Back{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := c.Rewind(t.Context(), conversation.Back{Redo: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error("the redo did not restore the file:", err)
	}
	say(t, c, "and now?")
}

// Another mode holds from the next call on.
func TestTheModeOfAnOpenConversationChanges(t *testing.T) {
	c := opened(t, `call write {"path": "a.txt", "content": "one"}`+"\n---\ntext Denied.\n---\n"+`call write {"path": "a.txt", "content": "one"}`+"\n---\ntext Done.",
		Opening{Permissions: Permissions{Mode: permission.Plan}}).Conversation
	if denied := say(t, c, "write it"); denied != 1 {
		t.Errorf("%d calls were denied in mode plan", denied)
	}
	if err := c.Set(t.Context(), session.Change{Mode: string(permission.Edits)}); err != nil {
		t.Fatal(err)
	}
	if err := c.Set(t.Context(), session.Change{Thinking: llm.ThinkHigh}); err != nil {
		t.Fatal(err)
	}
	if denied := say(t, c, "write it now"); denied != 0 {
		t.Errorf("%d calls were denied in mode edits", denied)
	}
	if err := c.Set(t.Context(), session.Change{Mode: "wild"}); !errors.Is(err, conversation.ErrUnsupported) {
		t.Errorf("to an unknown mode: %v", err)
	}
}

// A mode hides the tools that it always denies. A wider mode shows them in a new epoch; a narrower one leaves the prefix of requests as it is.
func TestAModeHidesWhatItDenies(t *testing.T) {
	c := opened(t, strings.Repeat("text Done.\n---\n", 6)+"text Done.", Opening{Permissions: Permissions{Mode: permission.Inspect}}).Conversation
	for i, step := range []struct {
		mode           permission.Mode
		epoch          string // the reason of the new one
		edits, fetches bool
	}{
		{"", "start", false, false},
		{permission.Plan, "tools", false, true},
		{permission.Edits, "tools", true, true},
		{permission.Plan, "", true, true},
		{permission.Inspect, "", true, true},
		{permission.Yolo, "", true, true},
	} {
		if step.mode != "" {
			if err := c.Set(t.Context(), session.Change{Mode: string(step.mode)}); err != nil {
				t.Fatal(err)
			}
		}
		reason := ""
		for e, err := range c.Run(t.Context(), conversation.Prompt{Message: llm.UserText("Go on.")}) {
			if err != nil {
				t.Fatal(err)
			}
			epoch, ok := e.Body.(session.Epoch)
			if !ok {
				continue
			}
			reason = epoch.Reason
			has := map[string]bool{"read": true, "edit": step.edits, "write": step.edits, "fetch": step.fetches}
			for _, tool := range epoch.Tools {
				if want, ok := has[tool.Name]; ok && !want || slices.Contains(append(config.RareTools(), config.LateTools()...), tool.Name) {
					t.Errorf("step %d: the model gets %s", i, tool.Name)
				}
				delete(has, tool.Name)
			}
			for name, want := range has {
				if want {
					t.Errorf("step %d: the model does not get %s", i, name)
				}
			}
		}
		if reason != step.epoch {
			t.Errorf("step %d: an epoch because of %q, want %q", i, reason, step.epoch)
		}
	}
}

// The model can call a tool that it does not get. The configuration adds tools.
func TestOffers(t *testing.T) {
	w := newWorkplace(t)
	w.write("home/.config/tenon/tenon.json", `{"tools": ["multi_edit", "cleanup"]}`)
	w.configure()
	w.write("repo/f.txt", "a\n")
	w.script(calls("delete", `{"paths": ["f.txt"]}`), calls("multi_edit", `{"path": "f.txt", "edits": [{"old_text": "a", "new_text": "b"}]}`))
	w.open()
	events := w.ask("go")
	var names []string
	for _, tool := range of[session.Epoch](events)[0].Tools {
		names = append(names, tool.Name)
	}
	for name, want := range map[string]bool{"multi_edit": true, "cleanup": true, "delete": false, "list": false, "download": false, "revert": false, "artifact": false} {
		if slices.Contains(names, name) != want {
			t.Errorf("the model gets %v", names)
		}
	}
	w.wants(w.sent(0), "f.txt exists and was not read yet", "edited f.txt")
}

// A change to mode yolo and back changes the policy, the boundary and the text for the model together.
func TestAnOpenConversationChangesToYoloAndBack(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "home", ".ssh", "id_ed25519")
	if err := errors.Join(os.MkdirAll(filepath.Dir(secret), 0o700), os.WriteFile(secret, []byte("a key"), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := `call read {"path": ` + strconv.Quote(filepath.ToSlash(secret)) + "}\n---\ntext Done.\n---\n"
	o := openedAt(t, dir, strings.Repeat(read, 4), Opening{Permissions: Permissions{Mode: permission.Auto}})
	c := o.Conversation
	confined := func(want bool) {
		t.Helper()
		if o.agent.site.workspace.Confined() != want {
			t.Errorf("commands are confined: %v", !want)
		}
		blocks, err := o.agent.environment(t.Context(), nil)
		if err != nil || strings.Contains(blocks[0].Text, "Commands run in a sandbox") != want {
			t.Errorf("the model sees %q, %v", blocks[0].Text, err)
		}
	}
	confined(true)
	for _, change := range []struct {
		mode  permission.Mode
		reads bool
	}{{"", false}, {permission.Yolo, true}, {permission.Auto, false}, {permission.Yolo, true}} {
		if change.mode != "" {
			if err := c.Set(t.Context(), session.Change{Mode: string(change.mode)}); err != nil {
				t.Fatal(err)
			}
		}
		read := false
		for e, err := range c.Run(t.Context(), conversation.Prompt{Message: llm.UserText("Read it.")}) {
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleTool {
				read = strings.Contains(m.Text(), "a key")
			}
		}
		if read != change.reads {
			t.Errorf("mode %q: the model reads the secret: %v", change.mode, read)
		}
		confined(!change.reads)
	}
}

// The network of commands changes without the mode, and a role brings its model.
func TestTheNetworkOfAnOpenConversationChanges(t *testing.T) {
	o := opened(t, "text Done.", Opening{Permissions: Permissions{Mode: permission.Auto}})
	for network, want := range map[string]string{"example.org,example.net": "example.org, example.net", "none": "no network", "*": "reach the network"} {
		if err := o.Conversation.Set(t.Context(), session.Change{Network: network}); err != nil {
			t.Fatal(err)
		}
		blocks, err := o.agent.environment(t.Context(), nil)
		if err != nil || !strings.Contains(blocks[0].Text, want) {
			t.Errorf("%s: the model sees %q, %v", network, blocks[0].Text, err)
		}
	}
	o.Setup.Config.Roles = map[string]string{"judge": "offline"}
	if err := o.Conversation.Set(t.Context(), session.Change{Role: "judge"}); err != nil {
		t.Fatal(err)
	}
	if s, err := o.Conversation.State(t.Context()); err != nil || s.Model.Ref() != "offline/rules" {
		t.Errorf("the role has model %s, %v", s.Model.Ref(), err)
	}
	if err := o.Conversation.Set(t.Context(), session.Change{Role: "cook", Mode: "yolo"}); !IsUnknown(err) {
		t.Errorf("an unknown role: %v", err)
	}
	if s, _ := o.Conversation.State(t.Context()); s.Mode != permission.Auto {
		t.Error("a refused change has changed the mode")
	}
}
