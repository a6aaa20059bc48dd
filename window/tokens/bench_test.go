package tokens_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/window/tokens"
)

func BenchmarkText(b *testing.B) {
	files, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(files) == 0 {
		b.Fatal("no samples", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			s := string(text)
			for b.Loop() {
				tokens.Text(s)
			}
		})
	}
}
