package app

import (
	"testing"

	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/tool/artifact"
)

// BenchmarkStart is what tenon run does in this process before its first request and after its last answer, by its parts. The data
// directory is there already.
func BenchmarkStart(b *testing.B) {
	home, dir := b.TempDir(), b.TempDir()
	getenv := vars("HOME", home, "TENON_DATA_DIR", b.TempDir())
	start := func(b *testing.B) (*Setup, Spec, *App) {
		s, err := NewSetup(getenv, dir, "test")
		if err != nil {
			b.Fatal(err)
		}
		spec := s.Spec()
		spec.Client, spec.Bounds = offline.New(), s.Bounds(dir)
		if spec.Policy, err = s.Policy(spec.Bounds, Permissions{}); err != nil {
			b.Fatal(err)
		}
		a, err := Open(getenv, "test")
		if err != nil {
			b.Fatal(err)
		}
		return s, spec, a
	}
	agentOf := func(b *testing.B, a *App, spec Spec) *Agent {
		ag, err := a.New(b.Context(), spec)
		if err != nil {
			b.Fatal(err)
		}
		return ag
	}
	shut := func(b *testing.B, closers ...interface{ Close() error }) {
		for _, c := range closers {
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}

	b.Run("setup", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewSetup(getenv, dir, "test"); err != nil {
				b.Fatal(err)
			}
		}
	})
	s, spec, a := start(b)
	defer shut(b, a)
	b.Run("bounds_and_policy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Policy(s.Bounds(dir), Permissions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tools", func(b *testing.B) {
		ag := agentOf(b, a, spec)
		defer shut(b, ag)
		b.ReportAllocs()
		for b.Loop() {
			_ = ag.tools(spec, artifact.Options{Dir: dir})
		}
	})
	b.Run("agent", func(b *testing.B) { // made and closed, in a store that is open
		b.ReportAllocs()
		for b.Loop() {
			shut(b, agentOf(b, a, spec))
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, spec, a := start(b)
			shut(b, agentOf(b, a, spec), a)
		}
	})
}
