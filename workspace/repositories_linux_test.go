package workspace_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// project is a person's repository, and a program outside that must not run.
type project struct {
	t           *testing.T
	dir, home   string
	marker, bad string
	w           *workspace.Workspace
}

// settings make git cheap: it starts no maintenance after a commit, and does not wait for the disk.
const settings = `
[user]
	name = T
	email = t@example.com
[protocol "file"]
	allow = always
[init]
	defaultBranch = main
[core]
	fsync = none
[maintenance]
	auto = false
[gc]
	auto = 0
`

// confined reports whether commands can run in the sandbox here.
var confined = sync.OnceValue(func() bool { return sandbox.Look().Level() == sandbox.Namespaces })

// newProject makes one with a file and a first commit. prepare may add to it before the workspace is opened.
func newProject(t *testing.T, follow bool, prepare ...string) *project {
	t.Helper()
	if !confined() {
		t.Skip("no sandbox here")
	}
	base := realDir(t)
	p := &project{t: t, dir: filepath.Join(base, "work"), home: filepath.Join(base, "home"), marker: filepath.Join(base, "marker")}
	p.bad = "touch " + p.marker + "; false"
	write(t, base, map[string]string{
		"work/file": "mine\n", "work/.gitignore": "ignored/\n", "home/.gitconfig": settings, "template/hooks/": "", "template/info/exclude": "",
	})
	for _, line := range append([]string{"git init -q . && git add -A && git commit -q -m first"}, prepare...) {
		if out, err := p.outside(".", line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	os.Remove(p.marker)
	bounds := sandbox.ForProject(p.dir)
	o := workspace.Options{Sandbox: &sandbox.Policy{
		Writable: bounds.Writable, Protected: bounds.Protected, Absent: bounds.Absent, Readable: []string{base}, Git: []string{bounds.Git},
	}}
	if follow {
		o.Checkpoints, o.Changed = contents.NewDir(filepath.Join(base, "kept"), contents.Options{}), func(context.Context, []workspace.Change) error { return nil }
	}
	p.w = openWith(t, p.dir, o)
	return p
}

// outside runs a shell as the person does.
func (p *project) outside(dir, line string) (string, error) {
	cmd := exec.CommandContext(p.t.Context(), "bash", "-c", line)
	cmd.Dir = filepath.Join(p.dir, dir)
	cmd.Env = append(os.Environ(), p.vars()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *project) vars() []string {
	return []string{
		"HOME=" + p.home, "BAD=" + p.bad, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TEMPLATE_DIR=" + filepath.Join(filepath.Dir(p.dir), "template"), // without a dozen sample hooks
	}
}

// inside runs a script in the sandbox and returns the reported blocks.
func (p *project) inside(script string) string {
	p.t.Helper()
	done, err := p.w.Run(p.t.Context(), workspace.Command{Line: "set -e; unset GIT_CONFIG_COUNT\n" + script, Env: p.vars()})
	if err != nil {
		p.t.Fatal(err)
	}
	if done.ExitCode != 0 || done.Trouble != nil {
		p.t.Fatalf("exit %d, %v: %s", done.ExitCode, done.Trouble, done.Head)
	}
	return told(done)
}

// job runs a script in the sandbox as a job that keeps running after the script.
func (p *project) job(script string) *workspace.Job {
	up := make(chan bool)
	var once sync.Once
	job := start(p.t, p.w, workspace.Command{Line: script + "; echo up; sleep 1000", Env: p.vars(), Report: func(text []byte) {
		if strings.HasSuffix(string(text), "up\n") {
			once.Do(func() { close(up) })
		}
	}})
	<-up
	return job
}

func told(done workspace.Finished) (text string) {
	for _, b := range done.Blocked {
		text += b.String() + "\n"
	}
	return text
}

// safe runs git in every directory and checks that the planted program did not run.
func (p *project) safe(places ...string) {
	p.t.Helper()
	const asked = `git status; git log -1; git diff; git fetch; git commit --allow-empty -m x; git push; git checkout -B other`
	for _, place := range append([]string{"."}, places...) {
		out, _ := p.outside(place, "set -x; "+asked) // much of that fails
		if _, err := os.Lstat(p.marker); err == nil {
			p.t.Fatalf("in %s the program ran: %s", place, out)
		}
	}
}

// trap is a way to leave something in a repository that git runs.
type trap struct {
	name, script string
	places       []string // other directories in which git runs
	named        []string // the reported names
}

func traps(t *testing.T) (list []trap) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "traps.txt"))
	if err != nil {
		t.Fatal(err)
	}
	split := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, part := range strings.Split(string(text), "\n-- ")[1:] {
		head, script, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, " | ")
		if len(fields) != 3 {
			t.Fatalf("%q has no three parts", head)
		}
		list = append(list, trap{fields[0], script, split(fields[1]), split(fields[2])})
	}
	return list
}

