//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
)

// repository makes the project a repository with one commit.
func (p *project) repository() {
	p.t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=e2e", "-c", "user.email=e2e@example.com", "commit", "-qm", "first"}} {
		cmd := exec.CommandContext(p.t.Context(), "git", args...)
		cmd.Dir = p.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// loopProject is a repository with a model that follows the steps.
func loopProject(t *testing.T, steps ...modelserver.Step) (p *project, srv *modelserver.Server, run []string) {
	t.Helper()
	p = newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	p.repository()
	w := wayOf(t, "anthropic")
	srv = w.serve(p, modelserver.Steps(steps...))
	return p, srv, []string{"run", "--model", w.ref(), "--yes"}
}

// goals are the goals of a journal, in their order.
func goals(journal []session.Event) (all []session.Goal) {
	for _, e := range journal {
		if g, ok := e.Body.(session.Goal); ok {
			all = append(all, g)
		}
	}
	return all
}

// A check fails, the model sees its output and continues, and then the check passes. Its changes of files are in the journal.
func TestLoop(t *testing.T) {
	t.Parallel()
	const check = "echo ran >>checks.log; grep -qx 42 answer.txt && git status --short | grep -q answer || { echo there is no answer; exit 7; }"
	for _, output := range []string{"text", "json", "stream-json"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			p, srv, run := loopProject(t,
				modelserver.Say("It is done. <done>I am sure</done>"),
				modelserver.Call("write", `{"path":"answer.txt","content":"42\n"}`),
				modelserver.Say("Now it is. <done>the check passes</done>"))
			r := p.tenon(append(run, "--output", output, "--loop", "--check", check, "--rounds", "9", "Write the answer")...)
			if r.code != 0 {
				t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
			}
			switch all := strings.Split(strings.TrimSpace(r.stdout), "\n"); output {
			case "text":
				if !strings.Contains(r.stderr, "round 1: echo ran") || !strings.Contains(r.stderr, "goal completed in 2 rounds: the check passes") {
					t.Errorf("people see %s", r.stderr)
				}
			case "stream-json":
				if n := strings.Count(r.stdout, `"kind":"goal"`); n < 4 {
					t.Errorf("the stream has %d goals:\n%s", n, r.stdout)
				}
				fallthrough
			case "json":
				var result struct{ Goal session.Goal }
				if err := json.Unmarshal([]byte(all[len(all)-1]), &result); err != nil || result.Goal.State != session.GoalCompleted || result.Goal.Used.Rounds != 2 {
					t.Errorf("%v, the result has %+v", err, result.Goal)
				}
			}
			requests := srv.Requests()
			if said := requests[1].LastUser(); len(requests) != 3 || !strings.Contains(said, "there is no answer") || !strings.Contains(said, "exit code 7") {
				t.Errorf("%d requests; the model reads %q", len(requests), said)
			}
			journal := p.journal()
			changed := slices.ContainsFunc(journal, func(e session.Event) bool {
				b, ok := e.Body.(session.FilesChanged)
				return ok && b.Cause == session.ByCommand && strings.HasSuffix(b.Files[0].Path, "checks.log")
			})
			all := goals(journal)
			if first := all[0]; !changed || first.By.Kind != session.SpeakerPerson || first.Limits.Rounds != 9 {
				t.Errorf("the changes of the check are in the journal: %v; the goal is %+v", changed, first)
			}
			ended(t, journal)
		})
	}
}

