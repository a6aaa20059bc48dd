package session_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
)

// bodies is one of every kind, with fields that are easily lost.
var bodies = []session.Body{
	session.Created{Dir: "/x", Version: "1", From: session.Origin{Session: "s", Entry: "e"}},
	session.Message{Message: llm.UserText("a <b> & \x00 🦉"), Speaker: session.Speaker{Kind: session.SpeakerPerson}, Source: session.FromSteering, Draft: "d"},
	session.Message{
		Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "read"}, "x", true),
		Details: json.RawMessage(`{"lines":[1,2]}`),
	},
	session.Partial{Content: llm.Content{llm.Thinking{Text: "hm", Signature: "s"}, llm.Text{Text: "so"}}},
	session.Discarded{Cause: &llm.Error{Kind: llm.KindNetwork, Message: "cut", RetryAfter: time.Second}},
	session.Decision{Call: "c", Verdict: "deny", By: "rule", Reason: "no", Arguments: `{"a":1}`},
	session.CallStarted{Call: "c", Tool: "read", Arguments: json.RawMessage(`{"path":"x"}`), Again: true},
	session.RunStarted{
		Run: "r", ParentRun: "p", Continues: session.ContinuesRerun, Tag: "t", Trigger: live.TriggerUser,
		Config: session.Config{Model: llm.Model{Provider: "p", ID: "m"}, MaxTime: session.Duration(90 * time.Second), MaxCost: 0.5},
	},
	session.RunEnded{Reason: session.ReasonLimit, Limit: "turns", Turns: 3, Usage: llm.Usage{Input: 1, Cost: 0.25}, Elapsed: 1},
	session.Epoch{Reason: "start", System: "s", Tools: []llm.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}}},
	session.ModelChanged{Model: llm.Model{Provider: "p", ID: "m"}, Reason: "r"},
	session.Head{To: "e", Reason: "rewind"},
	session.Rejected{Message: llm.UserText("x"), Draft: "d", Reason: "r"},
	session.Todo{Items: []session.TodoItem{{Text: "x", Status: "pending"}}},
	session.Title{Title: "t"},
	session.Note{Text: "n"},
	session.FilesChanged{
		Call: "c", Cause: session.ByUndo, To: "e", More: 2,
		Files: []session.FileChange{{Path: "/x", Before: &session.FileState{Hash: "ab", Size: 3, Mode: 0o644}}, {Path: "/y", After: &session.FileState{Link: "x", Lost: "l"}}},
	},
	session.Queued{Draft: "d", Change: "added", Lane: session.FromFollowUp, Message: llm.UserText("x")},
	session.Queued{Draft: "d", Change: "moved", Before: "e", Lane: session.FromNews, Speaker: session.Speaker{Kind: session.SpeakerJob, Name: "job1"}},
	session.Asking{
		ID: "a", Until: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
		Calls:     []ask.Call{{Call: "c", Tool: "t", Reason: "r", Arguments: json.RawMessage(`{}`), Grants: []ask.Grant{{Rules: []string{"t"}, Words: "all of t"}}}},
		Questions: []ask.Question{{Text: "which?", Options: []ask.Option{{Label: "this"}}, Multiple: true, Default: "this"}},
	},
	session.Answered{ID: "a", Answers: []ask.Answer{{Allow: true, Grant: 1, Always: true}, {Choices: []string{"x"}}}, By: session.Speaker{Kind: session.SpeakerPerson, Name: "cli"}},
	session.Asked{ID: "a", Reason: "timeout"},
	session.Abort{Run: "r"},
	session.Change{Model: "p/m", Mode: "edits"},
	session.Changed{Request: "e", Error: "x"},
	session.LimitsChanged{Cost: 4, Tokens: -1, Soft: -1},
	live.TurnStarted{Trigger: live.TriggerSubAgent},
	live.TurnEnded{Usage: llm.Usage{Output: 1}, Calls: 2},
	live.MessageStarted{Model: "p/m"},
	live.Delta{Type: live.DeltaArguments, Part: 1, Text: "x", Call: "c", Tool: "t"},
	live.CallReady{Call: llm.ToolCall{ID: "c", Name: "Read", Arguments: "{"}, As: "read"},
	live.Progress{Call: "c", Tool: "t", Text: "x"},
	live.Waiting{Attempt: 1, Of: 5, Delay: time.Millisecond, Cause: &llm.Error{Kind: llm.KindQuota}},
	live.Reset{Cause: &llm.Error{Kind: llm.KindStalled}},
	live.Routed{Model: "openai/gpt", Key: "work", Cause: &llm.Error{Kind: llm.KindAuth}},
	live.RateLimits{RateLimits: llm.RateLimits{Model: "openai/gpt", Tokens: llm.Quota{Limit: 5, Remaining: 2}}},
	live.Spending{Run: live.Spent{Cost: 0.5, MaxCost: 2, Tokens: 9}, Session: live.Spent{Cost: 0.7, Tokens: 12, MaxTokens: 50}},
	live.Notice{Text: "x"},
	session.TaskCreated{Task: "t", Text: "look", Background: true, Scope: session.Scope{ReadOnly: true}},
	session.TaskSettled{Task: "t", Attempt: 2, Report: session.TaskReport{Outcome: session.TaskFailed, Doubts: []string{"d"}}},
	session.Goal{Goal: "g", State: session.GoalBlocked, Limits: session.GoalLimits{Time: session.Duration(time.Minute)}},
	session.Opaque{Name: "from_the_future", JSON: json.RawMessage(`{"a":[1,2.50,null]}`)},
}

