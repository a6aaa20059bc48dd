//go:build unix

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The parts of scripts of sed: what plain scripts consist of, and what has led to several readings.
var sedParts = strings.Split(`p|d|;|;|;|
|
|{|}|!|$|1|1,$|/a/|/[^/]/|\,a,|,|s/a/b/|s/a/touch pwn/|s/[^]/]*/#/|s/[[:alpha:]/]/#/|s/[[:alpha:]]/x/|s/[]/]/#/|s/[/]/#/|s,[/],x,|s/\[/x/|s/x[\/]/y/|s/[\n]/x/|y/a/b/|y/[/]/|
s|/|/|[|]|[^|]|\|\
|\/|#|touch pwn|w pwn|w pwn|e|e|e touch pwn|e touch pwn|W pwn|r a|R a|a\|
a\
|a text|i\|a|i|c|:x|t x|tx|b|}|g|I|M|w|n|N|D|G|h|H|x|=|l|l 3|q|q1|Q|z|F| |	|\c|\c[|\c]|&|\1|\n|-|*|\(|\)|.|^|~|0~2|+2|:|=/[=a=]/|é`, "|")

// The parts of programs of awk.
var awkParts = strings.Split(`{~}~{ print }~{ print $1 }~BEGIN~END~(~)~[~]~;~
~$1~x~y~NR~a[x]~1~2 ~ /a/ ~ / ~/~/=~"a"~"~"\""~"touch pwn"~"pwn"~\~\/~[/]~[^/]~[]/]~[[:alpha:]/]~print ~print "a"~printf "%s", x~>~> "pwn"~>"pwn"~>>"pwn"~|~||~| "sh"~
|"touch pwn"~system("touch pwn")~system~"touch pwn" | getline~getline < "a"~close("pwn")~if (x) ~while (x) ~for (k in a) ~else ~return ~length~length /~in ~++~--~+~-~*~%~^~!~&&~,~?~:~=~==~<~#~# x
~#\
~function f(x) { return x }~f(1)~/[/]/~/a|b/~x /~ /y~;/`, "~")

// A script that is called harmless runs in the real program, and neither creates nor changes a file nor runs a program.
func TestPlainScriptsAreHarmless(t *testing.T) {
	for _, test := range []struct {
		program string
		parts   []string
		most    int
	}{{"sed", sedParts, 9}, {"awk", awkParts, 11}} {
		dir := t.TempDir()
		const input = "touch pwn\na/b]c\n\nx [a] / 1\n"
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte(input), 0o600); err != nil {
			t.Fatal(err)
		}
		plain, valid, all := 0, 0, 0
		rapid.Check(t, func(t *rapid.T) {
			// a part, or a pattern before what would do harm if it were read
			part := rapid.OneOf(rapid.SampledFrom(test.parts), rapid.Custom(func(t *rapid.T) string {
				text := rapid.StringMatching(`[a/\[\]\\^:."#%|]{0,5}(\[\^?[a/\[\]\\:]{1,3}\])?[a/#]{0,2}`)
				if test.program == "awk" {
					return rapid.SampledFrom([]string{"/", "x / ", `"`, "(x) /", "$1 ~ /"}).Draw(t, "before") + text.Draw(t, "pattern") +
						rapid.SampledFrom([]string{"/", `"`}).Draw(t, "after") + rapid.SampledFrom([]string{"", ";", `> "pwn"`, `{ print > "pwn" }`, `{ system("touch pwn") }`, "\n"}).Draw(t, "action")
				}
				return rapid.SampledFrom([]string{"s/", "s|", "y/", "/", "$!s#", `\#`, "s:"}).Draw(t, "before") + text.Draw(t, "pattern") +
					rapid.SampledFrom([]string{"/", "|", "#", ":", "/x/", "#touch pwn#", "#\ntouch pwn\n#", "|x|"}).Draw(t, "replacement") +
					rapid.SampledFrom([]string{"", "p", "e", "w pwn", ";p\n", "\ne touch pwn"}).Draw(t, "flags")
			}))
			for range 6 {
				script := strings.Join(rapid.SliceOfN(part, 1, test.most).Draw(t, "script"), "")
				all++
				line := test.program + " " + quoted(script) + " a"
				if !analyze(line, here).Harmless() {
					continue
				}
				if plain++; succeeds(dir, test.program, script) {
					valid++
				}
				for _, name := range changes(dir, input) {
					_ = os.RemoveAll(filepath.Join(dir, name)) // for the search of a smaller script
					t.Fatalf("called harmless, but it leaves %s:\n%s", name, line)
				}
			}
		})
		t.Logf("%s: %d of %d scripts are plain, and %d of these are valid", test.program, plain, all, valid)
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// succeeds runs a script in a directory.
func succeeds(dir, program, script string) bool {
	cmd := exec.Command("sh", "-c", `ulimit -t 1; exec "$@"`, "sh", program, script, "a") // a script may loop
	cmd.Dir = dir
	return cmd.Run() == nil
}

// changes returns the names of files in a directory other than the file a with its input.
func changes(dir, input string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); e.Name() != "a" || err != nil || string(text) != input {
			names = append(names, e.Name())
		}
	}
	return names
}
