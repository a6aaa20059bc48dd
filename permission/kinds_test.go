package permission

import (
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// An allow rule covers only the needs of its own kind: hosts, paths, commands, agents. A rule about changes without a pattern covers the
// workspace.
func TestARuleCoversItsOwnKind(t *testing.T) {
	writes := func(tool, name string, hosts ...string) Call {
		return Call{Tool: tool, Effects: effectsOf(name, hosts...)}
	}
	fetched := writes("download", "/w/a", "example.com:443")
	for _, test := range []struct {
		rule string
		call Call
		mode Mode
		want Action
	}{
		{"download", fetched, Edits, Allow},
		{"download", fetched, AskMode, Ask},
		{"download(example.com)", fetched, Edits, Allow},
		{"download(other.example)", fetched, Edits, Ask},
		{"fetch", fetched, Edits, Allow},
		{"download", writes("download", "/home/me/.bashrc", "example.com:443"), Edits, Ask},
		{"download", writes("download", "/w/.git/hooks/a", "example.com:443"), Edits, Ask},
		{"download", writes("download", "/home/me/.ssh/a", "example.com:443"), Edits, Deny},
		{"fetch", writes("download", "/etc/a", "example.com:443"), Edits, Ask},
		{"write", fetched, AskMode, Ask},
		{"write", writes("write", "/w/a"), AskMode, Allow},
		{"write", writes("write", "/etc/a"), AskMode, Ask},
		{"write", writes("write", "/etc/a"), Auto, Ask},
		{"write(/etc/a)", writes("write", "/etc/a"), AskMode, Allow},
		{"edit", writes("edit", "/w/a"), AskMode, Allow},
		{"edit", writes("edit", "/home/me/a"), AskMode, Ask},
		{"lint", writes("lint", "/w/a"), AskMode, Allow},
		{"lint", writes("lint", "/etc/a"), AskMode, Ask},
		{"agent", Call{Tool: "agent", Effects: tool.Effects{Agents: true}}, AskMode, Allow},
		{"agent", Call{Tool: "agent", Effects: tool.Effects{Agents: true, Writes: []tool.Path{tool.File("/w/a")}}}, AskMode, Ask},
		{"*", writes("download", "/etc/a", "example.com:443"), AskMode, Allow},
	} {
		if v := policy(t, test.mode, "allow "+test.rule).Judge(test.call); v.Action != test.want {
			t.Errorf("mode %s, allow %s: %s want %s", test.mode, test.rule, v, test.want)
		}
	}
	p := policy(t, AskMode, "allow write")
	for line, want := range map[string]Action{"echo a > b": Allow, "echo a > /etc/b": Ask, "echo a > $b": Ask} {
		if v := p.Judge(p.Command(line)); v.Action != want {
			t.Errorf("allow write: %s want %s", v, want)
		}
	}
}

func effectsOf(name string, hosts ...string) tool.Effects {
	return tool.Effects{Writes: []tool.Path{tool.File(name)}, Hosts: hosts}
}

// A path that a tool declares wrongly is nowhere: it is not inside, and a rule that denies may be about it.
func TestInvalidPathsAreUnknown(t *testing.T) {
	for _, name := range []string{"/w/../etc/x", "/w/a/", "/w//a", "/w/./a", "a", "", ".", "/proc/self/cwd/a", "/proc/1/environ", "/dev/fd/3"} {
		for _, e := range []tool.Effects{effectsOf(name), {Reads: []tool.Path{tool.File(name)}}, {Reads: []tool.Path{tool.Tree(name)}}} {
			c := Call{Tool: "lint", Effects: e}
			for _, m := range []Mode{AskMode, Edits, Auto} {
				if v := policy(t, m, "allow write(**)", "allow read(**)").Judge(c); v.Action != Ask {
					t.Errorf("%q in mode %s: %s", name, m, v)
				}
			}
			if v := policy(t, Yolo, "deny write(/etc/**)", "deny read(/etc/**)").Judge(c); v.Action != Ask {
				t.Errorf("%q may be denied: %s", name, v)
			}
			if e.ReadOnly() || e.Declared() {
				t.Errorf("%q is declared", name)
			}
		}
	}
	if !tool.File("/w/a").Valid() || !tool.Tree("/").Valid() || !tool.File("/proc/cpuinfo").Valid() {
		t.Error("a valid path")
	}
}
