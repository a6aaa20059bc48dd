package e2e_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
)

// Both questions of a sub-agent, for an answer and for permission, appear as its own, and it gets the answers.
func TestTerminalQuestionsOfASubAgent(t *testing.T) {
	t.Parallel()
	d := sit(t,
		modelserver.Call("Task", `{"prompt":"Decide","description":"decider"}`),                                                                          // the owner
		modelserver.Call("AskUserQuestion", `{"questions":[{"question":"Which color?","header":"Color","options":[{"label":"red"},{"label":"blue"}]}]}`), // the sub-agent
		modelserver.Call("Write", `{"file_path":"color.txt","content":"red"}`),
		modelserver.Call("complete", `{"summary":"It is red.","files":["color.txt"]}`),
		modelserver.Say("It decided."), // the owner
	)
	d.open(d.withModel()...)
	d.say("Let one decide")
	d.asks("Start another agent?")
	d.Press("y")
	d.Until("sub-agent decider: Which color?", "enter answer")
	d.Press("enter")
	d.asks("sub-agent decider: writes")
	if heard := d.heard(); !strings.Contains(heard, "red") {
		t.Errorf("the sub-agent heard\n%s", heard)
	}
	d.Press("y")
	d.idle("It decided.")
	if got := d.file("color.txt"); got != "red" {
		t.Errorf("color.txt is %q", got)
	}
	if all := d.reports()["decider"]; len(all) != 1 || all[0].Outcome != session.TaskCompleted || len(all[0].Doubts) > 0 {
		t.Errorf("%+v", all)
	}
	d.leaves()
}

// The question of a sub-agent in the background waits while the person sends another prompt. After a kill it is no longer there, and the sub-agent reports that its
// call was not started.
func TestTerminalPromptDuringAQuestion(t *testing.T) {
	t.Parallel()
	d := sit(t)
	begins := func(name string) {
		d.say("give a sub-agent the task in the background: create " + name + " with yes")
		d.asks("Start another agent?")
		d.Press("y")
		d.asks("Change " + name + "?")
		d.Press("esc")
		d.Gone("─ Permission ─")
	}
	d.start(small, console.Dark, "--model", "offline")
	d.Until(ready, "offline/rules")
	begins("made.txt")
	d.say("how many lines are in fact.txt")
	d.Until("1 line", "1 agent")
	d.Press("tab")
	d.asks("Change made.txt?")
	d.Press("y")
	d.Until("completed")
	d.idle()
	if got := d.file("made.txt"); strings.TrimSpace(got) != "yes" {
		t.Errorf("made.txt is %q", got)
	}
	begins("lost.txt")
	d.Kill()
	d.start(small, console.Dark, "--model", "offline", "--continue")
	d.Until(ready, "1 agent")
	d.Gone("Change lost.txt?")
	d.say("list the files")
	d.idle("completed", "This call was not started")
	if got := d.file("lost.txt"); got != "" {
		t.Errorf("lost.txt is %q", got)
	}
	d.leaves()
}

