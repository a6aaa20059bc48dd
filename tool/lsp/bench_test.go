package lsp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool/lsp"
)

// copied makes a copy of this repository, with gopls.
func copied(b *testing.B) (*site, map[string]string) {
	spec := real(b, "gopls")
	root := filepath.Join("..", "..")
	listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		b.Fatal(err)
	}
	contents := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(listed), "\x00"), "\x00") {
		if data, err := os.ReadFile(filepath.Join(root, name)); err == nil && len(data) < 1<<20 {
			contents[name] = string(data)
		}
	}
	return project(b, contents, spec), contents
}

const (
	edited = "tool/line.go"
	good   = "package tool"
	bad    = "package tool\n\nvar broken int = \"text\""
)

// BenchmarkFirstDiagnostic measures the time from a change of a Go file in a copy of this repository to the first report about it, of a server
// that has answered before. The edit that breaks the file and its repair are two operations.
func BenchmarkFirstDiagnostic(b *testing.B) {
	p, contents := copied(b)
	p.call("diagnostics", map[string]any{"path": edited})
	name := filepath.Join(p.dir, edited)
	var all []time.Duration
	for i := 0; b.Loop(); i++ {
		text := contents[edited]
		if i%2 == 0 {
			text = strings.Replace(text, good, bad, 1)
		}
		began := time.Now()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := p.servers.FirstAnswer(b.Context(), p.ws, name); err != nil {
			b.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "ms-median")
}

// BenchmarkReport measures the time from the change to the whole report, which also waits for the problems in other files.
func BenchmarkReport(b *testing.B) {
	p, _ := copied(b)
	p.call("diagnostics", map[string]any{"path": edited})
	for i := 0; b.Loop(); i++ {
		before, after := good, bad
		if i%2 == 1 {
			before, after = bad, good
		}
		if text := p.edit(edited, before, after); (i%2 == 0) != strings.Contains(text, "1 new problem in "+edited) {
			b.Fatalf("edit %d: %q", i, text)
		}
	}
}

// BenchmarkAvailable measures what a start does for language servers: it looks for their files in the root of this repository and for their
// programs on PATH.
func BenchmarkAvailable(b *testing.B) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		b.Fatal(err)
	}
	all := lsp.Known()
	for b.Loop() {
		lsp.Available(root, all)
	}
}
