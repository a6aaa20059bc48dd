package storetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

func found(t *testing.T, s index.Store, q search.Request) []search.Hit {
	t.Helper()
	return all(t, s.Search(t.Context(), q))
}

// thinks is an answer with a thought, and calls one tool.
func thinks(thought, text, arguments string) session.Body {
	return session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{
		llm.Thinking{Text: thought}, llm.Text{Text: text}, llm.ToolCall{ID: "c", Name: "shell", Arguments: arguments},
	}}}
}

func testSearch(t *testing.T, s index.Store) {
	id, w := start(t, s)
	entries := append(read(t, s, id), add(t, w,
		user("Why does the Wassermühle in lines of foo/bar.go:12 not turn?"),                                                                   // 2
		thinks("Perhaps it is rusty.", "I look at NewBranch.", `{"command":"cat a.go\nwc"}`),                                                   // 3
		session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "shell"}, "func snake_case_name() {} // HTTPServer\n\tutf8", false)}, // 4
		session.Title{Title: "The mill"}, session.Tags{Tags: []string{"river", "wood"}}, session.Note{Text: "Remember the weir."}, // 5 6 7
		session.Summarized{Summary: "The wheel was oiled."}, // 8
		user("我们需要检查会话的存储，水车不转。テスト 한국어로"),                   // 9
		user("one two three"), user("three two one"), user("don't x-ray C++"), // 10 11 12
		user(strings.Repeat("filler ", 400)+" needle "+strings.Repeat("filler ", 400)), // 13
		user(strings.Repeat("x", 100)), // 14
	)...)
	for _, c := range []struct {
		text     string
		thinking bool
		want     []int64 // sequence numbers
	}{
		{text: "mill", want: []int64{5}},
		{text: "MILL The", want: []int64{5}},
		{text: "river", want: []int64{6}},
		{text: "weir remember", want: []int64{7}},
		{text: "oiled", want: []int64{8}},
		{text: "wassermühle", want: []int64{2}},
		{text: "Wassermuhle", want: []int64{2}},
		{text: "wasser", want: nil},
		{text: "wasser*", want: []int64{2}},
		{text: "rusty", want: nil},
		{text: "rusty", thinking: true, want: []int64{3}},
		{text: "rusty look", thinking: true, want: []int64{3}},
		{text: "command wc", want: []int64{3}},
		{text: "a.go", want: []int64{3}},
		{text: "shell", want: []int64{3}},
		{text: "foo/bar.go:12", want: []int64{2}},
		{text: "bar.go", want: []int64{2}},
		{text: "foo/bar.go:1*", want: []int64{2}},
		{text: "foo/bar.go:13", want: nil},
		{text: "foo/go", want: nil},
		{text: "newbranch", want: []int64{3}},
		{text: "NewBranch", want: []int64{3}},
		{text: "branch", want: []int64{3}},
		{text: "New", want: []int64{3}},
		{text: "snake_case_name", want: []int64{4}},
		{text: "case_name", want: []int64{4}},
		{text: "snake name", want: []int64{4}},
		{text: "snake_name", want: nil},
		{text: "http", want: []int64{4}},
		{text: "server", want: []int64{4}},
		{text: "httpserver", want: []int64{4}},
		{text: "utf8", want: []int64{4}},
		{text: "会话", want: []int64{9}},
		{text: "话会", want: nil},
		{text: "水车 存储", want: []int64{9}},
		{text: "テスト", want: []int64{9}},
		{text: "국어", want: []int64{9}},
		{text: "one two", want: []int64{10, 11}},
		{text: `"one two"`, want: []int64{10}},
		{text: `"two one`, want: []int64{11}},
		{text: `"two thr"*`, want: []int64{10}},
		{text: "two -three", want: nil},
		{text: `two -"one two"`, want: []int64{11}},
		{text: "two -four", want: []int64{10, 11}},
		{text: "don't", want: []int64{12}},
		{text: "x-ray", want: []int64{12}},
		{text: "c++", want: []int64{12}},
		{text: "needle", want: []int64{13}},
		{text: strings.Repeat("X", 100), want: []int64{14}},
		{text: strings.Repeat("x", 63), want: nil},
		{text: "-two", want: nil},
		{text: "", want: nil},
		{text: "nowhere", want: nil},
	} {
		var got []int64
		for _, h := range found(t, s, search.Request{Text: c.text, Thinking: c.thinking}) {
			got = append(got, h.Seq)
			e := entries[h.Seq-1]
			if h.Session != id || h.Entry != e.ID || !h.Time.Equal(e.Time) || h.Score <= 0 || h.Kind == "" {
				t.Errorf("%q found %+v", c.text, h)
			}
			marksAreRight(t, c.text, h.Snippet)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q found %v, want %v", c.text, got, c.want)
		}
	}
	for text, want := range map[string]search.Hit{
		"weir":         {Kind: search.SaidNote, Snippet: search.Snippet{Text: "Remember the weir.", Marks: []search.Mark{{Start: 13, End: 17}}}},
		"wc":           {Kind: search.SaidCall, Snippet: search.Snippet{Text: "shell command cat a.go wc", Marks: []search.Mark{{Start: 23, End: 25}}}},
		"branch look":  {Kind: search.SaidAssistant, Snippet: search.Snippet{Text: "I look at NewBranch.", Marks: []search.Mark{{Start: 2, End: 6}, {Start: 13, End: 19}}}},
		"snake server": {Kind: search.SaidResult, Snippet: search.Snippet{Text: "func snake_case_name() {} // HTTPServer utf8", Marks: []search.Mark{{Start: 5, End: 10}, {Start: 33, End: 39}}}},
	} {
		if got := found(t, s, search.Request{Text: text})[0]; got.Kind != want.Kind || !reflect.DeepEqual(got.Snippet, want.Snippet) {
			t.Errorf("%q shows %s %+v, want %s %+v", text, got.Kind, got.Snippet, want.Kind, want.Snippet)
		}
	}
	long := found(t, s, search.Request{Text: "needle"})[0].Snippet
	if len(long.Text) > 220 || !strings.HasPrefix(long.Text, "…") || !strings.HasSuffix(long.Text, "…") {
		t.Errorf("of a long text it shows %q", long.Text)
	}
}

