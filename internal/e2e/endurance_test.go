package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// worker is a model that reads one file after another, and ends when it has worked enough. The server counts its tokens, and refuses a request
// that exceeds its context window.
type worker struct {
	enough func(turns, tokens int) bool

	mu        sync.Mutex
	turns     int
	tokens    int // of all requests
	summaries int
	charged   []llm.Usage // by request
}

const (
	workDone = "All of it is done."
	workFile = "work.txt"
)

// serve starts the server of the worker. Its vocabulary needs more tokens than [modelserver.Tokens] counts, as Claude's does.
func (k *worker) serve(p *project, w way, context, output int) *modelserver.Server {
	p.config(fmt.Sprintf(`{"models": {%q: {"context": %d, "max_output": %d}}}`, w.ref(), context, output))
	if w.server.Window = context; w.server.Vocabulary == 0 {
		w.server.Vocabulary = vocabulary(w)
	}
	return w.serve(p, modelserver.Func(k.answer))
}

func vocabulary(w way) float64 {
	if strings.Contains(w.model, "claude") {
		return 1.2
	}
	return 1
}

// isWish reports whether a request asks for a summary.
func isWish(r *modelserver.Request) bool {
	return strings.Contains(r.LastUser(), "The context window is nearly full.")
}

const summaryText = "## Goal\nThe work.\n## Decisions\nNone.\n## State\nUnder way: the needle is blue.\n## Files\nwork.txt\n## Errors\nNone.\n## Open\nThe rest.\n## Next step\nRead on.\n"

func (k *worker) answer(r *modelserver.Request) modelserver.Step {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tokens += r.Tokens
	step := modelserver.Say(workDone)
	switch {
	case isWish(r):
		k.summaries++
		step = modelserver.Say(summaryText)
	case !k.enough(k.turns+1, k.tokens):
		k.turns++
		step = modelserver.Say(fmt.Sprintf("Now part %d.", k.turns)).
			Call("read", fmt.Sprintf(`{"path":%q,"offset":%d,"limit":400}`, workFile, 1+k.turns%90*400))
	default:
		k.turns++
	}
	u := llm.Usage{Input: int64(r.Tokens), Output: int64(20 + len(k.charged)%7)}
	k.charged = append(k.charged, u)
	return step.Usage(u)
}

// With the settings of a new user, long runs end when the model has finished, not earlier.
func TestLongRunsEndByThemselves(t *testing.T) {
	for i, c := range []struct {
		name            string
		way             string
		turns, tokens   int // at least
		context, output int
	}{
		{"60 turns in a small context window", "anthropic", 60, 0, 16_000, 2000},
		{"60 turns in a small context window", "openai-responses", 60, 0, 16_000, 2000},
		{"5 million tokens", "anthropic", 60, 5_000_000, 200_000, 32_000},
		{"5 million tokens", "openai-responses", 60, 5_000_000, 200_000, 32_000},
	} {
		if !sample.Takes(i, 3, 4) {
			continue
		}
		t.Run(c.name+", "+c.way, func(t *testing.T) {
			t.Parallel()
			p, w := newProject(t), wayOf(t, c.way)
			var text strings.Builder
			for line := range 36_000 {
				fmt.Fprintf(&text, "line %d tells of oak, of iron and of %d wheels in the mill by the river\n", line, line*7)
			}
			p.write(filepath.Join(p.dir, workFile), text.String())
			k := &worker{enough: func(turns, tokens int) bool { return turns >= c.turns && tokens >= c.tokens }}
			srv := k.serve(p, w, c.context, c.output)
			r := p.tenon("run", "--model", w.ref(), "Read the whole file, one part after the other.")
			if r.code != 0 || r.stdout != workDone+"\n" {
				t.Fatalf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
			}
			for _, v := range srv.Violations() {
				t.Error(v)
			}
			journal := p.journal()
			end := ended(t, journal)
			if n := len(answers(journal)); end.Reason != session.ReasonDone || end.Turns != k.turns || n != k.turns || k.turns < c.turns || k.tokens < c.tokens {
				t.Errorf("%+v; %d answers, %d turns and %d tokens at the server", end, n, k.turns, k.tokens)
			}
			whole(t, journal)
			t.Logf("%d turns, %d tokens, %d summaries", k.turns, k.tokens, k.summaries)
		})
	}
}

