package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/tokens"
)

// questWindow is how many tokens the model of a quest can take, answer included.
const questWindow = 16_000

// quest is work that is longer than the context window of its model: the model reads many parts, one after the other, and reports their sum
// with a word. It knows only the text of its request: without the goal it stops, and it looks up again the parts that it has forgotten.
type quest struct {
	t      *testing.T
	parts  int
	family tokens.Family
	asked  func() // called at the first request for a summary, unless it is nil

	mu        sync.Mutex
	before    sent
	requests  int // but for summaries
	summaries int
	largest   int // tokens of a request, with the room for its answer
	looked    map[string]int
	lost      []string // the faults of requests
}

const (
	questWord  = "heliotrope"
	questRules = "Look at one part after the other, and say what each is worth."
)

func newQuest(t *testing.T, parts int) *quest {
	return &quest{t: t, parts: parts, looked: make(map[string]int)}
}

func worth(part int) int { return 100 + part*37%89 }

// prepare writes what the quest is about into a project, and what a person would configure for a way with a small window.
func (q *quest) prepare(p *project, w way) *modelserver.Server {
	q.family = tokens.FamilyOf(llm.Model{Provider: w.of(), ID: w.model})
	for i := range q.parts {
		var b strings.Builder
		fmt.Fprintf(&b, "part-%03d is worth %d\n", i, worth(i))
		for line := range 220 {
			fmt.Fprintf(&b, "line %d of part %d tells of oak, of iron and of %d wheels\n", line, i, line*i)
		}
		p.write(filepath.Join(p.dir, fmt.Sprintf("part-%03d.txt", i)), b.String())
	}
	p.write(filepath.Join(p.dir, "AGENTS.md"), questRules+"\n")
	p.config(fmt.Sprintf(`{"models": {%q: {"context": %d, "max_output": 2000}}}`, w.ref(), questWindow))
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	return w.serve(p, modelserver.Func(q.answer))
}

func (q *quest) prompt() string {
	return fmt.Sprintf("Visit the parts 0 to %d, which are files such as part-000.txt. Then report their sum, with the word %s.", q.parts-1, questWord)
}

// report is what the model says when it has reached its goal.
func (q *quest) report() string {
	sum := 0
	for i := range q.parts {
		sum += worth(i)
	}
	return fmt.Sprintf("The sum is %d, and the word is %s.", sum, questWord)
}

var (
	goalWords  = regexp.MustCompile(`Visit the parts 0 to (\d+), which .* with the word (\w+)\.`)
	worthWords = regexp.MustCompile(`part-(\d+) is worth (\d+)`)
)

// answer plays the model.
func (q *quest) answer(r *modelserver.Request) modelserver.Step {
	wish := strings.Contains(r.LastUser(), "The context window is nearly full.")
	q.mu.Lock()
	defer q.mu.Unlock()
	if wish && q.asked != nil {
		q.asked()
		q.asked = nil
	}
	said := r.System
	for _, m := range r.Messages {
		said += "\n" + m.Text()
	}
	usage := q.weigh(r, said, wish)
	known := make(map[int]int)
	for _, m := range worthWords.FindAllStringSubmatch(said, -1) {
		part, _ := strconv.Atoi(m[1])
		known[part], _ = strconv.Atoi(m[2])
	}
	goal := goalWords.FindStringSubmatch(said)
	if goal == nil {
		return modelserver.Say("I do not know what I am to do.").Usage(usage)
	}
	last, _ := strconv.Atoi(goal[1])
	if wish {
		q.summaries++
		return modelserver.Say(summaryOf(known)).Usage(usage)
	}
	q.requests++
	return q.next(known, last, goal[2]).Usage(usage)
}

// weigh measures a request, and notes what is wrong with it.
func (q *quest) weigh(r *modelserver.Request, said string, wish bool) llm.Usage {
	n := q.family.Request(&llm.Request{System: r.System, Messages: r.Messages, Tools: r.Tools})
	q.largest = max(q.largest, n+r.MaxTokens)
	if n+r.MaxTokens > questWindow {
		q.lost = append(q.lost, fmt.Sprintf("a request of %d tokens with an answer of %d (a summary: %t)", n, r.MaxTokens, wish))
	}
	if !strings.Contains(said, questRules) {
		q.lost = append(q.lost, fmt.Sprintf("request %d does not have AGENTS.md", q.requests))
	}
	now := sentIn(q.t, r.Body)
	at := len(q.before.blocks)
	if i := now.goesOn(q.before); i >= 0 {
		at = i
	}
	cached := int64(n * at / max(len(now.blocks), 1))
	if !wish {
		q.before = now
	}
	return llm.Usage{Input: 50, CacheRead: cached, CacheWrite: int64(n) - cached - 50, Output: 60}
}

