package permission

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/permission/command"
)

// What random lines are made of.
var (
	simple = []string{
		"ls", "cat a", "git push", "git push origin main", "git push -u origin main", "git log", "git commit -m x", "git -C sub push", "rm a", "rm -rf b",
		"touch src/a", "touch docs/a", "cp a b", "make", "go test ./...", "go build", "npm run build", "npm test", "curl https://example.com/a",
		"evil", "evil -x", "$x", "git $x", "cat /etc/hosts", "cat .env", "kill 1", "python3 a.py", "sudo ls", "cd src", "cd /tmp", "pytest -q",
	}
	around1 = []string{
		"%", "%", "%", "(%)", "{ %; }", "! %", "% &", "time %", "env %", "env A=1 %", "nice -n 5 %", "timeout 5 %", "xargs %", "sudo %", "sh -c '%'", "eval '%'",
		"if %; then ls; fi", "while %; do :; done", "for i in a; do %; done", "echo $(%)", "echo \"$(%)\"", "cat <(%)", "find . -exec % \\;", "command %",
		"% > out", "% >> /etc/x", "% < a", "LD_PRELOAD=x %", "LANG=C %", "f() { %; }; f", "case a in *) %;; esac", "trap '%' EXIT", "ssh host %", "watch %",
		"bash <<< '%'", "cat <<E\n$(%)\nE", "[[ -n $(%) ]]", "x=$(%)", "echo ${x:-$(%)}", "echo $((1+$(%)))", "nohup %", "exec %", "coproc %",
	}
	joined = []string{"% && %", "%; %", "% | %", "% || %", "%\n%", "% & %"}
	texts  = []string{
		"shell", "shell(git push *)", "shell(git *)", "shell(git push)", "shell(git * main)", "shell(go test *)", "shell(npm run *)", "shell(rm *)", "shell(rm -r *)",
		"shell(evil *)", "shell(sudo *)", "shell(ls *)", "shell(*)", "write", "write(src/**)", "write(docs/)", "read(*.md)", "read(/etc/**)", "read", "*",
		"fetch(example.com)", "fetch(*)", "edit(src/**)", "unconfined(git push *)", "todo", "mcp(a/*)", "agent",
	}
)

func lines(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 {
			return rapid.SampledFrom(simple).Draw(t, "simple")
		}
		inner := lines(depth-1).Draw(t, "inner")
		if rapid.Bool().Draw(t, "join") {
			s := strings.Replace(rapid.SampledFrom(joined).Draw(t, "joined"), "%", inner, 1)
			return strings.Replace(s, "%", lines(depth-1).Draw(t, "other"), 1)
		}
		return strings.Replace(rapid.SampledFrom(around1).Draw(t, "around"), "%", inner, 1)
	})
}

func anyRule(verdicts ...Action) *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		v := rapid.SampledFrom(verdicts).Draw(t, "verdict")
		s := rapid.SampledFrom([]Scope{Session, User, Project}).Draw(t, "scope")
		r, err := ParseRule(v, s, rapid.SampledFrom(texts).Draw(t, "rule"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

func anyCall(p *Policy) *rapid.Generator[Call] {
	return rapid.Custom(func(t *rapid.T) Call {
		if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
			c := p.Command(lines(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "line"))
			c.Effects.Unconfined = rapid.IntRange(0, 9).Draw(t, "unconfined") == 0
			return c
		}
		c, err := p.example("", rapid.SampledFrom([]string{
			"write(src/a)", "write(/etc/a)", "edit(docs/a)", "read(a.md)", "read(/etc/hosts)", "read(.env)", "fetch(example.com)",
			"fetch(10.0.0.1:80)", "todo", "question", "mcp(a/b)", "agent(x)", "write(.git/hooks/a)", "download(example.com)",
		}).Draw(t, "call"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func anyPolicy(t *rapid.T, base *Policy) *Policy {
	p := base.InMode(rapid.SampledFrom(Modes()).Draw(t, "mode"))
	p.options.Sandboxed = rapid.Bool().Draw(t, "sandboxed")
	return p.With(rapid.SliceOfN(anyRule(Allow, Ask, Deny), 0, 4).Draw(t, "rules")...)
}

func TestMoreRulesThatDenyNeverWiden(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t, base)
		c := anyCall(p).Draw(t, "call")
		r := anyRule(Ask, Deny).Draw(t, "more")
		before, after := p.Judge(c), p.With(r).Judge(c)
		if after.Action.rank() < before.Action.rank() {
			t.Fatalf("%s makes %sof %s", r, after, before)
		}
	})
}

func TestRulesOfAProjectNeverWiden(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t, base)
		c := anyCall(p).Draw(t, "call")
		r := anyRule(Allow, Ask, Deny).Draw(t, "more").In(Project)
		before, after := p.Judge(c), p.With(r).Judge(c)
		if after.Action.rank() < before.Action.rank() {
			t.Fatalf("%s makes %sof %s", r, after, before)
		}
	})
}

func TestMoreRulesThatAllowNeverNarrowAndNeverLiftADenial(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t, base)
		c := anyCall(p).Draw(t, "call")
		r := anyRule(Allow).Draw(t, "more")
		before, after := p.Judge(c), p.With(r).Judge(c)
		if after.Action.rank() > before.Action.rank() || before.Action == Deny && after.Action != Deny {
			t.Fatalf("%s makes %sof %s", r, after, before)
		}
	})
}