func TestRepositoriesOfCommandsRunNothingOutside(t *testing.T) {
	for _, follow := range []bool{true, false} {
		list := traps(t)
		if !follow {
			list = list[:6] // the difference is how the directories are found
			if !sample.All() {
				list = list[:2]
			}
		}
		for _, trap := range list {
			t.Run(fmt.Sprintf("%s, %v", trap.name, follow), func(t *testing.T) {
				t.Parallel()
				p := newProject(t, follow)
				text := p.inside(trap.script)
				for _, want := range trap.named {
					if !strings.Contains(text, want) {
						t.Errorf("the report does not name %s:\n%s", want, text)
					}
				}
				p.safe(trap.places...)
				if names, err := os.ReadDir(p.home); len(names) != 1 || err != nil {
					t.Errorf("the home has %v, %v", names, err)
				}
				if again := p.inside("true"); again != "" {
					t.Errorf("it is reported again: %s", again)
				}
			})
		}
	}
}

// Traps are no traps when they do not work where there is no guard.
func TestTrapsWork(t *testing.T) {
	for _, trap := range traps(t) {
		switch trap.name {
		case "a submodule that is a gitlink", "a gitlink that is ignored", "included settings", "settings of a worktree", "a hook",
			"a file that leads elsewhere in the workspace", "a bare repository", "a common directory", "a hook of a new module",
			"a repository among references", "a repository in what comes back":
			t.Run(trap.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t, false)
				if out, err := p.outside(".", "set -e; "+trap.script); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				const asked = "git status; git checkout -q --orphan other; git commit -q --allow-empty -m x; ls "
				if out, err := p.outside(trap.places[0], asked+p.marker); err != nil {
					t.Errorf("it does not work: %v\n%s", err, out)
				}
			})
		}
	}
}

func TestRepositoriesOfAPersonStayAsTheyAre(t *testing.T) {
	const mine = `git init -q mine && cd mine && git config core.fsmonitor "echo mine; :" && git config core.hooksPath /dev/null &&
		printf '#!/bin/sh\necho hook' >.git/hooks/pre-commit && chmod 755 .git/hooks/pre-commit`
	for name, c := range map[string]struct{ script, told string }{
		"nothing":                   {`true`, ""},
		"settings that run nothing": {`git -C mine remote add origin https://example.com/x; git -C mine config --unset remote.origin.url`, "config"},
		"a setting more":            {`git -C mine config alias.x '!true'`, "config"},
		"a setting changed":         {`git -C mine config core.fsmonitor "$BAD"`, "config"},
		"a setting gone":            {`git -C mine config --unset core.hooksPath`, "config"},
		"all settings gone":         {`rm mine/.git/config`, "config"},
		"a hook changed":            {`echo "$BAD" >>mine/.git/hooks/pre-commit || true`, "hooks/pre-commit"},
		"a hook switched off":       {`chmod -x mine/.git/hooks/pre-commit || true`, "hooks/pre-commit"},
		"a hook gone":               {`rm -r mine/.git/hooks || true`, "hooks/"},
		"a hook more":               {`cp mine/.git/hooks/pre-commit mine/.git/hooks/post-checkout || true`, "hooks/post-checkout"},
		"hooks replaced by a link":  {`rm -r mine/.git/hooks || mkdir h; ln -s ../../h mine/.git/hooks || true`, "hooks"},
		"another repository":        {`mv mine/.git mine/.other || true; git init -q mine; git -C mine config core.pager "$BAD"`, "config"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, true, mine)
			state := func(of string) string {
				out, err := p.outside(of, "cat config hooks/pre-commit; stat -c %a config hooks/pre-commit; ls hooks | grep -v sample")
				if err != nil {
					t.Fatal(err, out)
				}
				return out
			}
			before := state("mine/.git")
			text := p.inside(c.script)
			if (text == "") != (c.told == "") || !strings.Contains(text, c.told) {
				t.Errorf("reported %q", text)
			}
			if _, err := os.Lstat(p.marker); err == nil {
				t.Error("it ran")
			}
			if after := state("mine/.git"); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
	t.Run("moved", func(t *testing.T) {
		p := newProject(t, true, mine)
		if text := p.inside(`mkdir d; mv mine d/other`); text != "" {
			t.Errorf("reported %q", text)
		}
		if text := p.inside(`rm -rf d`); text != "" {
			t.Errorf("reported %q", text)
		}
	})
	t.Run("changed by the person between commands", func(t *testing.T) {
		p := newProject(t, true)
		p.inside("true")
		if out, err := p.outside(".", mine); err != nil {
			t.Fatal(err, out)
		}
		if text := p.inside("git -C mine commit -q --allow-empty --no-verify -m x"); text != "" {
			t.Errorf("reported %q", text)
		}
	})
}

// What people and tests do with repositories goes on to work.
func TestRepositoriesCanBeUsed(t *testing.T) {
	lib := `git init -q ../lib && git -C ../lib commit -q --allow-empty -m x`
	for name, script := range map[string]string{
		"init":   `git init -q sub; cd sub; git config user.name X; echo x >y; git add y; git commit -q -m x; git checkout -q -b b`,
		"clone":  `git clone -q ../lib sub; cd sub; git checkout -q -b b --track origin/main; git fetch -q`,
		"bare":   `git init -q --bare sub.git; git clone -q sub.git sub; cd sub; git commit -q --allow-empty -m x; git push -qu origin HEAD`,
		"shared": `git clone -q --shared ../lib sub; git clone -q --reference ../lib ../lib sub2; git -C sub log -1 >out`,
		"submodule": `git init -q sub; cd sub; git submodule --quiet add "$PWD/../../lib" lib; git commit -q -m x; cd ..
			git clone -q --recurse-submodules sub copy 2>&1; cd copy; test -e lib/.git; git submodule update --init; git status`,
		"worktree":     `git worktree add -q ../work/tree; cd tree; git commit -q --allow-empty -m x; git status`,
		"own worktree": `git init -q sub; cd sub; git commit -q --allow-empty -m x; git worktree add -q ../tree; cd ../tree; git status`,
		"sha256":       `git init -q --object-format=sha256 sub; cd sub; echo x >y; git add y; git commit -q -m x`,
		"sparse":       `git clone -q --sparse ../lib sub; cd sub; git sparse-checkout set --sparse-index x; git status`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, true, lib)
			if text := p.inside(script); text != "" {
				t.Errorf("reported %s", text)
			}
			if text := p.inside("for d in sub sub2 copy copy/lib tree; do test -e $d && git -C $d status; done; true"); text != "" {
				t.Errorf("reported later %s", text)
			}
		})
	}
}

