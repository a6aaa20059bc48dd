package guidance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/guidance"
)

func TestDraft(t *testing.T) {
	p := newPlace(t)
	p.write("repo/go.mod", "module example.com/thing\n\ngo 1.26\n")
	p.write("repo/package.json", `{"scripts": {"test": "vitest", "build": "vite build", "prebuild": "x", "prepare": "husky", "postinstall": "x", "preview": "vite preview"}}`)
	for _, lock := range []string{"bun.lock", "pnpm-lock.yaml", "yarn.lock"} { // of more than one, always the same counts
		p.write("repo/"+lock, "")
	}
	p.write("repo/Makefile", "VERSION := 1\nall: build\n\tgo build\nbuild:\n%.o: %.c\n.PHONY: all\n")
	p.write("repo/Cargo.toml", "[package]\n")
	p.write("repo/pyproject.toml", "[project]\n")
	p.write("repo/pom.xml", "<project/>\n")
	p.write("repo/build.gradle", "plugins {}\n")
	p.write("repo/CMakeLists.txt", "project(x)\n")
	p.write("repo/cmd/main.go", "package main\n")
	p.write("repo/node_modules/x", "")
	p.write("repo/x```\nrun ls/y", "")
	for _, name := range []string{"cmd/main_test.go", "cmd/a_test.go", "tests/test_a.py", "web/a.test.ts", "web/__tests__/b.test.ts", "node_modules/c.test.ts"} {
		p.write("repo/"+name, "")
	}
	got := guidance.Draft(p.root)
	for _, want := range []string{
		"# repo\n", "Go, module `example.com/thing`", "    go test ./...", "    pnpm build\n    pnpm preview\n    pnpm test\n", "    make all\n    make build\n",
		"cargo test", "pytest", "mvn test", "gradlew", "ctest", "- `cmd/`", "## Rules",
		"go test -run TestName", "## Tests\n\n- `*.test.ts`: directories `__tests__/` (1), next to the code (1)\n- `*_test.go`: next to the code (2)\n- `test_*.py`: `tests/` (1)\n\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"node_modules", "VERSION", "PHONY", ".git", "run ls", "prebuild", "prepare", "postinstall"} {
		if strings.Contains(got, no) {
			t.Errorf("%q in\n%s", no, got)
		}
	}
	if got := guidance.Draft(filepath.Join(p.root, "cmd")); strings.Contains(got, "## Commands") || !strings.HasPrefix(got, "# cmd\n") {
		t.Errorf("of a folder that says nothing:\n%s", got)
	}
}
