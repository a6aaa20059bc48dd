package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// bill is what a server has counted, request by request.
type bill struct {
	mu        sync.Mutex
	n         int
	charged   []llm.Usage
	summaries int
	titles    int
	prompts   int
	long      string // of every answer
}

// usage is another one for each request.
func (b *bill) usage(r *modelserver.Request) llm.Usage {
	b.n++
	u := llm.Usage{Input: 11 + int64(b.n), CacheRead: int64(r.Tokens) - 11 - int64(b.n), Output: 30 + int64(b.n)}
	if r.Protocol == modelserver.OpenAIResponses || r.Protocol == modelserver.OpenAIChat || r.Protocol == modelserver.Gemini {
		u.Reasoning = 5 + int64(b.n)
	}
	if r.Protocol == modelserver.Anthropic || r.Protocol == modelserver.Bedrock {
		u.CacheWrite = 3 * int64(b.n)
	}
	return u
}

// answer plays the model. The first answer calls a tool, and the fourth breaks off.
func (b *bill) answer(r *modelserver.Request) modelserver.Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.usage(r)
	charged := u
	step := modelserver.Say(answer + b.long)
	switch {
	case isWish(r):
		b.summaries++
		step = modelserver.Say(summaryText)
	case strings.Contains(r.System, "You name conversations"):
		b.titles++
		step = modelserver.Say("The drawer")
	default:
		switch b.prompts++; b.prompts {
		case 1:
			step = modelserver.Call("read", readFact)
		case 4:
			step = step.Fault(modelserver.CutInText)
			switch r.Protocol {
			case modelserver.Anthropic: // it reports the prompt first
				charged.Output = 1
			case modelserver.Gemini: // it reports everything with each part
			default: // they report nothing before the end
				return step.Usage(u)
			}
		}
	}
	b.charged = append(b.charged, charged)
	return step.Usage(u)
}

// counts returns the number of summaries and titles.
func (b *bill) counts() (summaries, titles int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.summaries, b.titles
}

// write sets the length of the next answers.
func (b *bill) write(long string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.long = long
}

// stats is what tenon stats says of each request, and what it says in all.
func (p *project) stats() (requests []llm.Usage, total llm.Usage) {
	p.t.Helper()
	r := p.tenon("stats", "--by", "request", "--limit", "0", "--json")
	var got struct {
		Rows  []struct{ Usage command.UsageJSON }
		Total struct {
			Requests int
			Usage    command.UsageJSON
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || got.Total.Requests != len(got.Rows) {
		p.t.Fatalf("exit code %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	for _, row := range got.Rows {
		requests = append(requests, tokensOf(llm.Usage(row.Usage)))
	}
	return requests, tokensOf(llm.Usage(got.Total.Usage))
}

func tokensOf(u llm.Usage) llm.Usage {
	u.Cost = 0
	return u
}

// same compares the requests of tenon stats with those of the server, in any order: a summary and an answer may end at the same time.
func (b *bill) same(p *project) {
	p.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	got, total := p.stats()
	want, sum := slices.Clone(b.charged), llm.Usage{}
	for _, u := range want {
		sum = sum.Plus(u)
	}
	order := func(a, b llm.Usage) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Output, b.Output))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) || total != sum {
		p.t.Errorf("tenon stats has\n%+v, in all %+v; the server counted\n%+v, in all %+v", got, total, want, sum)
	}
}

// Five short runs on a session above its threshold cost one summary. After each, tenon stats has every request as the server counted it: answers,
// the title, the summary and a request that broke off after the server had reported its usage.
func TestFiveShortRunsCostOneSummary(t *testing.T) {
	for i, name := range []string{"anthropic", "openai-responses", "openai", "gemini", "bedrock"} {
		if !sample.Takes(i, 4, 5) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, w := newProject(t), wayOf(t, name)
			p.env = append(p.env, "TENON_TITLES=on")
			const context = 16_000
			p.config(fmt.Sprintf(`{"models": {%q: {"context": %d, "max_output": 2000}}}`, w.ref(), context))
			w.server.Window, w.server.Vocabulary = context, vocabulary(w)
			b := &bill{}
			b.write(strings.Repeat(" The work goes on, by the river, and by the mill.", 100))
			srv := w.serve(p, modelserver.Func(b.answer))
			ask := func(args ...string) {
				t.Helper()
				r := p.tenon(append(append([]string{"run", "--model", w.ref()}, args...), "How many keys?")...)
				if r.code != 0 || !strings.HasPrefix(r.stdout, answer) {
					t.Fatalf("exit code %d, says %q; %s", r.code, r.stdout, r.stderr)
				}
				b.same(p)
			}
			ask()
			id := p.session()
			for runs := 0; ; runs++ {
				if summaries, _ := b.counts(); summaries > 0 {
					break
				}
				if runs == 20 {
					t.Fatal("no summary begins")
				}
				ask("--session", id)
			}
			b.write("")
			for range 5 {
				ask("--session", id)
			}
			if summaries, titles := b.counts(); summaries != 1 || titles != 1 {
				t.Errorf("%d summaries and %d titles", summaries, titles)
			}
			applied := 0
			for _, e := range p.journal() {
				if _, ok := e.Body.(session.Summarized); ok {
					applied++
				}
			}
			if applied != 1 {
				t.Errorf("%d summaries took effect", applied)
			}
			for _, v := range srv.Violations() {
				t.Error(v)
			}
			var sizes []string
			for _, r := range srv.Requests() {
				sizes = append(sizes, fmt.Sprint(r.Tokens, isWish(r)))
			}
			t.Logf("%v", sizes)
		})
	}
}
