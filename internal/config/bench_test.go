package config

import (
	"path/filepath"
	"testing"
)

// BenchmarkLoad loads a user's and a trusted project's file, as every start does.
func BenchmarkLoad(b *testing.B) {
	dir, root := b.TempDir(), b.TempDir()
	write(b, filepath.Join(dir, FileName), everything)
	write(b, filepath.Join(root, FileName), `{"model": "fast", "limits": {"turns": 10}}`)
	if err := NewTrustStore(dir).Trust(b.Context(), root); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(Options{Dir: dir, WorkDir: root, Getenv: env(), Providers: []string{"anthropic", "openrouter"}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoadNothing loads the configuration of a user without files.
func BenchmarkLoadNothing(b *testing.B) {
	o := Options{Dir: b.TempDir(), WorkDir: b.TempDir()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(o); err != nil {
			b.Fatal(err)
		}
	}
}
