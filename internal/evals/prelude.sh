# The beginning of every check. The check runs in the repository after the run, with these variables:
#   CHECK    the directory of the files that only the check has
#   ANSWER   a file with the last answer
#   DIFF     a file with all changes of the run, committed or not, as a diff
#   CHANGED  a file with the paths that the run changed, one to a line
#   START    the commit at the start of the run
set -eu

fail() { echo "$*"; exit 1; }

# unchanged: the run left every file, the index and the branch alone.
unchanged() {
	test ! -s "$CHANGED" || fail "the run changed files: $(cat "$CHANGED")"
	test "$(git rev-parse HEAD)" = "$START" || fail "the run moved HEAD"
}

# only PATH...: the run changed no other file.
only() {
	while read -r file; do
		case " $* " in *" $file "*) ;; *) fail "the run changed $file" ;; esac
	done <"$CHANGED"
}

# says REGEXP: a line of the answer fits, in upper or lower case.
says() { grep -Eiq -e "$1" "$ANSWER" || fail "the answer does not say: $1"; }

# silent REGEXP: no line of the answer fits.
silent() { if grep -Eiq -e "$1" "$ANSWER"; then fail "the answer says: $1"; fi; }

# has FILE TEXT: the file has a line with the text.
has() { grep -Fq -e "$2" "$1" || fail "$1 does not have: $2"; }

# lacks FILE TEXT: the file has no line with the text.
lacks() { if grep -Fq -e "$2" "$1"; then fail "$1 still has: $2"; fi; }

# same FILE: the file equals the one in CHECK.
same() { diff -u "$CHECK/$1" "$1" || fail "$1 differs from what is expected"; }

# gotest FILE...: the package passes its tests together with these files from CHECK.
gotest() {
	for file in "$@"; do cp "$CHECK/$file" .; done
	go test -timeout 20s ./... || fail "a test fails"
}