func marksAreRight(t *testing.T, query string, s search.Snippet) {
	t.Helper()
	at := 0
	for _, m := range s.Marks {
		if m.Start < at || m.End <= m.Start || m.End > len(s.Text) {
			t.Fatalf("%q: marks %v in %q", query, s.Marks, s.Text)
		}
		at = m.End
	}
	if len(s.Marks) == 0 || strings.ContainsAny(s.Text, "\n\t\x00") {
		t.Errorf("%q shows %q without marks or on several lines", query, s.Text)
	}
}

func testSearchAnything(t *testing.T, s index.Store) {
	_, w := start(t, s)
	add(t, w, user("NEAR the river AND the mill OR not"), user("words: said {words parts} x"))
	for _, text := range []string{
		`"`, `""`, `"""`, `*`, `**`, `-`, `--`, `-*`, `-"`, `"*`, `a*b`, `(`, `)`, `a AND`, `AND`, `OR OR`, `NOT`, `NEAR(a b, 3)`, `NEAR`,
		`{words} : x`, `words:x`, `about : s1`, `^a`, `a + b`, `'; DROP TABLE said; --`, `\`, "\x00", "a\x00b", "\xff\xfe", "¶", "¶ x",
		"\u0301", "é*", strings.Repeat("a ", 5000), strings.Repeat("(", 3000), strings.Repeat(`"`, 999), strings.Repeat("会", 3000),
		strings.Repeat("-a ", 300) + "x", "a" + strings.Repeat(" -b", 300), "🦉", "x🦉y", "%", "_", "?1", ":x", "@x", "$x",
	} {
		for _, h := range found(t, s, search.Request{Text: text}) {
			marksAreRight(t, text, h.Snippet)
		}
	}
	for text, want := range map[string]int{"NEAR": 1, "AND OR NOT": 1, "and": 1, "words": 1, "about": 0, "s1": 0, "{words": 1} {
		if got := len(found(t, s, search.Request{Text: text})); got != want {
			t.Errorf("%q found %d entries, want %d", text, got, want)
		}
	}
}

