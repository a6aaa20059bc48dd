package tokens

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

func TestEval(t *testing.T) {
	fs, _ := filepath.Glob("/tmp/tok.u2SN/corpus/*.tok")
	fs = append(fs, "/tmp/tok.u2SN/q.tok")
	for _, f := range fs {
		in, _ := os.Open(f)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 1<<26)
		i := 0
		var errs []float64
		p, n := 0, 0
		for sc.Scan() {
			var d struct {
				Text string
				N    int
			}
			json.Unmarshal(sc.Bytes(), &d)
			i++
			if strings.HasSuffix(f, "q.tok") {
				t.Logf("%d %d %.40q", Text(d.Text), d.N, d.Text)
				continue
			}
			if i%2 == 1 {
				continue
			}
			x := Text(d.Text)
			p += x
			n += d.N
			errs = append(errs, math.Abs(float64(x)/float64(d.N)-1))
		}
		if len(errs) == 0 {
			continue
		}
		sort.Float64s(errs)
		t.Logf("%-14s %+5.1f median %4.1f worst %4.1f", strings.TrimSuffix(filepath.Base(f), ".tok"), 100*(float64(p)/float64(n)-1), 100*errs[len(errs)/2], 100*errs[len(errs)-1])
	}
}