// TestDenyBeatsAll denies what one of the needs of a call is about, among rules that allow all.
func TestDenyBeatsAll(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy(t, base)
		c := anyCall(p).Draw(t, "call")
		r := anyRule(Deny).Draw(t, "deny")
		_, a := p.needs(c)
		hit := r.language == anything || c.Tool == r.tool && r.pattern == ""
		for i := range a.Commands {
			hit = hit || r.language == running && (r.pattern == "" || r.words.hits(&a.Commands[i]) == yes)
		}
		if d := p.With(r).Judge(c); hit && d.Action != Deny {
			t.Fatalf("%s does not deny: %s", r, d)
		}
	})
}

// TestASuggestionAllowsWhatItSays grants suggestions and judges other lines: the grant allows exactly the lines that its text names.
func TestASuggestionAllowsWhatItSays(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		p := base.InMode(rapid.SampledFrom([]Mode{Plan, AskMode, Edits, Auto}).Draw(t, "mode"))
		c := anyCall(p).Draw(t, "call")
		for _, s := range p.Judge(c).Suggest {
			q := p.With(s.Rules...)
			if d := q.Judge(c); d.Action != Allow {
				t.Fatalf("%s does not allow what it was made for: %s", s.Words(), d)
			}
			other := p.Command(lines(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "other"))
			before, after := p.Judge(other), q.Judge(other)
			if after.Action == before.Action {
				continue
			}
			for _, part := range before.Commands {
				if part.Action == Ask && !slices.ContainsFunc(s.Rules, func(r Rule) bool { return says(r, part.Command) }) {
					t.Fatalf("%q also allows %q of %q", s.Words(), part.Command.Words, other.Effects.Command)
				}
			}
		}
	})
}

// says reads the text of a suggested rule, apart from what judges: exactly these words, these with more, these files.
func says(r Rule, c command.Command) bool {
	text, ok := strings.CutPrefix(r.Text(), "shell(")
	if !ok {
		return c.Does&(command.Writes|command.Reads) != 0 && (r.tool == "write" || r.tool == "read") || c.Does&command.Network != 0 && r.tool == "fetch"
	}
	words := strings.Fields(strings.TrimSuffix(text, ")"))
	n := len(words)
	if words[n-1] == "*" {
		words = words[:n-1]
		return len(c.Words) >= n-1 && slices.Equal(c.Words[:n-1], words) && len(c.Dynamic) == 0 && c.Adds == 0
	}
	return slices.Equal(c.Words, words) && len(c.Dynamic) == 0 && c.Adds == 0
}

func TestNothingIsSuggestedForWhatCannotBeBounded(t *testing.T) {
	p := policy(t, AskMode)
	for _, line := range []string{
		"rm -rf x", "rm a", "evil", "git push $x", "ls (", "python3 a.py", "bash a.sh", "env evil", "sudo ls", "find . -exec evil {} +", "make", "npx x",
		"go run .", "npm exec x", "LD_PRELOAD=a ls", "echo x > $y", "git push > $x", "git push; evil", "kill 1", "git reset --hard", "./evil $x", "cat a | sh",
		"eval ls $x", "xargs cat", "docker ps", "python3.12 a.py", "/usr/bin/python3 a.py", "git push && rm x", "git config a.b c",
	} {
		if d := p.Judge(p.Command(line)); len(d.Suggest) > 0 {
			t.Errorf("%s: %s", line, d.Suggest[0].Words())
		}
	}
	for line, want := range map[string]string{
		"git push origin main":    "exactly `git push origin main`, in this session|`git push` with any further arguments, in this session",
		"go test ./... && ls":     "exactly `go test ./...`, in this session|`go test` with any further arguments, in this session",
		"npm run build":           "exactly `npm run build`, in this session|`npm run build` with any further arguments, in this session",
		"git commit -m 'a b'":     "exactly `git commit -m 'a b'`, in this session|`git commit` with any further arguments, in this session",
		"touch src/a":             "exactly `touch src/a`, in this session",
		"./test.sh -v":            "exactly `./test.sh -v`, in this session",
		"ls > docs/out":           "changing docs/out and everything below it, in this session|changing docs/**, in this session",
		"cat /etc/hosts":          "exactly `cat /etc/hosts`, in this session",
		"git push && npm test":    "exactly `git push` and exactly `npm test`, in this session|`git push` with any further arguments and `npm test` with any further arguments, in this session",
		"curl https://a.com/x?y":  "exactly `curl 'https://a.com/x?y'`, in this session",
		"pytest -k 'a*' tests":    "exactly `pytest -k 'a*' tests`, in this session",
		"ls > docs/a && git push": "changing docs/a and everything below it and exactly `git push`, in this session|changing docs/** and `git push` with any further arguments, in this session",
	} {
		var got []string
		for _, s := range p.Judge(p.Command(line)).Suggest {
			got = append(got, s.Words())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %s\nwant %s", line, strings.Join(got, "|"), want)
		}
	}
	for call, want := range map[string]string{
		"write(src/a.go)": "changing src/a.go and everything below it, in this session|changing src/**, in this session", "write(a)": "changing ./a and everything below it, in this session",
		"write(/etc/a)": "changing /etc/a and everything below it, in this session", "fetch(a.com:80)": "reaching a.com:80, in this session",
		"mcp(a/b)": "the MCP tool a/b, in this session", "agent(x)": "starting the agent x, in this session", "write(.git/hooks/a)": "",
		"read(/usr/a)": "reading /usr/a and everything below it, in this session|reading /usr/**, in this session",
	} {
		c, err := p.example("", call)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Judge(c).Suggest {
			got = append(got, s.Words())
			if always := s.In(User).Words(); !strings.HasSuffix(always, ", in all sessions") {
				t.Error(always)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %s\nwant %s", call, strings.Join(got, "|"), want)
		}
	}
}
