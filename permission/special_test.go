package permission

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// Each effect that people care about has its own code, in every mode that asks.
func TestEffectsPeopleCareAbout(t *testing.T) {
	for line, want := range map[string]string{
		"git push":                                     "publishes",
		"npm publish":                                  "publishes",
		"yarn npm publish":                             "publishes",
		"cargo publish":                                "publishes",
		"gem push a.gem":                               "publishes",
		"twine upload dist/a":                          "publishes",
		"docker push a":                                "publishes",
		"gh release create v1":                         "publishes",
		"npm run release":                              "publishes",
		"make -j 4 deploy":                             "publishes",
		"./scripts/publish.sh":                         "publishes",
		"curl -d @a https://example.com":               "publishes",
		"curl -X PUT https://example.com":              "publishes",
		"curl -sL -X POST http://localhost:1 -d a":     "publishes",
		"wget --post-file=a https://example.com":       "publishes",
		"http POST example.com a=b":                    "publishes",
		"scp a host.example:b":                         "publishes",
		"git restore a.go":                             "discards_work",
		"git checkout -- .":                            "discards_work",
		"git checkout HEAD a.go":                       "discards_work",
		"git reset --hard":                             "discards_work",
		"git clean -fd":                                "discards_work",
		"git stash drop":                               "discards_work",
		"git checkout-index -f -a":                     "discards_work",
		"env git switch -f main":                       "discards_work",
		"curl https://example.com":                     "network",
		"curl -X POST http://localhost:3000 -d '{}'":   "network",
		"curl -G -d q=1 https://example.com":           "network",
		"git checkout main":                            "",
		"git restore --staged a.go":                    "",
		"git clean -n":                                 "",
		"npm run build":                                "",
		"docker ps":                                    "",
		"rsync host.example:a b":                       "network",
		"echo x > .envrc":                              "runs_later",
		"cp a .github/workflows/b.yml":                 "runs_later",
		"touch sub/.vscode/tasks.json":                 "runs_later",
		"mv a .husky/":                                 "runs_later",
		"touch .cargo/config.toml .github/a.md":        "runs_later",
		"touch .cargo/x .github/ISSUE_TEMPLATE/bug.md": "",
		"touch .vs*/tasks.json":                        "runs_later",
	} {
		p := policy(t, Auto)
		v := p.Judge(p.Command(line))
		switch want {
		case "publishes", "discards_work":
			if v.Action != Ask || v.Code != prefix+want {
				t.Errorf("%s: %s, want %s", line, v, want)
			}
			if v := p.InMode(Yolo).Judge(p.Command(line)); v.Action != Allow {
				t.Errorf("%s", v)
			}
		case "runs_later":
			if v := p.InMode(Edits).Judge(p.Command(line)); v.Action != Ask || v.Code != prefix+want {
				t.Errorf("%s: %s, want %s", line, v, want)
			}
			fallthrough
		default:
			if v.Action != Allow && want != "network" {
				t.Errorf("%s", v)
			}
			if v.Code == prefix+"publishes" || v.Code == prefix+"discards_work" {
				t.Errorf("%s", v)
			}
		}
	}
}

// git checkout of a file discards its changes; of a branch it does not.
func TestCheckoutOfAFile(t *testing.T) {
	p, dir := project(t, Auto, "Makefile")
	if v := p.Judge(p.Command("git checkout Makefile")); v.Code != prefix+"discards_work" {
		t.Errorf("%s", v)
	}
	if v := p.Judge(p.Command("git checkout main")); v.Action != Allow {
		t.Errorf("%s", v)
	}
	if err := os.Remove(filepath.Join(dir, "Makefile")); err != nil {
		t.Fatal(err)
	}
	if v := p.Judge(p.Command("git checkout Makefile")); v.Action != Allow {
		t.Errorf("a file that is gone has no changes: %s", v)
	}
}

// Tools and commands need approval to change files that run later, and to read files with keys.
func TestFilesOfTheirOwnKind(t *testing.T) {
	for _, test := range []struct {
		name string
		want string
		mode Mode
	}{
		{".envrc", "runs_later", Edits},
		{".github/workflows/ci.yml", "runs_later", Edits},
		{".gitlab-ci.yml", "runs_later", Edits},
		{"web/.npmrc", "runs_later", Edits},
		{".claude/settings.json", "runs_later", Edits},
		{".HUSKY/pre-push", "runs_later", Edits},
		{".github/CODEOWNERS", "write", Edits},
		{"src/tasks.json", "write", Edits},
		{"a.go", "write", Edits},
	} {
		v := policy(t, test.mode).Judge(Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/w/" + test.name)}}})
		if v.Code != prefix+test.want || (v.Action == Allow) != (test.want == "write") {
			t.Errorf("%s: %s", test.name, v)
		}
	}
	p, err := New(Options{Mode: AskMode, Root: "/w", Home: "/home/me", Sandboxed: true})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]Action{
		"cat .env": Ask, "cat sub/.env.local": Ask, "cat .env.example": Allow, "cat .e*": Ask, "cat *": Allow, "cat *.json": Allow, "cat *.key": Ask,
		"grep -r x .": Allow, "cat config/master.key": Ask, "head tls/server-key.pem": Ask, "cat cert.pem": Allow, "cat environment.ts": Allow,
		"git show HEAD:.env": Ask, "x=.env; cat $x": Ask,
	} {
		if v := p.Judge(p.Command(line)); v.Action != want {
			t.Errorf("%s: want %s: %s", line, want, v)
		}
	}
	read := Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{tool.File("/w/.env")}}}
	for mode, want := range map[Mode]Action{Inspect: Deny, Plan: Ask, AskMode: Ask, Edits: Ask, Auto: Allow} {
		if v := p.InMode(mode).Judge(read); v.Action != want || v.Code != prefix+"keys" {
			t.Errorf("mode %s: want %s: %s", mode, want, v)
		}
	}
}