func TestWhatWasDisarmedIsKept(t *testing.T) {
	p := newProject(t, true)
	p.inside(`git init -q sub; cd sub; git config user.name Name; git config core.fsmonitor "echo x"
		printf '#!/bin/sh\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push`)
	out, err := p.outside("sub", "git config user.name; git config core.fsmonitor; cd .git/tenon-disarmed; grep fsm config; cat h*")
	if err != nil || out != "Name\n\tfsmonitor = echo x\n#!/bin/sh\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// A job that is ended is looked at, too; and so is what it does while another command begins.
func TestRepositoriesOfJobs(t *testing.T) {
	p := newProject(t, true)
	job := p.job(`git init -q sub; git -C sub config core.fsmonitor "$BAD"`)
	if text := p.inside("mkdir more"); !strings.Contains(text, "sub/.git") {
		t.Errorf("while it runs: %q", text)
	}
	p.safe("sub")
	other := p.job(`git init -q more/b; git -C more/b config core.fsmonitor "$BAD"`)
	p.w.EndJobs()
	if text := told(other.Status().Finished) + told(job.Status().Finished); !strings.Contains(text, "more/b/.git") {
		t.Errorf("ended: %q", text)
	}
	p.safe("sub", "more/b")
}

func TestAnIndexOfAnUnknownKind(t *testing.T) {
	p := newProject(t, true)
	text := p.inside(`git init -q sub; cd sub; mkdir -p deep; echo deep >.gitignore; git init -q deep/er
		git -C deep/er config core.fsmonitor "$BAD"; printf 'DIRC\0\0\0\11xxxx' >.git/index`)
	if !strings.Contains(text, "sub/deep/er/.git") {
		t.Errorf("reported %q", text)
	}
}

// A directory of the workspace can be in PATH, such as that of a virtual environment. Tenon runs no program of it itself.
func TestTenonRunsNoProgramOfTheWorkspace(t *testing.T) {
	p := newProject(t, false)
	p.inside(`mkdir bin; for name in sh grep kill; do printf '#!/bin/bash\n%s\nexec /bin/%s "$@"' "$BAD" $name >bin/$name; chmod +x bin/$name; done`)
	t.Setenv("PATH", filepath.Join(p.dir, "bin")+":"+os.Getenv("PATH"))
	next := openWith(t, p.dir, workspace.Options{}) // namespaces need no program that ends what commands leave
	run(t, next, "true")
	next.Kill()
	if _, err := os.Lstat(p.marker); err == nil {
		t.Error("a program of the workspace ran outside the sandbox")
	}
}
