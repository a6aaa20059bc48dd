package command

import "testing"

// TestFunctions holds that a name stands for a function only where the shell has declared it for sure, and that calling one may lead
// anywhere.
func TestFunctions(t *testing.T) {
	const push, nothing = "writes network executes publishes w=/w/.git via=git()", "nothing via=git()"
	const strange = "writes network executes unknown publishes w=/w/.git via=git() problem" // no canonical form
	for line, want := range map[string]string{
		"git() { :; }; git push":                       nothing,
		"! git() { :; }; git push":                     "unknown via=git() problem",
		"false && git() { :; }; git push":              push,
		"true || git() { :; }; git push":               push,
		"if false; then git() { :; }; fi; git push":    push,
		"(git() { :; }); git push":                     push,
		"git() { :; } & git push":                      push,
		"git() { :; } | cat; git push":                 strange,
		"git() { :; } |& cat; git push":                strange,
		"git() (:) | cat | cat; git push":              strange,
		"function git { :; } | cat && true; git push":  strange,
		"{ git() { :; }; } | cat; git push":            push,
		"git() { :; } >$x; git push":                   "writes w=? via=git()",
		"f() { :; }; f; rm a":                          "writes w=/w/a via=f()",
		"f() { popd; }; f; rm a":                       "writes w=? via=f()",
		"f() { eval 'cd $x'; }; f; rm a":               "writes w=? via=eval,f()",
		"f() { command cd $x; }; f; rm a":              "writes w=? via=command,f()",
		"case a in a) cd /etc ;& b) rm passwd ;; esac": "writes w=/etc/passwd,/w/passwd",
	} {
		if got := describe(analyze(line, here)); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", line, got, want)
		}
	}
}

// TestOtherPrograms holds that what only looks like a program of the table is another one.
func TestOtherPrograms(t *testing.T) {
	for _, line := range []string{
		"'git log'", "exec {PATH}>/dev/null; ls", `echo 'ls\012evil' | sh`,
		"[[ -v 'a[$(evil)]' ]]", "select x in a; do echo $((REPLY)); done <<< 'a[$(evil)]'",
	} {
		if a := analyze(line, here); a.Harmless() {
			t.Errorf("called harmless: %s\n%+v", line, a.Commands)
		}
	}
	for _, o := range []Options{{Dir: "/usr/bin"}, {Dir: "/w", Roots: []string{"/usr/bin"}}} {
		if a := analyze("/usr/bin/ls", o); a.Harmless() {
			t.Errorf("a program of the work is called harmless: %+v", o)
		}
	}
}