// The exit code says how the goal ended. The session continues it.
func TestLoopEndsWithoutTheGoal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says, check string
		flags             []string
		code              int
		note              string
	}{
		{"blocked", "<blocked>there is no key</blocked>", "true", nil, 5, "goal blocked: there is no key"},
		{"rounds", "<done>x</done>", "test -e pass", []string{"--rounds", "1"}, 3, "goal not completed: the limit of 1 rounds"},
		{"turns", "<done>x</done>", "test -e pass", []string{"--max-turns", "1"}, 3, "the limit of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, srv, run := loopProject(t, modelserver.Say(c.says), modelserver.Say("<done>now</done>"))
			r := p.tenon(append(append(run, c.flags...), "--loop", "--check", c.check, "Reach it")...)
			if r.code != c.code || !strings.Contains(r.stderr, c.note) || !strings.Contains(r.stderr, "tenon run --session") {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
			p.write(filepath.Join(p.dir, "pass"), "")
			if r = p.tenon(append(run, "--continue")...); r.code != 0 || !strings.Contains(r.stderr, "goal completed") {
				t.Errorf("continued: exit code %d: %s", r.code, r.stderr)
			}
			if v := srv.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
	p, _, run := loopProject(t, modelserver.Say("Hello."))
	for _, args := range [][]string{{"--check", "true", "x"}, {"--rounds", "2", "x"}, {"--loop", "--schema", "x.json", "x"}, {"--loop"}} {
		if r := p.tenon(append(run, args...)...); r.code != 2 {
			t.Errorf("%q: exit code %d: %s", args, r.code, r.stderr)
		}
	}
	p.must(append(run, "Hello")...)
	if r := p.tenon(append(run, "--continue", "--loop")...); r.code != 2 || !strings.Contains(r.stderr, "no open goal") {
		t.Errorf("without a goal: exit code %d: %s", r.code, r.stderr)
	}
}

// Tenon is killed while a check runs, and while a call of a round runs. The next run continues the goal.
func TestKilledInALoop(t *testing.T) {
	t.Parallel()
	const wait = `echo up >up; sleep 1000`
	hangs, _ := json.Marshal(map[string]string{"command": "test -e pass || { " + wait + "; }"})
	for name, c := range map[string]struct {
		check string
		steps []modelserver.Step
	}{
		"check": {"test -e pass || { " + wait + "; }", []modelserver.Step{modelserver.Say("<done>once</done>"), modelserver.Say("<done>twice</done>")}},
		"call": {"test -e pass", []modelserver.Step{
			modelserver.Say("<done>once</done>"), modelserver.Call("shell", string(hangs)), modelserver.Say("<done>twice</done>"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, srv, run := loopProject(t, c.steps...)
			up := filepath.Join(p.dir, "up")
			if err := syscall.Mkfifo(up, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := p.command(t.Context(), append(run, "--loop", "--check", c.check, "Reach it")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if in, err := os.ReadFile(up); err != nil || string(in) != "up\n" {
				t.Fatalf("%q, %v", in, err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			p.write(filepath.Join(p.dir, "pass"), "")
			if r := p.tenon(append(run, "--continue")...); r.code != 0 || !strings.Contains(r.stderr, "goal completed in 2 rounds: twice") {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
			if v := srv.Violations(); len(v) > 0 {
				t.Error(v)
			}
			ended(t, p.journal())
		})
	}
}

// Tenon is killed before writes of a loop. Each next run continues the goal to its end.
func TestKilledBeforeWritesOfALoop(t *testing.T) {
	const check = `echo x >>n; test $(wc -l <n) -ge 3`
	for at := 1; at <= 40; at++ {
		if !sample.Takes(at, 8, 8) {
			continue
		}
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.env = append(p.env, "PATH="+os.Getenv("PATH"))
			w, armed := wayOf(t, "anthropic"), filepath.Join(p.home, "armed")
			srv := w.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step {
				p.write(armed, "")
				return modelserver.Say("<done>all of it</done>")
			}))
			run := []string{"run", "--model", w.ref(), "--yes"}
			lived, r := p.dies(at, armed, append(run, "--loop", "--check", check, "Reach it")...)
			before := p.journals()
			p.whole(before)
			if !lived {
				r = p.tenon(append(run, "--continue")...)
			}
			all := goals(p.journal())
			done := all[len(all)-1].State == session.GoalCompleted
			finished := !lived && done && strings.Contains(r.stderr, "nothing left to do") // it was killed after the goal was completed
			if !done || r.code != 0 && !finished {
				t.Errorf("lived: %v; exit code %d: %s", lived, r.code, r.stderr)
			}
			if v := srv.Violations(); len(v) > 0 {
				t.Error(v)
			}
			p.whole(before)
		})
	}
}
