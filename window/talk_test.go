package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// tester is the common part of tests, properties and benchmarks.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// talk is a session: its window builds the requests, and the test plays the model, the tools and the person. It checks the invariants of
// each request.
type talk struct {
	t           tester
	window      *window.Window
	header      window.Header
	path        view.Entries                // the current branch
	all         map[session.ID]session.Body // every entry of the journal
	ids         int
	pinned      []session.ID
	loose       bool // the context window is too small for everything that must stay, so checkKept does not run
	context     []session.ContextBlock
	views       map[session.ID]string // the sent messages of each request, by its entry
	last        *llm.Request
	compactings []live.Compacting
	notices     []string
	summarizer  func(context.Context, window.Task) (session.Summarized, error) // nil: window.Extract

	mu    sync.Mutex
	tasks []window.Task // not checked yet
}

func newTalk(t tester, o window.Options) *talk {
	h := header()
	h.Model.Context, h.MaxTokens = 16_000, 1000
	k := &talk{t: t, header: h, all: map[session.ID]session.Body{}, views: map[session.ID]string{}}
	o.Summarizer = k
	o.Announce = func(b session.Body) {
		switch b := b.(type) {
		case live.Compacting:
			k.compactings = append(k.compactings, b)
		case live.Notice:
			k.notices = append(k.notices, b.Text)
		default:
			k.t.Fatalf("the window announces a %T", b)
		}
	}
	o.Pins = func(context.Context) ([]session.Verbatim, error) { return k.pins(), nil }
	o.Context = func(context.Context, []session.ContextBlock) ([]session.ContextBlock, error) { return k.context, nil }
	k.window = window.New(o)
	k.append(session.Created{Dir: "/work"})
	return k
}

// Summarize implements [window.Summarizer].
func (k *talk) Summarize(ctx context.Context, t window.Task) (session.Summarized, error) {
	k.mu.Lock()
	k.tasks = append(k.tasks, t)
	k.mu.Unlock()
	if k.summarizer != nil {
		return k.summarizer(ctx, t)
	}
	return window.Extract{}.Summarize(ctx, t)
}

// checkOriginals checks that the tasks of summaries have the messages of the journal.
func (k *talk) checkOriginals() {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.tasks {
		for _, e := range t.Events {
			m := e.Body.(session.Message)
			switch was := k.all[e.ID].(type) {
			case session.Message:
				if was.Message.Text() != m.Message.Text() {
					k.t.Errorf("entry %s of a task is %q, and %q in the journal", e.ID, m.Text(), was.Text())
				}
			case session.Context, session.Partial:
			default:
				k.t.Errorf("entry %q of a task is a %T of the journal", e.ID, was)
			}
		}
	}
	k.tasks = nil
}

func (k *talk) append(bodies ...session.Body) {
	for _, b := range bodies {
		k.ids++
		if h, ok := b.(session.Head); ok {
			k.path = k.path[: k.at(h.To)+1 : k.at(h.To)+1]
		}
		e := session.Event{Seq: int64(k.ids), ID: session.ID(fmt.Sprintf("e%d", k.ids)), Body: b}
		if n := len(k.path); n > 0 {
			e.Parent = k.path[n-1].ID
		}
		k.path = append(k.path, e)
		k.all[e.ID] = b
	}
}

// at is the index of an entry on the branch; -1 if it is on another branch.
func (k *talk) at(id session.ID) int {
	return slices.IndexFunc(k.path, func(e session.Event) bool { return e.ID == id })
}

func (k *talk) tip() session.ID { return k.path[len(k.path)-1].ID }

