//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// crew plays the models of an owner and its sub-agents: each agent is known by the first word of its prompt, and takes its steps in turn. Its last
// step repeats.
type crew map[string][]modelserver.Step

// serve lets the crew answer.
func (c crew) serve(p *project) *modelserver.Server {
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	var mu sync.Mutex
	return wayOf(p.t, "anthropic").serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		mu.Lock()
		defer mu.Unlock()
		said := 0
		var steps []modelserver.Step
		for _, m := range r.Messages {
			switch {
			case m.Role == llm.RoleAssistant:
				said++
			case m.Role == llm.RoleUser && steps == nil:
				for name, all := range c {
					for line := range strings.Lines(m.Text()) {
						if strings.HasPrefix(line, name+": ") {
							steps = all
						}
					}
				}
			}
		}
		if steps == nil {
			return modelserver.Fail(400)
		}
		return steps[min(said, len(steps)-1)]
	}))
}

// git runs git in the project.
func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository is a project that is a repository with one commit.
func newRepository(t *testing.T) *project {
	p := newProject(t)
	p.git("init", "-q")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "The beginning")
	return p
}

// reports returns the reports of the tasks of all sessions, by the names of the tasks.
func (p *project) reports() map[string][]session.TaskReport {
	p.t.Helper()
	names, all := map[session.ID]string{}, map[string][]session.TaskReport{}
	for _, e := range p.journal() {
		switch b := e.Body.(type) {
		case session.TaskCreated:
			names[b.Task] = b.Name
		case session.TaskSettled:
			all[names[b.Task]] = append(all[names[b.Task]], b.Report)
		}
	}
	return all
}

// An owner gives two tasks in one answer, one of them in a worktree. Both complete, and the owner reports. The worktree is merged, and the
// merge undone.
func TestTwoTasksAndAMerge(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	c := crew{
		"OWNER": {
			modelserver.Say("Two tasks.").
				Call("Task", `{"prompt": "SHARED: write a.txt", "description": "shared", "subagent_type": "general-purpose", "scope": {"paths": ["sub"]}}`).
				Call("agent", `{"task": "COPIED: change fact.txt", "name": "copied", "worktree": true}`),
			modelserver.Say("Both are done."),
		},
		"SHARED": {
			modelserver.Call("write", `{"path": "sub/a.txt", "content": "a\n"}`),
			modelserver.Call("complete", `{"summary": "wrote it", "files": ["sub/a.txt"]}`),
		},
		"COPIED": {
			modelserver.Call("write", `{"path": "made.txt", "content": "new\n"}`),
			modelserver.Call("complete", `{"summary": "made it", "files": ["made.txt"]}`),
		},
	}
	srv := c.serve(p)
	r := p.tenon("run", "--model", wayOf(t, "anthropic").ref(), "--mode", "edits", "--allow", "agent", "OWNER: do both")
	if r.code != 0 || r.stdout != "Both are done.\n" {
		t.Errorf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
	}
	if v := srv.Violations(); len(v) > 0 {
		t.Error(v)
	}
	reports := p.reports()
	for _, name := range []string{"shared", "copied"} {
		if all := reports[name]; len(all) != 1 || all[0].Outcome != session.TaskCompleted || len(all[0].Doubts) > 0 {
			t.Errorf("reports of %s: %+v", name, all)
		}
	}
	if data, err := os.ReadFile(filepath.Join(p.dir, "sub", "a.txt")); string(data) != "a\n" {
		t.Errorf("sub/a.txt has %q, %v", data, err)
	}
	made := filepath.Join(p.dir, "made.txt")
	if _, err := os.Stat(made); err == nil {
		t.Error("the task in the worktree changed the project")
	}
	if list := p.must("agents", "list"); !strings.Contains(list, "copied") || strings.Count(list, "completed") != 2 {
		t.Errorf("the list is %q", list)
	}
	if shown := p.must("agents", "show", "copied"); !strings.Contains(shown, "made it") || !strings.Contains(shown, "made.txt") {
		t.Errorf("the task is %q", shown)
	}
	if r := p.tenon("agents", "merge", "copied"); r.code != 2 || !strings.Contains(r.stdout, "made.txt (+1 -0)") {
		t.Errorf("exit code %d, preview %q; %s", r.code, r.stdout, r.stderr)
	}
	p.must("agents", "merge", "copied", "--yes")
	if data, err := os.ReadFile(made); string(data) != "new\n" {
		t.Errorf("made.txt has %q, %v", data, err)
	}
	p.must("undo")
	if _, err := os.Stat(made); err == nil {
		t.Error("undo left made.txt")
	}
	if _, err := os.Stat(filepath.Join(p.dir, "sub", "a.txt")); err != nil {
		t.Error("undo of the merge undid the run, too")
	}
	p.must("redo")
	p.must("agents", "remove", "copied", "--yes")
	if entries, err := os.ReadDir(p.data + "-worktrees"); len(entries) > 0 || err != nil {
		t.Errorf("%d worktrees are left, %v", len(entries), err)
	}
}

