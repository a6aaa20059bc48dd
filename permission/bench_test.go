package permission

import (
	"fmt"
	"testing"
)

// BenchmarkJudge takes below 100 us for a verdict on a command as models write them.
func BenchmarkJudge(b *testing.B) {
	rules := []string{"allow shell(go test *)", "allow write(docs/**)", "deny read(*.pem)", "deny shell(git push --force *)", "ask fetch(*.example.com)"}
	for i := range 40 {
		rules = append(rules, fmt.Sprintf("allow shell(tool%d run *)", i))
	}
	p := policy(b, AskMode, rules...)
	for _, line := range []string{
		"git status",
		"cd src && go test ./... 2>&1 | tail -20",
		"for f in $(git ls-files '*.go'); do gofmt -l $f; done; rm -rf build && mkdir build && git push origin main",
	} {
		c := p.Command(line)
		b.Run(fmt.Sprint(len(line)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Judge(c)
			}
		})
	}
}
