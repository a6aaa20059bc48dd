package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// empty gives the ground the home of a person who has configured nothing.
func (g *ground) empty() {
	g.policy.Homes = []string{g.home}
	getenv := func(name string) string {
		return map[string]string{"PATH": "/usr/bin:" + g.home + "/tools/bin", "GOPATH": g.home + "/gopath"}[name]
	}
	g.policy.Readable = append(g.policy.Readable, sandbox.Toolchains(g.home, getenv)...)
}

// during runs a script in the sandbox that says "up", then what happens outside, and then the rest of the script.
func (g *ground) during(before string, outside func(), after string) ran {
	g.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	up, down, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		defer up.Close()
		_, _ = up.Read(make([]byte, 1))
		outside()
	}()
	defer down.Close()
	return g.run(before+"\necho >&4\nread -r _ <&3\n"+after, r, down)
}

// A program outside that saves a file by renaming another over it does not uncover a secret, and later secrets and sockets do not show.
func TestSecretsReplaced(t *testing.T) {
	g := newGround(t)
	g.empty()
	g.write("home/.claude.json", secretText)
	look := `cat ~/.claude.json ~/.netrc ~/.config/later/key ~/.ssh/id; ls -A ~; ATTEMPT="dial unix" TARGET="$HOME/.d/s" "$TRY"; ATTEMPT="dial unix" TARGET="$HOME/go/bin/../sock" "$TRY"`
	got := g.during(look, func() {
		for _, name := range []string{".claude.json", ".netrc", ".config/later/key", ".ssh/id"} {
			g.write("home/"+name+".new", secretText)
			if err := os.Rename(g.home+"/"+name+".new", g.home+"/"+name); err != nil {
				t.Error(err)
			}
		}
		if err := os.MkdirAll(g.home+"/.d", 0o755); err != nil {
			t.Error(err)
		}
		listen(t, "unix", g.home+"/.d/s")
	}, look)
	if got.closed != nil || strings.Contains(got.out, secretText) || strings.Contains(got.out, "got out") {
		t.Error(got)
	}
	found := false
	for _, b := range got.blocked {
		found = found || b.What == sandbox.Read && b.Path == g.home+"/.claude.json" && strings.Contains(b.Why, "sandbox.readable")
	}
	if !found {
		t.Errorf("no word of the way out: %v", got)
	}
}

// Sockets that appear later in /tmp and /run are not there.
func TestSocketsThatComeLater(t *testing.T) {
	g := newGround(t)
	g.empty()
	tmp, err := os.MkdirTemp("/tmp", "later")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	places := []string{tmp + "/sock"}
	if os.Geteuid() == 0 {
		run, err := os.MkdirTemp("/run", "later")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(run) })
		places = append(places, run+"/sock")
	}
	script := ""
	for _, place := range places {
		script += fmt.Sprintf("ATTEMPT='dial unix' TARGET=%q \"$TRY\"\n", place)
	}
	got := g.during("", func() {
		for _, place := range places {
			listen(t, "unix", place)
		}
	}, script)
	if strings.Contains(got.out, "got out") {
		t.Error(got)
	}
}

