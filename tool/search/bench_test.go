package search

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search/internal/lines"
	"github.com/tenon-agent/tenon/workspace"
)

// patterns are what is looked for in the source tree of Go: 11 000 files, 121 MB.
var patterns = []string{`ErrUnexpectedEOF`, `func \(\w+ \*?\w+\) Read\(`, `(?i)deprecated`, `\b[A-Z]\w+Error\b`, `(foo|bar|context)\.\w+\(`}

// BenchmarkAll finds and formats every match in the tree, and has ripgrep do the same, where it is installed, with the ignore
// rules of a workspace. What counts is the ratio of the two: they take turns, so that both have the machine as it is.
func BenchmarkAll(b *testing.B) {
	dir, ws := sourceOfGo(b)
	rg, _ := exec.LookPath("rg")
	for _, pattern := range patterns {
		b.Run(pattern, func(b *testing.B) {
			matches := 0
			both(b, func() {
				g := all(b, ws, pattern)
				if err := g.run(b.Context()); err != nil {
					b.Fatal(err)
				}
				matches = g.found.Matches
			}, rg, dir, func(out []byte) {
				if n := bytes.Count(out, []byte("\n")); n != matches {
					b.Errorf("ripgrep finds %d lines, we find %d", n, matches)
				}
			}, "-n", "-e", pattern)
		})
	}
}

// BenchmarkTool is calls of the tools as models make them.
func BenchmarkTool(b *testing.B) {
	dir, ws := sourceOfGo(b)
	rg, _ := exec.LookPath("rg")
	set := New(ws)
	call := func(b *testing.B, one tool.Tool, arguments string) func() {
		return func() {
			call, err := one.Prepare(b.Context(), arguments)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := call.Run(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("glob", func(b *testing.B) {
		both(b, call(b, set[0], `{"pattern": "**/*_test.go"}`), rg, dir, nil, "--files", "-g", "*_test.go")
	})
	for _, pattern := range append(patterns, "zzzzzz") {
		b.Run("grep/"+pattern, func(b *testing.B) {
			both(b, call(b, set[1], fmt.Sprintf(`{"pattern": %q}`, pattern)), "", dir, nil)
		})
	}
}

func sourceOfGo(b *testing.B) (string, *workspace.Workspace) {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "src")
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.Close() })
	return dir, ws
}

// all is a search without bounds.
func all(b *testing.B, ws *workspace.Workspace, pattern string) *grep {
	p, invalid, err := lines.Compile(pattern, lines.Options{})
	if err != nil || invalid != nil {
		b.Fatal(err, invalid)
	}
	return &grep{set: set{ws}, start: ".", pattern: p, limits: limits{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}}
}

// both measures the medians of ours and of ripgrep.
func both(b *testing.B, ours func(), rg, dir string, check func(out []byte), args ...string) {
	b.Helper()
	var mine, its []time.Duration
	for b.Loop() {
		start := time.Now()
		ours()
		mine = append(mine, time.Since(start))
		if rg == "" {
			continue
		}
		cmd := exec.Command(rg, append([]string{"--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "-g", "!.git"}, args...)...)
		cmd.Args = append(cmd.Args, ".")
		cmd.Dir = dir
		start = time.Now()
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		out, err := io.ReadAll(pipe)
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		its = append(its, time.Since(start))
		if check != nil {
			check(out)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(mine), "ms")
	if rg != "" {
		b.ReportMetric(median(its), "rg-ms")
		b.ReportMetric(median(mine)/median(its), "ratio")
	}
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