func testSearchNarrowed(t *testing.T, s index.Store) {
	var ids []session.SessionID
	var times []time.Time
	for _, dir := range []string{"/a", "/b", "/a"} {
		id, err := s.Create(t.Context(), session.Created{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for now := session.Now(); !session.Now().After(now); {
			continue
		}
		ids, times = append(ids, id), append(times, add(t, openWriter(t, s, id), user("mill"), user("mill"))[0].Time)
	}
	annotate(t, s, ids[0], session.Tags{Tags: []string{"x", "wheel"}})
	annotate(t, s, ids[1], session.Tags{Tags: []string{"wheel"}})
	for _, c := range []struct {
		what string
		q    search.Request
		want []int
	}{
		{"nothing", search.Request{}, []int{0, 0, 1, 1, 2, 2}},
		{"dir", search.Request{Dir: "/a"}, []int{0, 0, 2, 2}},
		{"no such dir", search.Request{Dir: "/"}, nil},
		{"tag", search.Request{Tag: "wheel"}, []int{0, 0, 1, 1}},
		{"dir and tag", search.Request{Dir: "/a", Tag: "wheel"}, []int{0, 0}},
		{"session", search.Request{Session: ids[1]}, []int{1, 1}},
		{"beginning of a session", search.Request{Session: ids[1][:5]}, nil},
		{"since", search.Request{Since: times[1]}, []int{1, 1, 2, 2}},
		{"until", search.Request{Until: times[1]}, []int{0, 0}},
		{"since and until", search.Request{Since: times[1], Until: times[1].Add(1)}, []int{1, 1}},
		{"limit", search.Request{Limit: 1}, []int{2}},
	} {
		c.q.Text = "mill"
		var got []int
		for _, h := range found(t, s, c.q) {
			got = append(got, slices.Index(ids, h.Session))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("narrowed by %s: %v, want %v", c.what, got, c.want)
		}
	}
	for range s.Search(t.Context(), search.Request{Text: "mill"}) {
		break
	}
}

func testSearchRanks(t *testing.T, s index.Store) {
	id, w := start(t, s)
	add(t, w, session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "x"}, "mill", false)}, // 2
		answer("mill"), user("mill"), session.Title{Title: "mill"}, answer("mill")) // 3 4 5 6
	var got []int64
	hits := found(t, s, search.Request{Text: "mill"})
	for _, h := range hits {
		got = append(got, h.Seq)
	}
	if want := []int64{5, 4, 6, 3, 2}; !slices.Equal(got, want) || hits[0].Session != id {
		t.Errorf("the order is %v, want %v", got, want)
	}
	for range 30 {
		add(t, w, user("river"))
	}
	if n := len(found(t, s, search.Request{Text: "river"})); n != search.DefaultHits {
		t.Errorf("%d hits without a limit", n)
	}
	if n := len(found(t, s, search.Request{Text: "river", Limit: 25})); n != 25 {
		t.Errorf("%d hits with a limit of 25", n)
	}
}

func testSearchFollows(t *testing.T, s index.Store) {
	hits := func() int {
		t.Helper()
		return len(found(t, s, search.Request{Text: "mill"}))
	}
	expect := func(what string, want int) {
		t.Helper()
		if got := hits(); got != want {
			t.Errorf("%s: %d hits, want %d", what, got, want)
		}
	}
	expect("an empty store", 0)
	id, w := start(t, s)
	other, w2 := start(t, s)
	expect("empty sessions", 0)
	add(t, w, user("mill"))
	expect("one entry", 1)
	add(t, w, user("mill"), user("wheel"))
	add(t, w2, user("the other mill"))
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("more entries", 3)
	annotate(t, s, id, session.Title{Title: "mill"})
	expect("a title", 4)
	for _, one := range []session.Writer{w, w2} {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	expect("one in the trash", 1)
	if err := s.Restore(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	expect("restored", 4)
	if err := s.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	expect("purged", 1)
	if err := s.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	forked, w3 := fork(t, s, other, "")
	expect("a fork is not found for what it inherited", 1)
	add(t, w3, answer("the mill of the fork"))
	if got := found(t, s, search.Request{Text: "mill fork"}); len(got) != 1 || got[0].Session != forked || got[0].Seq != 2 {
		t.Errorf("in a fork was found %+v", got)
	}
	expect("with the fork's own", 2)
}