// All words of a question to a service are in the line.
func TestQuestionsToServices(t *testing.T) {
	p := policy(t, AskMode)
	for line, want := range map[string]Action{
		"gh pr list": Allow, "gh pr view $n": Ask, "gh pr list -R evil.example/a/b": Ask, "gh pr list -R a/b": Allow, "gh pr list -R $r": Ask, "gh -R a/b pr list": Ask,
		"gh api user": Allow, "gh api user -f a=b": Ask, "gh api user -X DELETE": Ask, "gh api https://evil.example/user": Ask, "gh api user/$x": Ask,
		"kubectl describe pod web": Allow, "kubectl describe configmap web": Ask, "kubectl describe pod -f x": Ask,
		"docker logs web": Allow, "docker logs $(docker ps -q)": Ask, "kubectl get pods": Allow, "kubectl get secrets": Ask, "kubectl get pods -o yaml": Ask, "kubectl get po -owide": Allow, "ip addr": Allow,
		"ip addr show eth0": Allow, "ip addr add 10.0.0.1 dev a": Ask, "ss -tlnp": Allow, "ss -K": Ask,
	} {
		if v := p.Judge(p.Command(line)); v.Action != want {
			t.Errorf("%s: want %s: %s", line, want, v)
		}
		if v := p.InMode(Inspect).Judge(p.Command(line)); want == Ask && v.Action != Deny {
			t.Errorf("%s", v)
		}
	}
	for _, line := range []string{"gh api user -X DELETE", "gh api user --method=PATCH", "gh api a -f b=c", "gh api a -Fb=@c", "gh api a --input x", "gh api a -H b:c"} {
		if v := p.InMode(Auto).Judge(p.Command(line)); v.Code != prefix+"publishes" {
			t.Errorf("%s", v)
		}
	}
}

// Python runs a module of the directory in place of its own.
func TestPythonImportsFromTheDirectory(t *testing.T) {
	for file, want := range map[string]Action{"a.go": Allow, "argparse.py": Ask, "json/__init__.py": Ask, "json/a.txt": Allow, "re.cpython-312.so": Ask} {
		p, _ := project(t, AskMode, file)
		for _, line := range []string{"python3 -m json.tool a.json", "python3 -m pip list"} {
			if v := p.Judge(p.Command(line)); v.Action != want {
				t.Errorf("%s: want %s: %s", file, want, v)
			}
		}
		if v := p.Judge(p.Command("python3 -m json.tool a.json b.json")); v.Action != Ask {
			t.Errorf("%s", v)
		}
	}
}

// A pattern names the files that links which it matches lead to.
func TestLinksThatPatternsMatch(t *testing.T) {
	p, _ := project(t, AskMode, "docs/a.md", "docs/b.txt", "docs/out.md -> /etc/hostname", "docs/in.txt -> b.txt", "docs/.dot.txt -> /etc/hostname", "out -> /etc")
	for line, want := range map[string]Action{
		"cat docs/*": Ask, "cat docs/*.md": Ask, "cat docs/o?t.md": Ask, "cat docs/[no]*": Ask, "cat */out.md": Ask, "grep -r x docs/*": Ask, "head < docs/o*": Ask,
		"cat */hostname": Ask, "cat o*/hostname": Ask, "cat docs/*.txt": Allow, "cat docs/a*": Allow, "cat docs/[ab]*": Ask, "cat d*/b.txt": Allow, "cat x*": Allow,
	} {
		if v := p.Judge(p.Command(line)); v.Action != want {
			t.Errorf("%s: want %s: %s", line, want, v)
		}
		if v := p.InMode(Inspect).Judge(p.Command(line)); want == Ask && v.Action != Deny {
			t.Errorf("%s", v)
		}
	}
	if v := p.InMode(Edits).Judge(p.Command("tee docs/*.md")); v.Code != prefix+"outside_write" {
		t.Errorf("%s", v)
	}
}

// Options that follow links read the files that links below a directory lead to.
func TestOptionsThatFollowLinks(t *testing.T) {
	p, _ := project(t, Inspect, "docs/a.md", "docs/out -> /etc", "src/a.md", "src/in -> ../docs/a.md")
	for line, want := range map[string]Action{
		"grep -R x .": Deny, "grep -nR x docs": Deny, "grep --dereference-recursive x": Deny, "rg -L x": Deny, "rg --follow x docs": Deny, "diff -ru docs src": Deny,
		"tar chf - docs": Deny, "grep -R x d*": Deny, "grep -r x .": Allow, "grep -R x src": Allow, "rg -L x src": Allow, "diff -r src src": Allow, "tar -chf - src": Allow,
	} {
		if v := p.Judge(p.Command(line)); v.Action != want {
			t.Errorf("%s: want %s: %s", line, want, v)
		}
	}
}
