package permission

import (
	"strings"
	"testing"
)

// TestSynonyms holds one rule against ways to write what it means, and against what it does not mean.
func TestSynonyms(t *testing.T) {
	for rule, lines := range map[string]string{
		"rm -r *": `rm -r x; rm -R x; rm --recursive x; rm --rec x; rm -fr x; rm -Rf x; rm x -r; rm x --recursive; /bin/rm -R x; RM -R x; ./rm --recursive x; sudo rm -vR x
			!rm x; !rm -f x; !rm -- -r; !rm "src/$x"; ?rm $x; ?rm "$x"`,
		"rm -rf *":        `rm -rf x; rm -fr x; rm -r -f x; rm -R --force x; rm --force x --recursive; !rm -r x; !rm -f x`,
		"git push -f *":   `git push --force; git -C x push origin -f; git push origin +main; git push --mirror o; git push -uf origin main; !git push --force-with-lease; !git push; !git push origin a:b`,
		"git push -d *":   `git push --delete o b; git push origin :b; git push -f origin +:b; !git push origin main`,
		"git commit -n *": `git commit --no-verify; git commit -anm x; git commit --no-veri -m x; !git commit -mnow; !git commit -m -; !git commit -m no`,
		"git branch -D *": `git branch -D x; git branch -d -f x; git branch --delete --force x; git branch -df x; !git branch -d x; !git branch -f x; !git branch x`,
		"curl -o x *": `curl -o x u.example; curl -ox u.example; curl u.example -o x; curl --output x u.example; curl --output=x u.example; curl -so x u.example
			!curl -o y x; !curl x; ?curl -o "a$y" u.example`,
		"curl --output=x *":      `curl -o x u; curl -sox u; curl --output x u; !curl -o xy u`,
		"curl --output x":        `curl -o x; !curl u -o x`,
		"git -C * push *":        `git -C a push; git push -C x; git -C a --no-pager push x; !git push; !git -C a pull`,
		"git log --format=%H":    `git log --format %H; git log --format=%H; !git log; !git log --format=%h`,
		"git commit -m *":        `git commit -m x; git commit --message=x; git commit -am x; !git commit -F x`,
		"tar -x *":               `tar xzf a.tgz; tar -xf a; tar --extract -f a; tar -f a --get; !tar cf a x; !tar -tf x`,
		"tar xf a *":             `tar -x -f a; tar --file=a --extract; !tar xf b`,
		"go test -run X *":       `go test --run X; go test -run=X ./...; go test ./... --run=X; !go test -run Y`,
		"find * -delete":         `find . -delete; find a b -name x -delete; !find . -type d -newer l -ls`,
		"unknown -rf *":          `unknown -fr x; unknown -r -f; unknown -vf x -ra; !unknown -r x; !unknown x rf`,
		"unknown -r *":           `unknown -ar; unknown x -r; !unknown --recursive; !unknown r`,
		"unknown --opt v *":      `unknown --opt=v; unknown --opt v; unknown -x --opt=v; !unknown --opt=w`,
		"unknown --opt=v *":      `unknown --opt v; unknown -o --opt=v; !unknown --opt w; !unknown v`,
		"unknown -auto-yes *":    `unknown --auto-yes; unknown -auto-yes x; !unknown --auto; !unknown -a`,
		"* --force *":            `git push -f; rm -f x; unknown --force; !git push; !rm x`,
		"git push --for* *":      `git push --force; git push --force-with-lease; git push -f; !git push --tags`,
		"bash -c *":              `bash -c ls; bash -ec ls; !bash x`,
		"docker run -v /:/x *":   `docker run --volume=/:/x a; docker run -it -v /:/x a; !docker run -v /y:/x a`,
		"npm run build":          `npm run build; npm -C x run build; !npm run`,
		"chmod -R *":             `chmod --recursive 7 x; chmod 7 x -R; !chmod 7 x`,
		"sudo -u root *":         `?sudo --user=root ls; ?sudo -u root ls`,
		"git reset --hard *":     `git reset --har; git reset x --hard; !git reset; !git reset --soft`,
		"unknown --weird -x a *": `unknown -yx --weird a; !unknown --weird a`,
		"git push --weird -f *":  `git push --weird --force; !git push --weird`,
	} {
		p := policy(t, Yolo, "deny shell("+rule+")")
		for line := range strings.SplitSeq(strings.ReplaceAll(lines, "\n", ";"), ";") {
			line = strings.TrimSpace(line)
			want := Deny
			if rest, ok := strings.CutPrefix(line, "!"); ok {
				line, want = rest, Allow
			} else if rest, ok := strings.CutPrefix(line, "?"); ok {
				line, want = rest, Ask
			}
			if d := p.Judge(p.Command(line)); d.Action != want {
				t.Errorf("deny shell(%s): %s is %s, want %s: %s", rule, line, d.Action, want, d.Reason)
			}
		}
	}
}

func TestARuleThatAllowsHasNoSynonyms(t *testing.T) {
	for rule, lines := range map[string]string{
		"rm -r x":           "rm -R x; rm --recursive x; rm x -r; rm -rf x",
		"git push *":        "git -C dir push; git --no-pager push",
		"git push --tags":   "git push --tag",
		"curl --output=x *": "curl --output x; curl -o x",
	} {
		p := policy(t, AskMode, "allow shell("+rule+")")
		for line := range strings.SplitSeq(lines, "; ") {
			if d := p.Judge(p.Command(line)); d.Action != Ask {
				t.Errorf("allow shell(%s): %s is %s", rule, line, d.Action)
			}
		}
	}
}

func TestTheReasonNamesSynonyms(t *testing.T) {
	p := policy(t, AskMode, "deny shell(rm -r *)", "ask shell(git push --force *)", "deny shell(curl -o * *)")
	for line, want := range map[string]string{
		"rm -v --recursive x":  "denies it (--recursive is -r)",
		"rm -fR x":             "denies it (-R is -r)",
		"rm -fr x":             "rm -r *) denies it",
		"git push origin +a":   "asks about it (+a is --force)",
		"./rm --recursive x":   "denies it (--recursive is -r)",
		"curl --output=x a.de": "denies it (--output is -o)",
	} {
		if d := p.Judge(p.Command(line)); !strings.Contains(d.Reason, want) {
			t.Errorf("%s: %s, want %s", line, d.Reason, want)
		}
	}
}