// A file that both sides changed stays as the person left it; with --marks it gets both versions, and undo takes them away.
func TestMergeWithConflicts(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	crew{
		"OWNER": {modelserver.Call("agent", `{"task":"CHILD: change it","name":"child","worktree":true}`), modelserver.Say("Done.")},
		"CHILD": {
			modelserver.Call("write", `{"path":"made.txt","content":"new\n"}`).Call("read", readFact),
			modelserver.Call("write", `{"path":"fact.txt","content":"The drawer holds ninety keys.\n"}`),
			modelserver.Call("complete", `{"summary":"changed it"}`),
		},
	}.serve(p)
	if r := p.tenon("run", "--model", wayOf(t, "anthropic").ref(), "--mode", "edits", "--allow", "agent", "OWNER: go"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	name, mine := filepath.Join(p.dir, "fact.txt"), "The drawer holds three keys.\n"
	p.write(name, mine)
	if r := p.tenon("agents", "merge", "child", "--yes"); !strings.Contains(r.stdout, "conflict: fact.txt") || !strings.Contains(r.stdout, "made.txt (+1 -0)") {
		t.Errorf("%+v", r)
	}
	if got := p.read(name); got != mine {
		t.Errorf("the version of the person is %q", got)
	}
	if got := p.read(filepath.Join(p.dir, "made.txt")); got != "new\n" {
		t.Errorf("the rest of the merge: %q", got)
	}
	if r := p.tenon("agents", "merge", "child", "--yes", "--marks"); r.code != 0 || !strings.Contains(r.stdout, "conflict: fact.txt") {
		t.Errorf("%+v", r)
	}
	if got := p.read(name); !strings.Contains(got, "<<<<<<<") || !strings.Contains(got, "three") || !strings.Contains(got, "ninety") {
		t.Errorf("with marks: %q", got)
	}
	p.must("undo")
	if got := p.read(name); got != mine {
		t.Errorf("after undo: %q", got)
	}
}

// A person stops a sub-agent in the background from another process: its run ends, the owner's too, and it cannot be stopped twice.
func TestStopASubAgentInTheBackground(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	srv := crew{
		"OWNER": {modelserver.Call("agent", `{"task":"CHILD: wait","name":"child","background":true}`), modelserver.Say("It is at work.")},
		"CHILD": {modelserver.Say("").Fault(modelserver.StallBeforeHeaders)},
	}.serve(p)
	cmd := p.command(t.Context(), "run", "--model", wayOf(t, "anthropic").ref(), "--yes", "OWNER: give it")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(srv.Requests()) < 3 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	p.must("agents", "stop", "child")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the run of the owner: %v", err)
	}
	if all := p.reports()["child"]; len(all) != 1 || all[0].Outcome != session.TaskCancelled {
		t.Errorf("%+v", all)
	}
	if r := p.tenon("agents", "stop", "child"); r.code != 1 || !strings.Contains(r.stderr, "team.late") {
		t.Errorf("%+v", r)
	}
}

// In a terminal, parallel runs show the changes of the best one and ask before they apply them.
func TestTerminalParallelRunsAsk(t *testing.T) {
	for _, answer := range []string{"y", "n"} {
		t.Run(answer, func(t *testing.T) {
			p, w, _ := contest(t, nil)
			cmd := p.command(t.Context(), "run", "--model", w.ref(), "--yes", "--parallel", "3", "--score", "go test ./...", "Correct the sum.")
			c := console.Start(t, cmd, console.Size{Width: 120, Height: 40}, console.Dark)
			c.Until("sum.go", "[y/N]")
			c.Send(answer)
			c.Press("enter")
			if code := c.Exit(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, c.Screen())
			}
			p.hasSum(map[string]string{"y": sumRight, "n": sumWrong}[answer])
		})
	}
}

// The commands of --score and --check run in the sandbox: it stops writes outside of the project.
func TestCommandsOfPeopleAreConfined(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"score": {"--mode", "edits", "--parallel", "2", "--apply", "--score"},
		"check": {"--mode", "edits", "--loop", "--check"},
		"yolo":  {"--mode", "yolo", "--loop", "--check"}, // without a sandbox, the same command writes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.env = append(p.env, "PATH="+os.Getenv("PATH"))
			p.git("init", "-q")
			outside, leaked, leak := filepath.Join(p.home, "outside.txt"), filepath.Join(p.dir, "leaked.txt"), ""
			if name == "score" { // the project is outside of the worktree
				leak = "echo it was here >" + leaked + "; "
			}
			args = append(append([]string{"run", "--model", "offline"}, args...), "echo it was here >"+outside+"; "+leak+"test -f made.txt")
			if r := p.tenon(append(args, "create the file made.txt with yes")...); r.code != 0 {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(outside); (err == nil) != (name == "yolo") {
				t.Errorf("the file outside: %v", err)
			}
			if _, err := os.Stat(leaked); err == nil {
				t.Error("the command wrote into the project")
			}
			if got := p.read(filepath.Join(p.dir, "made.txt")); got != "yes\n" {
				t.Errorf("made.txt is %q", got)
			}
		})
	}
}