// next is the next step towards the goal: it reads the next unknown part.
func (q *quest) next(known map[int]int, last int, word string) modelserver.Step {
	sum, open := 0, []int{}
	for i := range last + 1 {
		sum += known[i]
		if known[i] == 0 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return modelserver.Say(fmt.Sprintf("The sum is %d, and the word is %s.", sum, word))
	}
	var step modelserver.Step
	if at := open[0] - 1; at >= 0 {
		step = modelserver.Say(fmt.Sprintf("part-%03d is worth %d. On to the next.", at, known[at]))
	}
	few := 1
	if open[0]%7 == 0 {
		few = 2 // at once
	}
	for _, i := range open[:min(few, len(open))] {
		name := fmt.Sprintf("part-%03d.txt", i)
		q.looked[name]++
		if i%3 == 0 && runtime.GOOS != "windows" {
			step = step.Call("shell", fmt.Sprintf(`{"command":"cat %s"}`, name))
		} else {
			step = step.Call("read", fmt.Sprintf(`{"path":%q}`, name))
		}
	}
	return step
}

// summaryOf is a summary of the progress alone: the person's prompt has the goal.
func summaryOf(known map[int]int) string {
	var b strings.Builder
	b.WriteString("## Goal\nWhat the user said.\n## Decisions\nOne after the other.\n## State\nWork is under way.\n")
	parts := make([]int, 0, len(known))
	for part := range known {
		parts = append(parts, part)
	}
	slices.Sort(parts)
	for _, part := range parts {
		fmt.Fprintf(&b, "part-%03d is worth %d\n", part, known[part])
	}
	b.WriteString("## Files\nThe parts.\n## Errors\nNone.\n## Open\nThe other parts.\n## Next step\nThe next part.\n")
	return b.String()
}

// sound fails the test when something was wrong with a request, or the journal does not agree with what the provider was sent.
func (q *quest) sound(srv *modelserver.Server, journal []session.Event) (compactions int) {
	q.t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, v := range srv.Violations() {
		q.t.Errorf("the provider would not take a request: %v", v)
	}
	for _, l := range q.lost {
		q.t.Error(l)
	}
	epochs := make(map[string]int)
	trims, requests := 0, 0
	for _, e := range journal {
		switch b := e.Body.(type) {
		case session.Epoch:
			epochs[b.Reason]++
		case session.Summarized:
			compactions++
		case session.Trimmed:
			trims++
		case session.Requested:
			requests++
			if b.Broken != "" {
				q.t.Errorf("request %d: within an epoch %s has changed", requests, b.Broken)
			}
		}
	}
	if epochs["start"] != 1 || epochs["compaction"] != compactions || epochs["trim"] != trims || len(epochs) > 3 {
		q.t.Errorf("epochs %v, with %d compactions and %d trims", epochs, compactions, trims)
	}
	q.t.Logf("%d requests and %d summaries; %d compactions, %d trims; the largest request, with its answer, had %d tokens",
		q.requests, q.summaries, compactions, trims, q.largest)
	return compactions
}

// A session with a context window of 16 000 tokens pursues its goal over more than ten summaries: it loses nothing that it needs, no request
// is too long, and the journal can reproduce every request.
func TestAGoalOutlivesItsWindow(t *testing.T) {
	for i, name := range []string{"anthropic", "openai-responses", "openrouter", "gemini"} {
		if !sample.Takes(i, 4, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, w, q := newProject(t), wayOf(t, name), newQuest(t, 120)
			srv := q.prepare(p, w)
			const limit = 3
			r := p.tenon("run", "--model", w.ref(), "--yes", "--max-turns", "40", q.prompt())
			for runs := 1; r.code == limit && runs < 5; runs++ {
				r = p.tenon("run", "--continue", "--model", w.ref(), "--yes", "--max-turns", "40", "--max-tokens", "none", "Go on.")
			}
			if r.code != 0 || r.stdout != q.report()+"\n" {
				t.Fatalf("exit code %d, says %q, want %q; %s", r.code, r.stdout, q.report(), r.stderr)
			}
			if compactions := q.sound(srv, p.journal()); compactions < 10 {
				t.Errorf("only %d compactions", compactions)
			}
			for name, n := range q.looked {
				if n > 1 {
					t.Errorf("%s was looked at %d times: that it had been was forgotten", name, n)
				}
			}
			q.proves(p)
		})
	}
}

// proves lets the program prove what it has sent.
func (q *quest) proves(p *project) {
	q.t.Helper()
	id := p.session()
	for at := 1; at <= q.requests; at += 7 {
		r := p.tenon("sessions", "window", id, "--at", strconv.Itoa(at), "--json")
		var got struct {
			Proved  bool
			Differs string
		}
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || !got.Proved {
			q.t.Errorf("request %d of %d is not proved: %q, %v; %s", at, q.requests, got.Differs, err, r.stderr)
		}
	}
	if r := p.tenon("sessions", "cache", id); r.code != 0 || strings.Contains(r.stdout, "broken") || strings.Contains(r.stdout, "defect") {
		q.t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := p.tenon("sessions", "check"); r.code != 0 {
		q.t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