// whole fails the test if a call has no result, or a result is no success.
func whole(t *testing.T, journal []session.Event) {
	t.Helper()
	open := make(map[string]bool)
	for _, e := range journal {
		m, ok := e.Body.(session.Message)
		if !ok {
			continue
		}
		for _, c := range m.Calls() {
			open[c.ID] = true
		}
		if m.Role == llm.RoleTool {
			if !open[m.CallID] || m.Outcome != session.OutcomeOK {
				t.Errorf("entry %d: the result of %s has the outcome %q", e.Seq, m.CallID, m.Outcome)
			}
			delete(open, m.CallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("%d calls have no result", len(open))
	}
}

// claudeCode writes a session of Claude Code with this many messages into a file. It has code, large results, other languages, and one message
// that is larger than any context window here.
func claudeCode(t *testing.T, file, dir string, messages int) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	out := json.NewEncoder(f)
	parent := any(nil)
	type object = map[string]any
	add := func(n int, kind string, message object) {
		id := fmt.Sprintf("m%d", n)
		if err := out.Encode(object{
			"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": dir, "sessionId": "3f0c7c1e-8a52-4b6e-9a5d-0e6a1f2b3c4d",
			"version": "2.0.31", "type": kind, "message": message, "uuid": id,
			"timestamp": fmt.Sprintf("2025-11-03T%02d:%02d:%02d.000Z", n/3600, n/60%60, n%60),
		}); err != nil {
			t.Fatal(err)
		}
		parent = id
	}
	answer := func(n int, stop string, part object) {
		add(n, "assistant", object{
			"model": "claude-sonnet-4-5-20250929", "id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant",
			"content": []any{part}, "stop_reason": stop,
			"usage": object{"input_tokens": 4, "cache_read_input_tokens": 9000 + n, "output_tokens": 40},
		})
	}
	prompts := []string{
		"Please look at the carts, too; the total is off by one cent for some of the customers in Norway.",
		"Proszę sprawdzić również koszyki, ponieważ suma różni się o jeden grosz u niektórych klientów z Norwegii.",
		"请再检查一下购物车：挪威部分客户的总额相差一分钱，测试在夜间失败，日志里没有错误。",
		"Пожалуйста, проверь ещё и корзины: у некоторых клиентов сумма отличается на одну копейку.",
		"カートも確認してください。ノルウェーの一部のお客様で合計が一円ずれています。",
	}
	for n := 0; n < messages; n += 4 {
		prompt := fmt.Sprintf("%s (%d)", prompts[n/4%len(prompts)], n)
		if n == messages/2 {
			prompt += strings.Repeat("\nAn endless log line with 0x7fe3a91c and /var/lib/carts/4711.json: connection reset by peer", 12_000)
		}
		add(n, "user", object{"role": "user", "content": prompt})
		answer(n+1, "tool_use", object{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": "Read", "input": object{"file_path": fmt.Sprintf("%s/cart%d.go", dir, n)},
		})
		lines := 12
		if n%400 == 0 {
			lines = 900
		}
		var code strings.Builder
		for i := range lines {
			fmt.Fprintf(&code, "%6d→\tif total[%d] != sum(prices[%d:], 0x%x) { return fmt.Errorf(\"cart %%d: %%w\", id, errCent) }\n", i+1, i, n, n*i)
		}
		add(n+2, "user", object{"role": "user", "content": []any{
			object{"tool_use_id": fmt.Sprintf("toolu_%d", n), "type": "tool_result", "content": code.String()},
		}})
		answer(n+3, "end_turn", object{"type": "text", "text": strings.Repeat("The sum is made of floats, so I use integers for cents. ", 1+n%5)})
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A session of another program with 4000 messages continues with a model whose context window is a fraction of it: the summary is
// written in stages, and the server refuses no request.
func TestAnImportOfFourThousandMessages(t *testing.T) {
	for i, c := range []struct {
		way             string
		context, output int
		vocabulary      float64 // of the server, compared with the one that the estimate assumes
	}{
		{"anthropic", 16_000, 2000, 1},
		{"anthropic", 200_000, 32_000, 1.15},
		{"openai-responses", 16_000, 2000, 1.15},
	} {
		if !sample.Takes(i, 3, 3) {
			continue
		}
		t.Run(fmt.Sprintf("%s, %d", c.way, c.context), func(t *testing.T) {
			t.Parallel()
			p, w := newProject(t), wayOf(t, c.way)
			w.server.Vocabulary = c.vocabulary * vocabulary(w)
			file := filepath.Join(p.home, "3f0c7c1e-8a52-4b6e-9a5d-0e6a1f2b3c4d.jsonl")
			claudeCode(t, file, p.dir, 4000)
			k := &worker{enough: func(int, int) bool { return true }}
			srv := k.serve(p, w, c.context, c.output)
			if r := p.tenon("sessions", "import", file); r.code != 0 {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			if n := len(answers(p.journal())); n != 2000 {
				t.Fatalf("%d answers are imported", n)
			}
			r := p.tenon("run", "--continue", "--model", w.ref(), "What is the needle?")
			if r.code != 0 || r.stdout != workDone+"\n" {
				t.Fatalf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
			}
			stages := k.summaries
			all := srv.Requests()
			last := all[len(all)-1]
			said := ""
			for _, m := range last.Messages {
				said += m.Text() + "\n"
			}
			if stages < 2 || isWish(last) || !strings.Contains(said, "the needle is blue") || !strings.Contains(said, "What is the needle?") || last.Tokens > c.context/2 {
				t.Errorf("%d stages; the last request has %d tokens:\n%.3000s", stages, last.Tokens, said)
			}
			for _, text := range []string{"And now?", "And then?"} { // the rest fits
				if r := p.tenon("run", "--continue", "--model", w.ref(), text); r.code != 0 || r.stdout != workDone+"\n" {
					t.Errorf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
				}
			}
			b := &bill{charged: k.charged}
			b.same(p) // also each stage
			if k.summaries != stages {
				t.Errorf("%d more requests for summaries", k.summaries-stages)
			}
			for _, v := range srv.Violations() {
				t.Error(v)
			}
			sizes := []int{}
			for _, r := range srv.Requests() {
				sizes = append(sizes, r.Tokens)
			}
			t.Logf("%d stages; the requests have %v tokens", stages, sizes)
		})
	}
}