// A sub-agent cannot leave its scope: with a tool, through a link, with a command, or with a script that only the sandbox stops. The report names
// what it tried, and what it claims without having done it is a doubt.
func TestASubAgentThatLeavesItsScope(t *testing.T) {
	t.Parallel()
	p := newRepository(t)
	head := p.git("rev-parse", "HEAD")
	if err := os.Mkdir(filepath.Join(p.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(p.dir, "sub", "up")); err != nil {
		t.Fatal(err)
	}
	command := func(line string) modelserver.Step {
		return modelserver.Call("read", readFact).Call("shell", `{"command": "`+line+`"}`) // not all calls are denied
	}
	c := crew{
		"OWNER": {
			modelserver.Call("agent", `{"task": "CHILD: stay in sub", "name": "child", "scope": {"paths": ["sub"]}}`),
			modelserver.Say("It is done."),
		},
		"CHILD": {
			modelserver.Call("write", `{"path": "sub/run.sh", "content": "touch outside.txt"}`),
			command("sh sub/run.sh"),
			modelserver.Call("write", `{"path": "outside.txt", "content": "a\n"}`).Call("write", `{"path": "sub/up/outside.txt", "content": "a\n"}`),
			command("touch outside.txt"),
			command("ln -s .. sub/link; touch sub/link/outside.txt"),
			command("git -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m stolen"),
			modelserver.Call("complete", `{"summary": "all tests pass", "files": ["outside.txt"], "checks": ["go test ./..."]}`),
		},
	}
	c.serve(p)
	r := p.tenon("run", "--model", wayOf(t, "anthropic").ref(), "--mode", "auto", "--allow", "agent", "OWNER: give the task")
	if r.code != 0 || r.stdout != "It is done.\n" {
		t.Errorf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "outside.txt")); err == nil {
		t.Error("it wrote outside of its scope")
	}
	if now := p.git("rev-parse", "HEAD"); now != head {
		t.Error("it made a commit")
	}
	all := p.reports()["child"]
	if len(all) != 1 || len(all[0].Checks) != 1 || all[0].Checks[0].Verified || !strings.Contains(strings.Join(all[0].Doubts, "\n"), "outside.txt") {
		t.Fatalf("%+v", all)
	}
	ways := []string{
		"shell: write outside.txt (sandbox)", "write outside.txt (permission.scope)", "write sub/up/outside.txt (permission.scope)",
		"shell touch outside.txt (permission.scope)", "shell ln -s .. sub/link; touch sub/link/outside.txt (permission.scope)",
	}
	if sandbox.Look().Level() != sandbox.Namespaces {
		ways[0] = "shell sh sub/run.sh (permission.scope)"
	}
	if got := all[0]; got.Denials != len(ways)+1 || !slices.Equal(got.Denied, ways) {
		t.Errorf("%d calls were denied: %q", got.Denials, got.Denied)
	}
	var told bool
	for _, e := range p.journal() {
		m, ok := e.Body.(session.Message)
		told = told || ok && m.Tool == "agent" && strings.Contains(m.Text(), "Doubts about its claims") && strings.Contains(m.Text(), "Denied calls, 6 in all:\n- "+ways[0])
	}
	if !told {
		t.Error("the result of the owner names no doubt, or no denied call")
	}
	if shown := p.must("agents", "show", "child"); !strings.Contains(shown, "Denied calls, 6 in all:\n  "+ways[0]) {
		t.Errorf("the task is %q", shown)
	}
}

// The process is killed while two sub-agents work in the background. The next one continues both, and settles each once.
func TestKilledWithTwoSubAgents(t *testing.T) {
	t.Parallel()
	t.Run("while the owner waits for its answer", func(t *testing.T) {
		killedWithTwo(t, "", modelserver.Say("").Fault(modelserver.StallBeforeHeaders))
	})
	t.Run("after the answer of the owner", func(t *testing.T) {
		killedWithTwo(t, "Both are at work.", modelserver.Say("Both are at work."))
	})
}

func killedWithTwo(t *testing.T, answer string, second modelserver.Step) {
	t.Parallel()
	p := newProject(t)
	given := modelserver.Say("Two.").Call("agent", `{"task": "FIRST: go", "name": "first", "background": true}`).
		Call("agent", `{"task": "SECOND: go", "name": "second", "background": true}`)
	stalls := []modelserver.Step{modelserver.Say("").Fault(modelserver.StallBeforeHeaders)}
	srv := crew{"OWNER": {given, second}, "FIRST": stalls, "SECOND": stalls}.serve(p)
	run := []string{"run", "--model", wayOf(t, "anthropic").ref(), "--yes"}
	cmd := p.command(t.Context(), append(run, "OWNER: give two")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answered := func() bool {
		return answer == "" || slices.ContainsFunc(p.journal(), func(e session.Event) bool {
			m, ok := e.Body.(session.Message)
			return ok && m.Text() == answer
		})
	}
	for (len(srv.Requests()) < 4 || !answered()) && t.Context().Err() == nil {
		runtime.Gosched()
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	done := []modelserver.Step{modelserver.Call("complete", `{"summary": "did it"}`)}
	crew{
		"OWNER": {given, modelserver.Say("Both are at work."), modelserver.Say("One is done."), modelserver.Say("Both are done."), modelserver.Say("All is done.")},
		"FIRST": done, "SECOND": done,
	}.serve(p)
	if r := p.tenon(append(run, "--continue")...); r.code != 0 {
		t.Errorf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
	}
	for name, all := range p.reports() {
		if len(all) != 1 || all[0].Outcome != session.TaskCompleted {
			t.Errorf("reports of %s: %+v", name, all)
		}
	}
	if n := len(p.reports()); n != 2 {
		t.Errorf("%d tasks are settled", n)
	}
}
