//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// BenchmarkStartWithServers starts the program without servers and with ten, in turn, and compares the arrival of the first request. The tools of
// the servers are remembered.
func BenchmarkStartWithServers(b *testing.B) {
	program := build(b)
	for _, tools := range []int{3, 30} {
		b.Run(fmt.Sprintf("%d_tools_each", tools), func(b *testing.B) { benchServers(b, program, 10, tools) })
	}
}

func benchServers(b *testing.B, program string, servers, tools int) {
	without, with := newProject(b), newProject(b)
	var arrived atomic.Int64
	w := wayOf(b, "anthropic")
	srv := w.serve(without, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		arrived.CompareAndSwap(0, time.Now().UnixNano())
		return say()
	}))
	with.env = without.env
	server, started := mcpServer(b)
	configured := map[string]any{}
	for i := range servers {
		configured[fmt.Sprintf("server%d", i)] = map[string]any{"command": server, "args": []string{started, strconv.Itoa(tools - 1)}}
	}
	text, err := json.Marshal(map[string]any{"mcp": configured})
	if err != nil {
		b.Fatal(err)
	}
	with.config(string(text))
	with.must("mcp", "test")

	var none, some, more starts
	for b.Loop() {
		for _, one := range []struct {
			*project
			*starts
		}{{without, &none}, {with, &some}} {
			one.run(b, one.project, program, &arrived, "run", "--model", w.ref(), "How many keys?")
		}
		i := len(none.wall) - 1
		more.request = append(more.request, some.request[i]-none.request[i])
		more.wall = append(more.wall, some.wall[i]-none.wall[i])
		more.cpu = append(more.cpu, some.cpu[i]-none.cpu[i])
	}
	none.report(b)
	for _, m := range []struct {
		unit string
		all  []time.Duration
	}{{"more-ms/request", more.request}, {"more-ms/run", more.wall}, {"more-cpu-ms/run", more.cpu}} {
		b.ReportMetric(median(m.all), m.unit)
	}
	if v := srv.Violations(); len(v) > 0 {
		b.Error(v)
	}
}
