package permission

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// TestWhatMayBeDeniedIsNotAllowed holds that a rule that allows lifts no doubt about one that denies.
func TestWhatMayBeDeniedIsNotAllowed(t *testing.T) {
	p := policy(t, AskMode, "allow shell(rm *)", "allow write(src/**)", "deny write(src/keep/**)")
	for line, want := range map[string]Action{"rm -r src/old": Allow, "rm -r src": Ask, "rm -r src/keep": Deny} {
		if d := p.Judge(p.Command(line)); d.Action != want {
			t.Errorf("%s: want %s\n%s", line, want, d)
		}
	}
	p = policy(t, Yolo, "deny fetch(example.com:443)")
	for host, want := range map[string]Action{"example.com:443": Deny, "example.com": Ask, "example.com:80": Allow} {
		if d := p.Judge(Call{Tool: "fetch", Effects: tool.Effects{Hosts: []string{host}}}); d.Action != want {
			t.Errorf("%s: want %s\n%s", host, want, d)
		}
	}
}

// A verdict shows the text that runs: the canonical form, or the line itself if it has none.
func TestAVerdictShowsTheTextThatRuns(t *testing.T) {
	p := policy(t, AskMode)
	for line, want := range map[string]string{
		"ls a\\ b   \"c\" # x":          "ls 'a b' 'c'",
		"cat <<-'X Y' | sort\n\ta\nX Y": "cat <<'EOF' |\na\nEOF\nsort",
		"sh -c \"ls   a\"":              "sh -c 'ls a'",
		"echo `ls` $(ls \\\na)":         "echo $(ls) $(ls a)",
		"let x=1|touch a":               "let x=1|touch a",
		"# a comment":                   ":",
	} {
		c := p.Command(line)
		d := p.Judge(c)
		if c.Effects.Command != want || d.Runs != want || !strings.Contains(d.String(), "  runs        "+strings.Split(want, "\n")[0]) {
			t.Errorf("%s: runs %q, want %q\n%s", line, d.Runs, want, d)
		}
	}
}

func TestYoloAsksNothing(t *testing.T) {
	p := policy(t, Yolo, "ask shell(git push *)", "deny shell(git push --force *)")
	for line, want := range map[string]Action{"git push": Allow, "git push --force": Deny} {
		if d := p.Judge(p.Command(line)); d.Action != want {
			t.Errorf("%s: want %s\n%s", line, want, d)
		}
	}
}

// TestNoModeThatAsksTheSame holds that mode auto is no advice where it asks too.
func TestNoModeThatAsksTheSame(t *testing.T) {
	p, err := New(Options{Mode: AskMode, Root: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Judge(p.Command("make"))
	if d.mode != Yolo || !strings.HasSuffix(d.Unattended().Reason, "--mode yolo") {
		t.Errorf("%v: %s", d.mode, d.Unattended().Reason)
	}
}

// TestWhereGitLooks holds that nothing that says where git finds what it runs is a file like another.
func TestWhereGitLooks(t *testing.T) {
	p := policy(t, Edits)
	for _, name := range []string{"commondir", "worktrees/a/gitdir", "modules/a/hooks/post-checkout", "config.worktree", "hooks/x", "config"} {
		if d := p.Judge(Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/sub/.git/" + name)}}}); d.Action != Ask {
			t.Errorf("%s", d)
		}
	}
	if d := p.Judge(Call{Tool: "delete", Effects: tool.Effects{Writes: []tool.Path{tool.Tree("/w")}}}); d.Action != Ask {
		t.Errorf("a folder goes with all protected files in it: %s", d)
	}
}

// TestTheWholeWorkspace holds that a project is more than files that are named, also where nothing in it is protected.
func TestTheWholeWorkspace(t *testing.T) {
	p, err := New(Options{Mode: Auto, Root: "/w", Sandboxed: true})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Action{"rm -r a": Allow, "rm -r /w": Ask, "rm -r .": Ask, "rm -r a .git": Ask} {
		if d := p.Judge(p.Command(line)); d.Action != want {
			t.Errorf("%s: want %s\n%s", line, want, d)
		}
	}
}

// TestOnlyToolsFilter holds that a command is not taken for a tool that leaves out what must not be read.
func TestOnlyToolsFilter(t *testing.T) {
	p := policy(t, AskMode, "deny read(secret/**)")
	p.options.Filtered = true
	if d := p.Judge(Call{Tool: "grep", Effects: tool.Effects{Reads: []tool.Path{tool.Tree("/w")}}}); d.Action != Allow {
		t.Errorf("%s", d)
	}
	if d := p.Judge(p.Command("grep -r x .")); d.Action != Ask {
		t.Errorf("%s", d)
	}
}

// TestUnconfinedWhole holds that a line leaves the sandbox only when every command of it is known and may.
func TestUnconfinedWhole(t *testing.T) {
	p := policy(t, AskMode, "allow unconfined(ls *)", "allow unconfined(cat *)", "allow shell")
	for line, want := range map[string]Action{"ls && cat a": Allow, "ls; make": Ask, "ls (": Ask, "# ls": Ask} {
		if d := p.Judge(Call{Tool: "shell", Effects: tool.Effects{Command: line, Unconfined: true, Unknown: true, Exclusive: true}}); d.Action != want {
			t.Errorf("%s: want %s\n%s", line, want, d)
		}
	}
}
