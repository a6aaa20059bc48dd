package permission

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"shel(ls)":              `unknown tool "shel"; did you mean "shell"?; the tools are *, agent`,
		"evil":                  `unknown tool "evil"; the tools are`,
		"shell(ls":              `missing closing bracket; write shell(...)`,
		"shell()":               `empty brackets; write shell for every call`,
		"shell(ls 'a)":          `unterminated quote or backslash`,
		"shell(ls && rm *)":     `a pattern is one command, without &&`,
		"write(../a)":           `it leads out of the workspace`,
		"write([a)":             `missing closing bracket in the pattern`,
		"write(!a)":             `not a path pattern`,
		"fetch(https://a.com/)": `not a host; use example.com`,
		"fetch(a*.com)":         `not a host`,
		"fetch(a.com:x)":        `not a host`,
		"mcp(hub)":              `use server/tool, or hub/* for all tools of a server`,
		"todo(x)":               `todo takes no pattern; write todo`,
		"":                      `unknown tool ""`,

		"go test":                     `unknown tool "go test"; write shell(go test *)`,
		"go test *":                   `; write shell(go test *)`,
		"evil --now":                  `; write shell(evil --now *)`,
		"npm run test:*":              `; write shell(npm run test *)`,
		"ls":                          `; write shell(ls *)`,
		"bash(ls)":                    `unknown tool "bash"; write shell(ls)`,
		"Bash(npm run *)":             `unknown tool "Bash"; write shell(npm run *)`,
		"Bash(npm run test:*)":        `; write shell(npm run test *)`,
		"Bash":                        `; write shell`,
		"Bash:git push":               `; write shell(git push)`,
		"shell git push *":            `; write shell(git push *)`,
		"run_shell_command(git push)": `; write shell(git push)`,
		"Read(./x)":                   `unknown tool "Read"; write read(./x)`,
		"Read(//etc/hosts)":           `; write read(/etc/hosts)`,
		"Edit(src/**)":                `; write edit(src/**)`,
		"MultiEdit":                   `; write multi_edit`,
		"Write":                       `; write write`,
		"WebFetch(domain:a.com)":      `; write fetch(a.com)`,
		"WebFetch(https://a.com)":     `; write fetch(a.com)`,
		"TodoWrite":                   `; write todo`,
		"TodoWrite(x)":                `; write todo`,
		"Task(review)":                `; write agent(review)`,
		"mcp__hub__get":               `; write mcp(hub/get)`,
		"mcp__hub":                    `; write mcp(hub/*)`,
		"Lint(x)":                     `unknown tool "Lint"; did you mean "list"?`,
		"wirte(x)":                    `; did you mean "write"?`,
		"gti(x)":                      `unknown tool "gti"`,
	} {
		if _, err := ParseRule(Allow, User, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := ParseRule("maybe", User, "shell"); err == nil {
		t.Error("a rule of no verdict")
	}
	if _, err := ParseMode("atuo"); err == nil || !strings.Contains(err.Error(), `did you mean "auto"?`) {
		t.Error(err)
	}
}

func TestConfiguration(t *testing.T) {
	user := Layer{Scope: User, Where: "user.json", Config: Config{
		Mode: Edits, Allow: []string{"shell(git push *)", "fetch(example.com)"}, Deny: []string{"shell(git push --force *)"},
		Examples: []Example{
			{Rule: "shell(git push *)", Match: []string{"git push", "git push origin main"}, NotMatch: []string{"git pull", "git push $x"}},
			{Rule: "deny shell(git push --force *)", Match: []string{"ls; git push origin --force"}, NotMatch: []string{"git push"}},
			{Rule: "fetch(example.com)", Match: []string{"example.com:443"}, NotMatch: []string{"www.example.com"}},
			{Command: "git push && make", Want: Ask},
			{Call: "write(src/a.go)", Want: Allow},
			{Call: "write(src/a.go)", Mode: Plan, Want: Deny},
			{Call: "mcp(hub/x)", Want: Ask},
		},
	}}
	project := Layer{Scope: Project, Where: "tenon.json", Config: Config{Mode: Yolo, Allow: []string{"shell"}, Ask: []string{"write(go.mod)"}}}
	p, err := New(Options{Root: "/w"}, user, project)
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode() != Edits {
		t.Errorf("mode %s", p.Mode())
	}
	told := strings.Join(p.Warnings(), "\n")
	for _, want := range []string{`tenon.json: permissions.allow[0]: ignored "shell"`, `tenon.json: permissions.mode: ignored "yolo"`} {
		if !strings.Contains(told, want) {
			t.Errorf("%s\nwant %s", told, want)
		}
	}
	if c, _ := p.example("", "write(go.mod)"); p.Judge(c).Action != Ask {
		t.Error("a project's rule that asks has no effect")
	}
	project.Mode = Plan
	if p, err = New(Options{Root: "/w"}, project, Layer{Scope: User, Config: Config{Mode: Edits}}); err != nil || p.Mode() != Plan {
		t.Errorf("a project's narrower mode has no effect: %v", err)
	}
	if p, err = New(Options{Root: "/w", Mode: Yolo}, project); err != nil || p.Mode() != Yolo {
		t.Errorf("the mode that a person chose for the run has no effect: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	_, err := New(Options{Root: "/w", Network: []string{"a b"}}, Layer{Scope: User, Where: "user.json", Config: Config{
		Mode: "fast", Allow: []string{"shell(ls)", "raed(x)"}, Deny: []string{"fetch(:)"},
	}})
	wrong, ok := errors.AsType[*Errors](err)
	if !ok || len(*wrong) != 4 {
		t.Fatal(err)
	}
	for _, want := range []string{
		`user.json: permissions.allow[1]: rule "raed(x)": unknown tool "raed"; did you mean "read"?`,
		`user.json: permissions.deny[0]: rule "fetch(:)"`, `user.json: permissions.mode: unknown mode "fast"`, `network: "a b" is not a host`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestExamplesThatFail(t *testing.T) {
	for want, x := range map[string]Example{
		`permissions.examples[0]: the rule shell(git push *) must match "git pull", and does not`: {Rule: "shell(git push *)", Match: []string{"git pull"}},
		`the rule shell(git push *) must not match "git push", and does`:                          {Rule: "shell(git push *)", NotMatch: []string{"git push"}},
		`unknown rule "shell(x)"`:                                  {Rule: "shell(x)", Match: []string{"x"}},
		`want allow for git pull, got ask: git pull: `:             {Command: "git pull", Want: Allow},
		`invalid "want" ""; use allow, ask or deny`:                {Command: "git pull"},
		`needs exactly one of "rule", "command" and "call"`:        {Command: "ls", Rule: "shell", Want: Allow},
		`the example of shell(git push *) tests nothing`:           {Rule: "shell(git push *)"},
		`invalid call "evil(x)"; use write(docs/a.md), fetch(exam`: {Call: "evil(x)", Want: Ask},
		`unknown mode "x"`:                                         {Command: "ls", Mode: "x", Want: Allow},
	} {
		_, err := New(Options{Root: "/w"}, Layer{Scope: User, Config: Config{Allow: []string{"shell(git push *)"}, Examples: []Example{x}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	for _, test := range []struct {
		rules, want string
	}{
		{"allow shell(git push origin);deny shell(git push *)", "allow shell(git push origin) (user) never decides: deny shell(git push *) (user)"},
		{"allow shell(git push *);deny shell(git *)", "never decides"},
		{"allow shell(git push *);deny shell(git push)", ""},
		{"allow shell(git *);deny shell(git push *)", ""},
		{"allow write(src/a/*.go);deny write(src/**)", "never decides"},
		{"allow write(src/**);deny write(src/*.go)", ""},
		{"allow edit(a);deny write", "never decides"},
		{"allow grep(a);deny read", "never decides"},
		{"allow fetch(a.example.com:443);deny fetch(*.example.com)", "never decides"},
		{"allow fetch(10.1.0.0/16);ask fetch(10.0.0.0/8)", "asks"},
		{"allow fetch(10.0.0.0/8);deny fetch(10.1.0.0/16)", ""},
		{"allow mcp(a/b);deny mcp(a/*)", "never decides"},
		{"ask todo;deny *", "never decides"},
		{"deny shell;allow read", ""},
	} {
		got := strings.Join(unreachable(parse(t, User, strings.Split(test.rules, ";")...)), "\n")
		want := strings.Replace(test.want, "asks", "ask beats allow", 1)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", test.rules, got, want)
		}
	}
}

// TestWorktree is about a project whose .git is a file, which is protected as a whole.
func TestWorktree(t *testing.T) {
	p, err := New(Options{Mode: Auto, Root: "/w", Sandboxed: true, Protected: []string{".git"}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Action{"git add .": Allow, "git commit -m x": Allow, "rm -rf .git": Ask, "echo x > .git/config": Ask} {
		if d := p.Judge(p.Command(line)); d.Action != want {
			t.Errorf("%s", d)
		}
	}
}

// TestLinks judges where paths lead, not how they are written.
func TestLinks(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "w")
	for _, dir := range []string{"w/src", "secret", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"w/out": "../other", "w/hole": "../secret/key", "w/in": "src", "w/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Skip(err)
		}
	}
	p, err := New(Options{Mode: Edits, Root: root, Hidden: []string{filepath.Join(base, "secret")}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Action{
		"touch src/a": Allow, "touch in/a": Allow, "touch out/a": Ask, "echo x > out/a": Ask, "echo x > hole": Deny,
		"cat hole": Deny, "cat in/a": Allow, "cat out/a": Ask, "cat out/*": Ask, "touch in/../../other/a": Ask, "touch loop": Allow,
	} {
		if d := p.Judge(p.Command(line)); d.Action != want {
			t.Errorf("%s: %s, want %s\n%s", line, d.Action, want, d)
		}
	}
}

func TestEffects(t *testing.T) {
	p := policy(t, AskMode)
	for line, want := range map[string]string{
		"ls src && cat a":    "exec=false reads=/w/src,/w/a writes= hosts=",
		"cat $x":             "exec=false reads=/ writes= hosts=",
		"cat *.go":           "exec=false reads=/w writes= hosts=",
		"touch a":            "exec=true reads= writes=/w/a hosts=",
		"git diff | head":    "exec=false reads=/w writes= hosts=",
		"sleep 1; date":      "exec=false reads= writes= hosts=",
		"echo *":             "exec=false reads=/w writes= hosts=",
		"cd $x; git log":     "exec=false reads=/ writes= hosts=",
		"cd sub && git log":  "exec=false reads=/w/sub writes= hosts=",
		"echo hello":         "exec=false reads= writes= hosts=",
		"evil":               "exec=true reads= writes= hosts=",
		"curl https://a.com": "exec=true reads= writes= hosts=a.com",
		"ls (":               "exec=true reads= writes= hosts=",
	} {
		e := p.Command(line).Effects
		names := func(all []string) string { return filepath.ToSlash(strings.Join(all, ",")) }
		var reads, writes []string
		for _, r := range e.Reads {
			reads = append(reads, r.Name)
		}
		for _, w := range e.Writes {
			writes = append(writes, w.Name)
		}
		exec := "false"
		if e.Unknown {
			exec = "true"
		}
		got := "exec=" + exec + " reads=" + names(reads) + " writes=" + names(writes) + " hosts=" + names(e.Hosts)
		if got != want || e.Command != line || e.Idempotent == e.Unknown {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// TestModesWiden holds for the whole table: a wider mode is never stricter than a narrower one, and an unknown mode denies everything.
func TestModesWiden(t *testing.T) {
	codes := map[string]bool{}
	for k := range kinds {
		for i := range modes[1:] {
			if narrow, wide := modes[i].on(k), modes[i+1].on(k); wide.rank() > narrow.rank() {
				t.Errorf("%s: mode %s is %q, mode %s is %q", table[k].words, modes[i].mode, narrow, modes[i+1].mode, wide)
			}
		}
		if Mode("").row().on(k) != Deny || table[k].words == "" || table[k].code == "" || codes[table[k].code] {
			t.Errorf("kind %d: %+v", k, table[k])
		}
		codes[table[k].code] = true
	}
	for _, m := range modes {
		if m.about == "" || m.model == "" || m.allow&m.ask != 0 || m.mode.In(true) != m.mode || m.mode.In(false).row().unconfined != "" {
			t.Errorf("mode %s: %+v", m.mode, m)
		}
	}
}

// TestDocument compares the tables of the documentation with those that decide.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	var about, want strings.Builder
	about.WriteString("| mode | meaning |\n|---|---|\n")
	want.WriteString("| effect | code |")
	for _, m := range Modes() {
		want.WriteString(" " + string(m) + " |")
		about.WriteString("| `" + string(m) + "` | " + strings.ReplaceAll(m.About(), "|", `\|`) + " |\n")
	}
	want.WriteString("\n|---|---|" + strings.Repeat("---|", len(Modes())) + "\n")
	for _, r := range Table() {
		want.WriteString("| " + strings.ReplaceAll(r.Effect, "|", `\|`) + " | `" + r.Code + "` |")
		for _, m := range Modes() {
			want.WriteString(" " + string(r.Actions[m]) + " |")
		}
		want.WriteString("\n")
	}
	for _, table := range []string{about.String(), want.String()} {
		if !strings.Contains(string(data), table) {
			t.Errorf("docs/permissions.md does not have this table:\n%s", table)
		}
	}
	for _, code := range []string{ruleAllowed, ruleAsks, ruleDenied, ruleUnsure} {
		if !strings.Contains(string(data), "`"+code+"`") {
			t.Errorf("docs/permissions.md does not explain the code %s", code)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^    (allow|ask|deny) +(.*)$").FindAllStringSubmatch(string(data), -1) {
		if _, err := ParseRule(Action(m[1]), User, m[2]); err != nil {
			t.Errorf("docs/permissions.md: %v", err)
		}
	}
	for name := range vocabulary {
		if !slices.ContainsFunc([]string{"`" + name + "`", "`" + name + "("}, func(s string) bool { return strings.Contains(string(data), s) }) {
			t.Errorf("docs/permissions.md says nothing about rules that begin with %s", name)
		}
	}
}

// TestRulesOfTheDocument holds the table of what rules fit, and the configuration, against the code.
func TestRulesOfTheDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	n, quoted := 0, regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `((?:allow|ask|deny) [^`]*)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(string(data), -1) {
		rule := parse(t, User, row[1])[0]
		p := policy(t, AskMode)
		for i, cell := range row[2:] {
			for _, text := range quoted.FindAllStringSubmatch(cell, -1) {
				n++
				if got, err := p.matches(&rule, text[1]); err != nil || got != (i == 0) {
					t.Errorf("docs/permissions.md: %s fits %s: %v, %v", row[1], text[1], got, err)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("docs/permissions.md has %d examples of what rules fit", n)
	}
	block := regexp.MustCompile(`(?m)^    "permissions": (\{\n(?:     .*\n)+    \})`).FindStringSubmatch(string(data))
	if block == nil {
		t.Fatal("docs/permissions.md has no configuration")
	}
	var c Config
	if err := json.Unmarshal([]byte(block[1]), &c); err != nil || len(c.Examples) < 3 {
		t.Fatalf("docs/permissions.md: %v, %+v", err, c)
	}
	if _, err := New(Options{Root: "/w"}, Layer{Config: c, Scope: User}); err != nil {
		t.Errorf("docs/permissions.md: %v", err)
	}
}
