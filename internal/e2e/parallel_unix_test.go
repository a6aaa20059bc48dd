//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

const (
	sumWrong = "package sum\n\nfunc Add(a, b int) int { return a - b }\n"
	sumRight = "package sum\n\nfunc Add(a, b int) int { return a + b }\n"
	sumWorse = "package sum\n\nfunc Add(a, b int) int { return a - \n"
	sumTest  = "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Error(Add(2, 3))\n\t}\n}\n"
)

// contest is a project with a failing test, and the models of three branches: the first makes it worse, the second is refused, the third
// corrects it.
func contest(t *testing.T, came func()) (*project, way, *modelserver.Server) {
	p, w := newProject(t), wayOf(t, "anthropic")
	for name, text := range map[string]string{"go.mod": "module sum\n\ngo 1.25\n", "sum.go": sumWrong, "sum_test.go": sumTest} {
		p.write(filepath.Join(p.dir, name), text)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), "GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=", "GOTOOLCHAIN=local")
	return p, w, w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		said := r.System
		for _, m := range r.Messages {
			said += m.Text()
		}
		results := 0
		for _, m := range r.Messages {
			if m.Role == llm.RoleTool {
				results++
			}
		}
		text := map[string]string{"1": sumWorse, "3": sumRight}[branchWords.FindStringSubmatch(said)[1]]
		if came != nil {
			came()
		}
		switch {
		case text == "":
			return modelserver.Fail(400)
		case results == 0:
			return modelserver.Call("read", `{"path":"sum.go"}`)
		case results == 2:
			return modelserver.Say("Corrected.")
		}
		arguments, _ := json.Marshal(map[string]string{"path": "sum.go", "content": text})
		return modelserver.Call("write", string(arguments))
	}))
}

var branchWords = regexp.MustCompile(`parallel-[0-9a-z]{6}-(\d)`)

// The command decides between parallel runs. The change of the best one comes into the project, undo reverts it, and the worktrees stay.
func TestParallelRuns(t *testing.T) {
	p, w, srv := contest(t, nil)
	r := p.tenon("run", "--model", w.ref(), "--yes", "--parallel", "3", "--score", "go test ./...", "--apply", "--output", "json", "Correct the sum.")
	var out struct {
		Answer   string
		Usage    struct{ Output int }
		Parallel struct {
			Branches []struct{ Worktree, Error string }
			Selected string
			Applied  bool
			Files    []struct {
				Path           string
				Added, Removed int
			}
			Entries []struct{ Kind string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); r.code != 0 || err != nil {
		t.Fatalf("%v, %+v", err, r)
	}
	got := out.Parallel
	if !strings.HasSuffix(got.Selected, "-3") || !got.Applied || out.Answer != "Corrected." || out.Usage.Output == 0 || len(got.Branches) != 3 ||
		got.Branches[0].Error != "" || got.Branches[1].Error == "" {
		t.Errorf("%s", r.stdout)
	}
	if len(got.Files) != 1 || got.Files[0].Path != "sum.go" || got.Files[0].Added != 1 || got.Files[0].Removed != 1 {
		t.Errorf("%+v", got.Files)
	}
	if len(got.Entries) != 2 || got.Entries[0].Kind != "parallel_started" || got.Entries[1].Kind != "parallel_ended" {
		t.Errorf("%+v", got.Entries)
	}
	for i, want := range []string{sumWorse, sumWrong, sumRight} {
		if text := p.read(filepath.Join(p.data+"-worktrees", got.Branches[i].Worktree, "sum.go")); text != want {
			t.Errorf("branch %d: %q", i+1, text)
		}
	}
	if v := srv.Violations(); len(v) > 0 {
		t.Error(v)
	}
	p.hasSum(sumRight)
	if r := p.tenon("undo"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	p.hasSum(sumWrong)
}

// Without a terminal and without --apply the project stays as it is, and the text says what applies the result.
func TestParallelRunsApplyNothingByThemselves(t *testing.T) {
	p, w, _ := contest(t, nil)
	r := p.tenon("run", "--model", w.ref(), "--mode", "edits", "--parallel", "3", "--judge", "tokens", "Correct the sum.")
	if r.code != 0 || r.stdout != "Corrected.\n" || !strings.Contains(r.stderr, "tenon run --merge parallel-") || !strings.Contains(r.stderr, "sum.go | +1 -1") {
		t.Errorf("%+v", r)
	}
	p.hasSum(sumWrong)
	name := regexp.MustCompile(`--merge (\S+)`).FindStringSubmatch(r.stderr)[1]
	if r := p.tenon("run", "--merge", name, "--apply"); r.code != 0 || p.read(filepath.Join(p.dir, "sum.go")) == sumWrong {
		t.Errorf("%+v", r)
	}
	if r := p.tenon("undo"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	p.hasSum(sumWrong)
	if r := p.tenon("run", "--discard", name); r.code != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(p.data+"-worktrees", name)); err == nil {
		t.Error("the worktree is still there")
	}
}

// A kill in the middle leaves the project as it was, and the next run works.
func TestParallelRunsKilled(t *testing.T) {
	came, killed := make(chan bool, 3), make(chan bool)
	var once sync.Once
	p, w, _ := contest(t, func() {
		select {
		case came <- true:
		default:
		}
		<-killed
	})
	defer once.Do(func() { close(killed) })
	args := []string{"run", "--model", w.ref(), "--yes", "--parallel", "3", "--score", "go test ./...", "--apply", "Correct the sum."}
	cmd := p.command(context.Background(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // all three are at work
		<-came
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	once.Do(func() { close(killed) })
	p.hasSum(sumWrong)
	if r := p.tenon(args...); r.code != 0 {
		t.Errorf("%+v", r)
	}
	p.hasSum(sumRight)
	p.whole(nil)
}

func (p *project) hasSum(want string) {
	p.t.Helper()
	if got := p.read(filepath.Join(p.dir, "sum.go")); got != want {
		p.t.Errorf("sum.go is %q", got)
	}
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		p.t.Error(err)
	}
	return string(data)
}
