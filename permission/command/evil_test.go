package command

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// The ways of a shell to run a command that stands for %.
var (
	// around any command
	constructs = strings.Split(strings.TrimSpace(`
! %
( % )
{ %; }
if %; then :; fi
if true; then %; fi
if true; then :; else %; fi
ls && %
ls || %
ls | %
% | cat
%; ls
% &
time %
cd a && %
while %; do :; done
until true; do %; done
for i in 1; do %; done
for ((;;)); do %; done
select i in 1; do %; done
case a in a) % ;; esac
coproc { %; }
f() { %; }; f
x=$( %)
x=(a $( %))
x+=$( %)
export X=$( %)
echo $( %)
echo "$( %)"
echo "a${x:-$( %)}b"
echo ${x/a/$( %)}
echo ${x#$( %)}
echo $((1 + $( %)))
ls > $( %)
ls 2>"$( %)"
ls <( %)
tee >( %)
cat <<< $( %)
[[ -f $( %) ]]
[[ a = $( %) ]]
((x = $( %)))
let "x=$( %)"
echo a{b,$( %)}c
case $( %) in *) ls ;; esac
for i in $( %); do ls; done
LANG=$( %) ls
declare x=$( %)
printf '%s' $( %)
echo $[1 + $( %)]
{ ls; %; } > /dev/null`), "\n")

	// around a simple command
	wrappers = strings.Split(strings.TrimSpace(`
env %
env -i %
env A=1 -- %
env LANG=C %
env -u A -C b %
env -S "%"
nohup %
timeout 5 %
timeout -k 1 --signal KILL 5 %
nice %
nice -n 5 %
nice -5 %
ionice -c2 -n7 %
/usr/bin/time -p %
stdbuf -oL %
setsid -w %
setsid %
taskset 1 %
chrt -b 0 %
flock a %
xargs %
xargs -0 -n 1 %
xargs -I{} % {}
command %
command -p -- %
builtin %
exec %
exec -a ls %
sudo %
sudo -u me -n A=1 %
doas %
strace -f -o /dev/null %
busybox %
toybox %
chroot / %
unshare -r %
caffeinate -i %
watch -x %
parallel % ::: a
find . -exec % {} \;
find . -exec % {} +
find . -name a -execdir % {} \;
find . -ok % \;
git bisect run %
docker run a %
ssh host %
noglob %
LANG=C %
X=1 %
2>/dev/null %
<a %`), "\n")

	// around a text of commands
	texts = strings.Split(strings.TrimSpace(`
sh -c %
bash -c %
bash -euo pipefail -c %
dash -c %
zsh -c %
ksh -c %
sh -c % a b
eval %
eval ls\; %
trap % EXIT
su -c %
su root -c %
ssh host %
watch %
echo % | sh
printf '%%s' % | bash
bash <<< %
bash -s <<< %
alias a=%
xargs sh -c %
find . -exec sh -c % \;
env sh -c %
sudo bash -c %
tar -tf a --to-command=%
tar -cf a --checkpoint-action=exec=% b
tar -I % -tf a
rsync -e % a b
split --filter=% a
man -P % ls
git rebase -x % main
git rebase --exec=% main
git submodule foreach %
git difftool -x % HEAD
git -c alias.a=!% a
git -c core.pager=% log
git filter-branch --tree-filter % HEAD
flock a -c %
sort --compress-program=% a
rg --pre=% a
PAGER=% git log
go test -exec % .
go vet -vettool=% .`), "\n")

	names = []string{"evil", `\evil`, `e\vil`, "'evil'", `e"vi"l`, `$'\x65vil'`, `$'\145vil'`, "ev''il", `"evil"`, "{evil,a}", "./evil", "a/evil", "/tmp/evil", "/bin/../tmp/evil", "evil -v", "evil --version", "evil > /dev/null", "~/evil"}
)

// line draws a line that runs evil.
func line(t *rapid.T) string {
	s := rapid.SampledFrom(names).Draw(t, "name")
	simple := true
	for range rapid.IntRange(0, 5).Draw(t, "depth") {
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		switch {
		case kind == 0:
			s = strings.Replace(rapid.SampledFrom(constructs).Draw(t, "construct"), "%", s, 1)
			simple = false
		case kind == 1 && simple:
			form := rapid.SampledFrom(wrappers).Draw(t, "wrapper")
			if strings.Contains(form, `"`) && strings.ContainsAny(s, "\"\\$'|<") {
				continue
			}
			s = strings.Replace(form, "%", s, 1)
			simple = !strings.HasPrefix(form, "LANG") && !strings.HasPrefix(form, "X=") && !strings.ContainsAny(form[:1], "2<")
		default:
			q, err := syntax.Quote(s, syntax.LangBash)
			if err != nil {
				continue
			}
			form := rapid.SampledFrom(texts).Draw(t, "text")
			at := strings.LastIndex(form, "%")
			s = strings.ReplaceAll(form[:at], "%%", "%") + q + form[at+1:]
			simple = true
		}
	}
	return s
}

// TestEvil builds lines around an unknown program, in all the ways above and their combinations.
func TestEvil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := line(t)
		if a := analyze(s, here); a.Harmless() {
			t.Fatalf("called harmless:\n%s\n%+v", s, a.Commands)
		}
	})
}

// FuzzEvil is TestEvil with lines that the fuzzer looks for.
func FuzzEvil(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		s := line(t)
		if a := analyze(s, here); a.Harmless() {
			t.Fatalf("called harmless:\n%s\n%+v", s, a.Commands)
		}
	}))
}

// FuzzAnalyze gives the analysis any text. It must come to an end within its bounds, and a line whose syntax tree has the
// program evil is not harmless.
func FuzzAnalyze(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s)
		f.Add(strings.ReplaceAll(s, "rm", "evil"))
		f.Add(strings.ReplaceAll(s, "ls", "evil"))
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := analyze(s, here)
		if len(a.Commands) > mostCommands || len(a.Problems) > 10*mostCommands {
			t.Fatalf("%d commands, %d problems", len(a.Commands), len(a.Problems))
		}
		for _, c := range a.Commands {
			if len(c.Words) == 0 || c.Why == "" || slices.ContainsFunc(c.Dynamic, func(i int) bool { return c.Words[i] != "" }) {
				t.Fatalf("%+v", c)
			}
			if c.Does&Writes != 0 && len(c.WritePaths) == 0 && !slices.Contains(c.Via, "ssh") && c.Does&Executes == 0 {
				t.Fatalf("writes nowhere: %+v", c)
			}
		}
		if a.Harmless() && runsEvil(s) {
			t.Fatalf("called harmless: %+v", a.Commands)
		}
	})
}

// runsEvil reports whether the syntax tree has a command evil that is no function of the line.
func runsEvil(s string) (found bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(s), "")
	if err != nil {
		return false
	}
	declared := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			declared = declared || n.Name != nil && n.Name.Value == "evil"
		case *syntax.CallExpr:
			found = found || len(n.Args) > 0 && n.Args[0].Lit() == "evil"
		}
		return true
	})
	return found && !declared
}
