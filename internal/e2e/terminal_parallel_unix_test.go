//go:build linux || darwin

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// TestTerminalParallel lets two agents compete in the terminal. The person looks at them while they work, looks at the changes of the better
// one, and applies them. Then the person discards the results of other runs, and cancels the last ones.
func TestTerminalParallel(t *testing.T) {
	t.Parallel()
	d := sit(t)
	go1 := make(chan struct{}, 100) // lets a request go on
	d.model = wayOf(t, "anthropic").serve(d.project, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		said, done := r.System, false
		for _, m := range r.Messages {
			said += m.Text()
			done = done || m.Role == llm.RoleTool
		}
		if done {
			return modelserver.Say("Written.")
		}
		select {
		case <-go1:
		case <-t.Context().Done():
		}
		text := map[string]string{"1": "wrong\n", "2": "right\n"}[branchWords.FindStringSubmatch(said)[1]]
		arguments, _ := json.Marshal(map[string]string{"path": "new.txt", "content": text})
		return modelserver.Call("write", string(arguments))
	}))
	goes := func(n int) {
		for range n {
			go1 <- struct{}{}
		}
	}
	worktrees := func() int {
		all, _ := os.ReadDir(d.data + "-worktrees")
		return len(all)
	}
	const line = "/parallel 2 --score 'grep right new.txt' Write the file"
	d.open(d.withModel("--mode", "edits")...)
	d.say(line)
	d.Until("2 runs on one prompt: Write the file", "2 agents", "esc cancels")
	d.Press("alt+a")
	d.Until("─ Agents ─", "› run 1", "  run 2", "running", "parallel", "claude-sonnet-4-6")
	d.Press("enter")
	d.Until("agent run 1 · running · esc back", "› Write the file")
	d.Press("alt+n")
	d.Until("agent run 2 · running")
	d.Press("esc")
	d.Gone("esc back")
	goes(2)
	d.Until("─ Parallel runs ─", "selected: ", "› new.txt  +1 -0", "enter diff", "y apply", "ctrl+d discard")
	d.Press("enter")
	d.Until("─ new.txt ─", "right")
	d.Press("esc")
	d.Until("─ Parallel runs ─")
	d.Press("y")
	d.Until("applied: 1 file; /undo reverts them")
	if text := d.file("new.txt"); text != "right\n" || worktrees() != 0 {
		t.Errorf("the file is %q, and there are %d worktrees", text, worktrees())
	}
	d.say("/undo")
	d.Until("files restored: 1")
	if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil {
		t.Error("the file is still there")
	}

	goes(2)
	d.say(line)
	d.Until("─ Parallel runs ─", "› new.txt  +1 -0")
	d.Press("esc")
	d.Gone("─ Parallel runs ─")
	if n := worktrees(); n != 2 {
		t.Errorf("%d worktrees stayed", n)
	}
	d.say("/parallel")
	d.Until("─ Parallel runs ─", "› new.txt  +1 -0")
	d.write(filepath.Join(d.dir, "new.txt"), "mine\n")
	d.Press("y")
	d.Until("changed since")
	if text := d.file("new.txt"); text != "mine\n" {
		t.Errorf("the file is %q", text)
	}
	if err := os.Remove(filepath.Join(d.dir, "new.txt")); err != nil {
		t.Error(err)
	}
	d.say("/parallel")
	d.Until("─ Parallel runs ─", "› new.txt  +1 -0")
	d.Press("ctrl+d")
	d.Until("Discard all results, in 2 worktrees?")
	d.Press("enter")
	d.Until("2 worktrees discarded")
	if _, err := os.Stat(filepath.Join(d.dir, "new.txt")); err == nil || worktrees() != 0 {
		t.Errorf("the file is there, or %d worktrees are", worktrees())
	}

	d.say(line)
	d.Until("2 agents", "esc cancels")
	d.Press("esc")
	d.Until("cancelled; /parallel discards the worktrees")
	d.Gone("2 agents")
	d.say("/parallel")
	d.Until("─ Parallel runs ─", "no result was selected")
	d.Press("ctrl+d")
	d.Until("Discard all results, in 2 worktrees?")
	d.Press("enter")
	d.Until("2 worktrees discarded")

	d.say(line) // the end of the terminal cancels the runs
	d.Until("2 agents", "esc cancels")
	d.Press("ctrl+d")
	if code := d.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.open("--continue")
	d.say("/parallel")
	d.Until("─ Parallel runs ─", "no result was selected")
	d.Press("ctrl+d")
	d.Until("Discard all results, in 2 worktrees?")
	d.Press("enter")
	d.Until("2 worktrees discarded")
	d.leavesInOrder()
}
