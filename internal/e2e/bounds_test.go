//go:build linux

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
)

// TestAnUnattendedRefactoring lets a model rename a function across a small module, run its tests and commit, in mode auto.
// Tenon asks no question, the commands touch nothing outside, and undo restores everything.
func TestAnUnattendedRefactoring(t *testing.T) {
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	outside := filepath.Join(p.home, "outside.txt")
	p.write(outside, "mine")
	p.write(filepath.Join(p.dir, "go.mod"), "module example.com/calc\n\ngo 1.21\n")
	p.write(filepath.Join(p.dir, "calc.go"), "package calc\n\nfunc Ad(a, b int) int { return a + b }\n")
	p.write(filepath.Join(p.dir, "calc_test.go"), "package calc\n\nimport \"testing\"\n\nfunc TestAd(t *testing.T) {\n\tif Ad(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")

	w := wayOf(t, "anthropic")
	srv := w.serve(p, modelserver.Steps(
		modelserver.Call("read", `{"path":"calc.go"}`).Call("read", `{"path":"calc_test.go"}`).Call("grep", `{"pattern":"\\bAd\\b"}`),
		modelserver.Call("edit", `{"path":"calc.go","old_text":"func Ad(","new_text":"func Add("}`).
			Call("write", `{"path":"calc_test.go","content":"package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n"}`),
		// Not go test, which would compile the standard library again in this new home: workspace/sandbox tests that.
		modelserver.Call("shell", `{"command":"go build ./... && sed -i 's/Add/Sum/g' *.go && go build ./..."}`),
		modelserver.Call("write", `{"path":"helper.sh","content":"echo stolen > `+outside+`; echo x > ../escaped; cat `+p.home+`/.ssh/id; touch .git/hooks/pre-commit"}`),
		modelserver.Call("shell", `{"command":"sh helper.sh"}`),
		modelserver.Call("shell", `{"command":"cat `+p.home+`/.ssh/id"}`),
		modelserver.Call("write", `{"path":"`+outside+`","content":"stolen"}`),
		modelserver.Say("Renamed."),
	))
	if err := os.MkdirAll(filepath.Join(p.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.home, ".ssh", "id"), "a planted secret")
	r := p.tenon("run", "--model", w.ref(), "--mode", "auto", "Rename Ad to Sum.")
	if r.code != 0 && r.code != 4 {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	results := srv.Requests()[len(srv.Requests())-1].Results()
	for i, want := range map[int]string{
		5: "exit code 0", 7: "Read-only file system", 8: "secret path", 9: "outside the workspace",
	} {
		if i >= len(results) || !strings.Contains(results[i].Text(), want) {
			t.Errorf("result %d is not one with %q: %q", i, want, results[min(i, len(results)-1)].Text())
		}
	}
	for _, m := range results {
		if strings.Contains(m.Text(), "a planted secret") {
			t.Errorf("the secret was read: %s", m.Text())
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "mine" {
		t.Errorf("what lies outside is %q, %v", text, err)
	}
	for _, name := range []string{filepath.Join(filepath.Dir(p.dir), "escaped"), filepath.Join(p.dir, ".git", "hooks", "pre-commit")} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	changed := map[session.Cause]int{}
	for _, e := range p.journal() {
		if c, ok := e.Body.(session.FilesChanged); ok {
			changed[c.Cause] += len(c.Files)
		}
	}
	if changed[session.ByTool] != 3 || changed[session.ByCommand] < 2 {
		t.Errorf("the journal has the changes %v", changed)
	}
	if diff := git("diff", "--stat"); !strings.Contains(diff, "calc.go") {
		t.Errorf("nothing was changed: %s", diff)
	}
}

// TestLongOutputCanBeRead lets a model look into the whole of a long output by each way that it has, in a mode that lets it only look.
func TestLongOutputCanBeRead(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	p.write(filepath.Join(p.dir, "long.txt"), strings.Repeat("the same again\n", 20_000)+"the needle\n")
	named := regexp.MustCompile(`Read them: read \{"path":"([^"]+)"`)
	srv := wayOf(t, "anthropic").serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		results := r.Results()
		switch len(results) {
		case 0:
			return modelserver.Call("shell", `{"command":"cat long.txt"}`)
		case 1:
			found := named.FindStringSubmatch(results[0].Text())
			if found == nil {
				return modelserver.Say("no file")
			}
			return modelserver.Call("read", `{"path":"`+found[1]+`","offset":20000}`).
				Call("grep", `{"path":"`+found[1]+`","pattern":"needle"}`).Call("shell", `{"command":"tail -n 1 `+found[1]+`"}`)
		}
		return modelserver.Say("done")
	}))
	if r := p.tenon("run", "--model", wayOf(t, "anthropic").ref(), "--mode", "ask", "Look."); r.code != 0 {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	results := srv.Requests()[len(srv.Requests())-1].Results()
	if len(results) != 4 {
		t.Fatalf("%d results", len(results))
	}
	for _, m := range results[1:] {
		if !strings.Contains(m.Text(), "the needle") {
			t.Errorf("got %q", m.Text())
		}
	}
}

// TestAHomeInTheTemporaryDirectory is found by commands: its settings are read there, nothing is written, and its secrets stay hidden.
func TestAHomeInTheTemporaryDirectory(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	p.write(filepath.Join(p.home, ".gitconfig"), "[user]\n\tname = Me\n")
	if err := os.MkdirAll(filepath.Join(p.home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.home, ".ssh", "id"), "a planted secret")
	if r := p.tenon("sandbox", "--", "git", "config", "--global", "user.name"); r.code != 0 || r.stdout != "Me\n" {
		t.Errorf("%+v", r)
	}
	if r := p.tenon("sandbox", "--", "cat", filepath.Join(p.home, ".ssh", "id")); r.code == 0 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	if r := p.tenon("sandbox", "--", "git", "config", "--global", "user.name", "You"); r.code == 0 {
		t.Errorf("%+v", r)
	}
}