// Toolchains show, also behind links, and can only be read; nothing else does.
func TestToolchainsOfAHome(t *testing.T) {
	g := newGround(t)
	g.empty()
	for name, text := range map[string]string{
		"home/.cargo/bin/cargo": "#!/bin/sh\necho cargo", "home/.cargo/credentials.toml": secretText, "home/tools/bin/mine": "#!/bin/sh\necho mine",
		"home/gopath/pkg/mod/m": "module", "home/gopath/src/x": secretText, "elsewhere/nvm/node": "#!/bin/sh\necho node", "home/opt/mine/tool": "tool",
		"home/.m2/settings.xml": secretText, "home/.m2/repository/jar": "jar",
	} {
		g.write(name, text)
	}
	if err := errors.Join(
		os.Symlink(g.dir+"/elsewhere/nvm", g.home+"/.nvm"), os.Symlink("..", g.home+"/bin"), os.Symlink(".", g.home+"/.volta"),
		os.Chmod(g.home+"/.cargo/bin/cargo", 0o755), os.Chmod(g.home+"/tools/bin/mine", 0o755), os.Chmod(g.dir+"/elsewhere/nvm/node", 0o755),
	); err != nil {
		t.Fatal(err)
	}
	g.policy.Files = map[string]string{g.home + "/.gitconfig": "[user]\n\tname = Given\n"}
	g.write("home/.gitconfig", "[user]\n\tname = "+secretText+"\n")
	got := g.works(`~/.cargo/bin/cargo; ~/tools/bin/mine; ~/.nvm/node; cat ~/gopath/pkg/mod/m ~/.m2/repository/jar ~/opt/mine/tool; git config --global user.name; ls -A ~ ~/.cargo ~/.m2 ~/gopath`)
	want := "cargo\nmine\nnode\nmodulejartoolGiven\n" + g.home + ":\n.cargo\n.gitconfig\n.m2\n.nvm\ngopath\nopt\ntools\n\n" + g.home + "/.cargo:\nbin\n\n" + g.home + "/.m2:\nrepository\n\n" + g.home + "/gopath:\npkg\n"
	if got.out != want {
		t.Errorf("got %s\nwant %s", got.out, want)
	}
	for _, script := range []string{`echo x >~/.cargo/bin/cargo`, `echo x >~/new`, `echo x >>~/.gitconfig`, `mkdir ~/.config`, `rm -r ~/.m2`, `mv ~/.cargo ~/c`} {
		if got := g.run(script); got.exit == 0 {
			t.Errorf("%s: %v", script, got)
		}
	}
}

// A project in a home, and one that is a home: the first can be written, and the second shows what is in it.
func TestProjectsInHomes(t *testing.T) {
	g := newGround(t)
	g.empty()
	g.write("home/src/project/file", "in the home")
	g.write("home/src/other/file", secretText)
	g.work = g.home + "/src/project"
	g.policy.Writable = []string{g.work}
	if got := g.works(`cat file; echo x >new; ls ..`); got.out != "in the homeproject\n" {
		t.Error(got)
	}
	g.work = g.home
	g.policy = &sandbox.Policy{Writable: []string{g.work}, Homes: []string{g.home}, Hidden: g.policy.Hidden, Readable: []string{g.dir}}
	if got := g.run(`cat src/other/file; cat .ssh/id`); got.exit == 0 || strings.Count(got.out, secretText) != 1 {
		t.Error(got)
	}
	g.policy = &sandbox.Policy{Homes: []string{"/tmp", "/", g.dir + "/none"}, Readable: []string{g.dir}}
	g.works(`echo x >/tmp/x && cat src/project/file`)
}

// Everyday work needs no configuration.
func TestWorkWithAnEmptyHome(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]struct{ program, script, want string }{
		"venv":                            {"python3", `python3 -m venv --without-pip v && v/bin/python -c 'print("in a venv")'`, "in a venv"},
		"npm test":                        {"npm", `echo '{"name":"x","version":"1.0.0","scripts":{"test":"node -e \"console.log(6*7)\""}}' >package.json && npm test`, "42"},
		"a commit with husky and git-lfs": {"git", `git commit -qm one && git log --oneline | wc -l`, "husky ran\nlfs ran\n1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has(t, tool.program)
			g := newGround(t)
			person, err := os.UserHomeDir()
			if err != nil {
				t.Fatal(err)
			}
			g.policy.Homes = []string{person}
			g.policy.Readable = append(g.policy.Readable, sandbox.Toolchains(person, os.Getenv)...)
			g.write("work/.husky/_/pre-commit", "#!/bin/sh\necho husky ran\n. \"$(dirname \"$0\")/../lfs\"\n")
			g.write("work/.husky/lfs", "mkdir -p .git/lfs/objects && echo x >.git/lfs/objects/x && echo lfs ran\n")
			if err := os.Chmod(g.work+"/.husky/_/pre-commit", 0o755); err != nil {
				t.Fatal(err)
			}
			g.git("config", "core.hooksPath", ".husky/_")
			g.git("add", "file")
			g.vars = append(g.vars, "HOME="+person, "PATH="+os.Getenv("PATH"))
			if got := g.works(tool.script); !strings.Contains(got.out, tool.want) {
				t.Error(got)
			}
		})
	}
}