func (k *talk) say(text string) {
	k.append(session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
}

func (k *talk) pins() []session.Verbatim {
	var kept []session.Verbatim
	for _, id := range k.pinned {
		if k.at(id) >= 0 {
			kept = append(kept, session.Verbatim{Entry: id, Message: k.all[id].(session.Message).Message})
		}
	}
	return kept
}

// ask builds the next request, as an agent does, and checks it.
func (k *talk) ask() *llm.Request {
	k.t.Helper()
	req, entries, err := k.window.Request(context.Background(), k.path, k.header)
	if err != nil {
		k.t.Fatalf("request: %v", err)
	}
	k.seal(req, entries)
	return req
}

func (k *talk) seal(req *llm.Request, entries []session.Body) {
	k.t.Helper()
	entries, err := window.Seal(context.Background(), k.path, entries, req)
	if err != nil {
		k.t.Fatalf("seal: %v", err)
	}
	k.checkCrashes(entries)
	k.append(entries...)
	k.last = req
	k.checkRequest(entries)
}

// checkRequest checks the invariants of every request.
func (k *talk) checkRequest(entries []session.Body) {
	k.t.Helper()
	if problem := invalid(k.last.Messages); problem != "" {
		k.t.Fatalf("the request is not valid: %s: %s", problem, words(k.last.Messages))
	}
	epochs := 0
	for _, b := range entries {
		switch b := b.(type) {
		case session.Epoch:
			epochs++
			if b.Reason == "" {
				k.t.Errorf("an epoch without a reason")
			}
		case session.Summarized:
			if k.at(b.Through) < 0 {
				k.t.Errorf("a summary replaces entries through %s, which is not on the branch", b.Through)
			}
		case session.Requested:
			if b.Broken != "" {
				k.t.Fatalf("within an epoch %s has changed", b.Broken)
			}
		}
	}
	if epochs > 1 {
		k.t.Errorf("%d epochs of one request", epochs)
	}
	k.checkOriginals()
	k.views[k.tip()] = k.checkView()
	if !k.loose {
		k.checkKept()
	}
}

// checkView checks that the view of the journal has the sent messages, and that a block explains each of them. It returns the view.
func (k *talk) checkView() string {
	k.t.Helper()
	v, err := window.Look(context.Background(), k.path)
	if err != nil {
		k.t.Fatalf("look: %v", err)
	}
	view := encode(v.Messages)
	if sent := encode(k.last.Messages); view != sent {
		k.t.Fatalf("the request differs from the view of the journal:\n%s\n%s", sent, view)
	}
	if len(v.Blocks) != len(v.Messages) {
		k.t.Fatalf("%d blocks for %d messages", len(v.Blocks), len(v.Messages))
	}
	for i, b := range v.Blocks {
		for _, id := range b.Entries {
			if k.at(id) < 0 && b.Why != window.Pinned && b.Why != window.Verbatim {
				k.t.Fatalf("message %d comes from entry %q, which is not on the branch", i, id)
			}
		}
		if len(b.Entries) == 0 {
			k.t.Fatalf("message %d comes from no entry", i)
		}
		first, _ := k.all[b.Entries[0]].(session.Message)
		ok := true
		switch b.Why {
		case window.Said:
			ok = v.Messages[i].Text() == first.Text() || v.Messages[i].Text() == "(no output)"
		case window.Trimmed:
			ok = v.Messages[i].Text() != first.Text() && b.Note != ""
		case window.Verbatim, window.Pinned:
			ok = strings.Contains(v.Messages[i].Text(), first.Text()) || k.loose && strings.Contains(v.Messages[i].Text(), "left out")
		}
		if !ok {
			k.t.Errorf("message %d is %q, but its entry has %q", i, v.Messages[i].Text(), first.Text())
		}
	}
	return view
}

// checkKept checks that the request has the pinned messages, the first and the last short prompts, and the list of tasks.
func (k *talk) checkKept() {
	k.t.Helper()
	sent := texts(k.last.Messages)
	for _, p := range k.pins() {
		if !strings.Contains(sent, p.Message.Text()) {
			k.t.Errorf("the pinned message %s is lost", p.Entry)
		}
	}
	var said []string
	summary := -1
	for i, e := range k.path {
		switch b := e.Body.(type) {
		case session.Message:
			if b.Role == llm.RoleUser && b.Source == session.FromInput && len(b.Text()) < 200 {
				said = append(said, b.Text())
			}
		case session.Summarized:
			summary = i
		}
	}
	for i, text := range said {
		if (i == 0 || i >= len(said)-3) && !strings.Contains(sent, text) {
			k.t.Errorf("prompt %d of %d is lost: %s", i+1, len(said), text)
		}
	}
	for i, e := range slices.Backward(k.path) {
		if list, ok := e.Body.(session.Todo); ok {
			for _, item := range list.Items {
				if i < summary && item.Status != "completed" && !strings.Contains(sent, item.Text) {
					k.t.Errorf("a task is lost: %s", item.Text)
				}
			}
			break
		}
	}
}

// checkCrashes checks that the next process can continue if only a part of the entries was written.
func (k *talk) checkCrashes(entries []session.Body) {
	k.t.Helper()
	if len(entries) < 3 {
		return
	}
	for n := range entries {
		path, at := slices.Clone(k.path), k.ids
		for _, b := range entries[:n] {
			if h, ok := b.(session.Head); ok {
				path = path[:k.at(h.To)+1]
			}
			at++
			path = append(path, session.Event{Seq: int64(at), ID: session.ID(fmt.Sprintf("e%d", at)), Body: b})
		}
		next := window.New(window.Options{Manual: true})
		req, more, err := next.Request(context.Background(), path, k.header)
		if err == nil {
			more, err = window.Seal(context.Background(), path, more, req)
		}
		if err != nil {
			k.t.Fatalf("after %d of %d entries: %v", n, len(entries), err)
		}
		if problem := invalid(req.Messages); problem != "" {
			k.t.Errorf("after %d of %d entries: %s", n, len(entries), problem)
		}
		if r := more[len(more)-1].(session.Requested); r.Broken != "" {
			k.t.Errorf("after %d of %d entries: within an epoch %s has changed", n, len(entries), r.Broken)
		}
	}
}

// answer lets the model answer, with calls.
func (k *talk) answer(text string, calls ...llm.ToolCall) {
	m := llm.Message{Role: llm.RoleAssistant, Model: k.header.Model.Ref(), Content: llm.Content{llm.Text{Text: text}}}
	for _, c := range calls {
		m.Content = append(m.Content, c)
	}
	m.Usage = llm.Usage{Input: int64(size(k.last)), Output: int64(20 + len(text)/4)}
	k.append(session.Message{Message: m})
}

// result gives a call its result, cut to the room that the window leaves.
func (k *talk) result(c llm.ToolCall, text, effects string) {
	k.t.Helper()
	room, err := k.window.Room(context.Background(), k.path, k.header)
	if err != nil {
		k.t.Fatalf("room: %v", err)
	}
	if room.Result > 0 && len(text) > room.Result {
		text = text[:room.Result]
	}
	started := session.CallStarted{Call: c.ID, Tool: c.Name, Arguments: json.RawMessage(c.Arguments)}
	if effects != "" {
		started.Effects = json.RawMessage(effects)
	}
	k.append(started, session.Message{Message: llm.ToolText(c, text, false)})
}

// call sends a request, and the model answers with one call.
func (k *talk) call(tool, arguments, result, effects string) {
	k.t.Helper()
	k.ask()
	c := llm.ToolCall{ID: fmt.Sprintf("c%d", k.ids), Name: tool, Arguments: arguments}
	k.answer("Next.", c)
	k.result(c, result, effects)
}

func (k *talk) reasons() string {
	var out []string
	for _, e := range k.path {
		if b, ok := e.Body.(session.Epoch); ok {
			out = append(out, b.Reason)
		}
	}
	return strings.Join(out, " ")
}

// size is the number of tokens that a provider would report.
func size(req *llm.Request) int {
	n := len(req.System)
	for _, m := range req.Messages {
		n += len(m.Text()) + 16
		for _, c := range m.Calls() {
			n += len(c.Arguments)
		}
	}
	return n / 4
}

func texts(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

func encode(messages []llm.Message) string {
	data, err := json.Marshal(messages)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// output is the output of a command with this many lines.
func output(i, lines int) string {
	return strings.Repeat(fmt.Sprintf("line %d of the output, which the model reads again\n", i), lines)
}

// A long session stays within its context window and keeps what must stay. Within an epoch, each request extends the previous one.
func TestALongSession(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1})
	defer k.window.Close()
	k.say("Find the needle. [[keep]] The needle is blue.")
	k.append(session.Todo{Items: []session.TodoItem{{Text: "find it", Status: "in_progress"}, {Text: "sew", Status: "pending"}}})
	for i := range 300 {
		k.call("shell", fmt.Sprintf(`{"command":"look %d"}`, i), output(i, 40), `{"unknown":true,"exclusive":true}`)
		if n := size(k.last); n > window.Usable(k.header) {
			t.Fatalf("turn %d: the request has %d tokens of %d", i, n, window.Usable(k.header))
		}
	}
	if r := k.reasons(); !strings.HasPrefix(r, "start ") || !strings.Contains(r, "trim") || !strings.Contains(r, "compaction") {
		t.Errorf("epochs: %s", r)
	}
	if len(k.views) != 300 {
		t.Errorf("%d requests", len(k.views))
	}
}

// Late tools come with the first epoch that makes the conversation shorter, and stay. No epoch begins because of them.
func TestLateTools(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1})
	defer k.window.Close()
	k.header.Late = []llm.Tool{{Name: "cleanup", Description: "Clean up.", Schema: json.RawMessage(`{"type":"object"}`)}}
	k.say("Find the needle.")
	late := false
	for i := range 60 {
		if i == 50 {
			k.header.System = "Be better."
		}
		k.call("shell", fmt.Sprintf(`{"command":"look %d"}`, i), output(i, 40), `{"unknown":true,"exclusive":true}`)
		r := k.reasons()
		late = late || strings.Contains(r, "trim") || strings.Contains(r, "compaction")
		if has := len(k.last.Tools) == 2 && k.last.Tools[0].Name == "cleanup" && k.last.Tools[1].Name == "look"; has != late {
			t.Fatalf("request %d has the tools %v after the epochs %s", i, k.last.Tools, r)
		}
	}
	if r := k.reasons(); !late || strings.Contains(r, "tools") || !strings.Contains(r, "system") {
		t.Errorf("epochs: %s", r)
	}
}

var errTired = errors.New("the model is tired")

// slowly is a summarizer that takes a minute.
func slowly(ctx context.Context, t window.Task) (session.Summarized, error) {
	select {
	case <-time.After(time.Minute):
		return window.Extract{}.Summarize(ctx, t)
	case <-ctx.Done():
		return session.Summarized{}, context.Cause(ctx)
	}
}

// code is the code of an error, or empty.
func code(err error) string {
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return ""
}

// lastEpoch is the newest epoch of the journal.
func (k *talk) lastEpoch() (last session.Epoch) {
	for _, e := range k.path {
		if epoch, ok := e.Body.(session.Epoch); ok {
			last = epoch
		}
	}
	return last
}
