#!/usr/bin/env bash
# Records the session in README.md with the offline model: make recording. It needs Go, git and no network.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/bin/tenon" ./cmd/tenon
mkdir "$work/greet"
printf 'module example.com/greet\n\ngo 1.26\n' >"$work/greet/go.mod"
printf '// Package greet greets people.\npackage greet\n\nfunc Greet(name string) string { return "Helo, " + name }\n' >"$work/greet/greet.go"
printf 'package greet\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) {\n\tif got := Greet("Ann"); got != "Hello, Ann" {\n\t\tt.Error(got)\n\t}\n}\n' >"$work/greet/greet_test.go"
export PATH="$work/bin:$PATH" TENON_DATA_DIR="$work/data" TENON_CONFIG_DIR="$work/config" TENON_MODEL=offline
(
  cd "$work/greet"
  git init -q
  tenon run -q --mode auto "run the tests" >/dev/null 2>&1 # the first build has a cold cache
  for line in 'tenon run --mode auto "run the tests"' "tenon run --mode edits 'replace \"Helo\" with \"Hello\" in greet.go'" 'tenon diff' 'tenon undo'; do
    printf '$ %s\n' "$line"
    eval "$line" 2>&1 || true
  done
) >"$work/recording"
{
  sed '/<!-- recording -->/q' README.md
  printf '````console\n%s\n````\n' "$(cat "$work/recording")"
  sed -n '/<!-- end of the recording -->/,$p' README.md
} >"$work/README.md"
cat "$work/README.md" >README.md