func TestEventsRoundTripInJSON(t *testing.T) {
	for _, b := range bodies {
		want := session.Event{Seq: 7, ID: session.NewID(), Parent: "p", Run: "r", Turn: 2, Time: session.Now(), Body: b}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatalf("%s: %v", b.Kind(), err)
		}
		var got session.Event
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

// Exports and stores depend on this form. It must not change.
func TestEventJSON(t *testing.T) {
	e := session.Event{
		Seq: 2, ID: "b", Parent: "a", Run: "r", Turn: 1, Time: time.Date(2027, 1, 2, 3, 4, 5, 6000, time.UTC),
		Body: session.Message{Message: llm.UserText("hello"), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
	}
	for _, c := range []struct {
		event session.Event
		want  string
	}{
		{e, `{"seq":2,"id":"b","parent":"a","run":"r","turn":1,"time":"2027-01-02T03:04:05.000006Z","kind":"message",` +
			`"body":{"role":"user","content":[{"type":"text","text":"hello"}],"speaker":{"kind":"person"}}}`},
		{session.Event{After: 7, Body: live.Notice{Text: "n"}}, `{"after":7,"kind":"notice","body":{"text":"n"}}`},
	} {
		got, err := json.Marshal(c.event)
		if err != nil || string(got) != c.want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
		}
	}
}

func TestEventsThatAreNone(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`, `{"kind":"message"}`, `{"kind":"message","body":[]}`, `{"kind":"","body":{}}`,
		`{"kind":"title","body":{"title":1}}`, `{"seq":"x","kind":"title","body":{}}`, `{"kind":"run_ended","body":{"elapsed":"soon"}}`,
	} {
		var e session.Event
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s became %+v", text, e)
		}
	}
	for _, b := range []session.Body{nil, session.Opaque{Name: "x", JSON: json.RawMessage("{")}, session.CallStarted{Arguments: json.RawMessage("{")}} {
		if data, err := json.Marshal(session.Event{Body: b}); err == nil {
			t.Errorf("%#v became %s", b, data)
		}
	}
}

// Of a kind of the future the stored bytes stay, blanks, escapes and digits included.
func TestOpaqueKeepsItsBytes(t *testing.T) {
	body := []byte(`{ "a":1.50,  "b":"<\u00e9" }`)
	got, err := session.DecodeBody("from_the_future", body)
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(body)
	body[2] = 'x' // a store may use its buffer again
	kind, again, err := session.EncodeBody(got)
	if err != nil || kind != "from_the_future" || !bytes.Equal(again, kept) {
		t.Errorf("%s became %s %s, %v", kept, kind, again, err)
	}
}

func TestKindsAreDistinct(t *testing.T) {
	seen := map[string]reflect.Type{}
	for _, b := range bodies {
		if other := seen[b.Kind()]; other != nil && other != reflect.TypeOf(b) {
			t.Errorf("%v and %T share the kind %s", other, b, b.Kind())
		}
		seen[b.Kind()] = reflect.TypeOf(b)
		if e := (session.Event{Body: b}); e.Transient() && e.OnBranch() {
			t.Errorf("%s is transient and on a branch", b.Kind())
		}
	}
}

func TestIDs(t *testing.T) {
	const n = 1000
	ids := make([]session.ID, n)
	for i := range ids {
		ids[i] = session.NewID()
		if len(ids[i]) != 26 || strings.Trim(string(ids[i]), "0123456789abcdefghjkmnpqrstvwxyz") != "" {
			t.Fatalf("an ID is %q", ids[i])
		}
	}
	// To the millisecond they sort by time.
	if first, last := ids[0][:8], ids[n-1][:8]; first > last {
		t.Errorf("%s comes before %s", first, last)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != n {
		t.Error("an ID was given twice")
	}
}

func TestSessionIDs(t *testing.T) {
	first := make(map[session.ID]bool)
	for range 100 {
		id := session.NewSessionID()
		if len(id) != 12 || strings.Trim(string(id), "0123456789abcdefghjkmnpqrstvwxyz") != "" {
			t.Fatalf("the ID of a session is %q", id)
		}
		first[id[:6]] = true
	}
	if len(first) < 99 {
		t.Errorf("100 sessions have only %d beginnings of six characters", len(first))
	}
}

func FuzzEvent(f *testing.F) {
	for _, b := range bodies {
		data, err := json.Marshal(session.Event{Seq: 1, ID: "i", Time: session.Now(), Body: b})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"kind":"x","body":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e session.Event
		if json.Unmarshal(data, &e) != nil {
			return
		}
		once, err := json.Marshal(e)
		if err != nil {
			t.Skip("such as a year that the times of JSON do not know")
		}
		var again session.Event
		if err := json.Unmarshal(once, &again); err != nil {
			t.Fatalf("%s cannot be read back: %v", once, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s (%v)", once, twice, err)
		}
	})
}
