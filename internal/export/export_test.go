package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
	xhtml "golang.org/x/net/html"

	"github.com/tenon-agent/tenon/internal/export"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

var update = flag.Bool("update", false, "rewrite the golden files; look at them, the page in a browser, before you keep them")

type writer func(t testing.TB, events []session.Event, o export.Options) string

func page(t testing.TB, events []session.Event, o export.Options) string {
	t.Helper()
	store, s := stored(t, events)
	var b bytes.Buffer
	if err := export.HTML(t.Context(), &b, store, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t testing.TB, events []session.Event, o export.Options) string {
	t.Helper()
	store, s := stored(t, events)
	var b bytes.Buffer
	if err := export.Markdown(t.Context(), &b, store, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]writer{"sample.html": page, "sample.md": markdown} {
		t.Run(name, func(t *testing.T) {
			got := write(t, sample(), export.Options{Content: content})
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what it was; see -update\n%s", path, got)
			}
		})
	}
}

// hostile is what models, tools and files may say.
const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)> "'` + "`" + `&lt; </pre></details></section></style></script>
[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](file:///etc/passwd) ![e](https://example.org/track.png) [f](vbscript:x)
<iframe src="https://example.org"></iframe> <https://example.org/"onload="x> [g]: javascript:x
{{.Title}} {{template "x"}} <a href="https://example.org" ping="https://example.org">x</a> <style>@import "https://example.org"</style>
` + "\x00\x1b]0;title\x07\u202e\xff"

// everywhere is a session that has a text wherever one can be.
func everywhere(text string) []session.Event {
	s := &script{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.add(session.Created{Dir: "/" + text, Version: text, Imported: session.Import{Program: text, ID: text}})
	s.add(session.Epoch{Reason: text, Model: llm.Model{Provider: text, ID: text}, System: text})
	s.add(session.Context{Blocks: []session.ContextBlock{{Name: text, Text: text}}})
	s.user(text)
	c := llm.ToolCall{ID: text, Name: text, Arguments: text}
	edit := call("e", "edit", map[string]string{"path": text, "old_text": text, "new_text": text + "!"})
	patch := call("p", "patch", map[string]string{"patch": "*** Begin Patch\n*** Update File: " + text + "\n+" + text})
	s.answer(llm.Thinking{Text: text}, llm.Text{Text: text}, llm.Text{Text: "<intent>" + text + "</intent>"}, c, edit, patch)
	s.add(session.Decision{Call: text, Verdict: "deny", By: text, Reason: text})
	s.add(session.FilesChanged{Call: "e", Files: []session.FileChange{{Path: text, Before: &session.FileState{Hash: "h", Size: 1}}}})
	m := session.Message{Message: llm.ToolText(c, text, true), Outcome: session.Outcome(text)}
	m.Content = append(m.Content, llm.Image{MIME: "image/svg+xml", Data: []byte(text)}, llm.Image{MIME: text, Data: []byte("x")}, llm.Document{MIME: text, Name: text})
	s.add(m)
	s.result(edit, text, false)
	s.add(session.Todo{Items: []session.TodoItem{{Text: text, Status: text}}})
	head := s.user(text)
	s.add(session.Summarized{Summary: text, Reason: text})
	s.add(session.Head{To: head, Reason: text})
	for _, b := range []session.Body{
		session.ModelChanged{Model: llm.Model{Provider: text, ID: text}, Reason: text},
		session.RunEnded{Reason: session.Reason(text), Message: text},
		session.Trimmed{},
		session.Cleanup{Reason: text, Summary: text},
		session.Revert{Category: text, Lesson: text},
		session.Note{Text: text},
		session.Rejected{Message: llm.UserText(text), Reason: text},
		session.Partial{Content: llm.Content{llm.Text{Text: text}}},
		session.FilesChanged{Cause: session.ByUndo, Files: []session.FileChange{{Path: text}}},
		session.Message{Message: llm.ToolText(c, text, false)},
		session.Opaque{Name: "unknown" + strings.ToValidUTF8(text, ""), JSON: json.RawMessage(`{}`)},
		session.Title{Title: text},
	} {
		s.add(b)
	}
	return s.events
}

// Whatever is in a session, the page has only our script and style, and leads nowhere by itself.
func TestPageIsHarmless(t *testing.T) {
	text := page(t, everywhere(hostile), export.Options{Content: func(string) ([]byte, error) { return []byte(hostile), nil }})
	doc, err := xhtml.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{
		"class": true, "id": true, "href": true, "rel": true, "src": true, "alt": true, "open": true, "title": true, "aria-label": true, "aria-live": true,
		"aria-hidden": true, "role": true, "type": true, "placeholder": true, "autocomplete": true, "spellcheck": true, "tabindex": true, "data-id": true,
		"checked": true, "disabled": true, "align": true, "start": true, "lang": true, "charset": true, "content": true, "name": true, "http-equiv": true,
		"value": true, "data-parts": true,
	}
	count := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != xhtml.ElementNode {
			continue
		}
		count[n.Data]++
		for _, a := range n.Attr {
			v := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case !allowed[a.Key]:
				t.Errorf("<%s> has the attribute %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "href" && !strings.HasPrefix(v, "#") && !strings.HasPrefix(v, "https://") && !strings.HasPrefix(v, "mailto:"):
				t.Errorf("a link leads to %q", a.Val)
			case (a.Key == "value" || a.Key == "data-parts") && strings.Trim(v, "0123456789-, ") != "":
				t.Errorf("%s of the choice of a branch is %q, not numbers", a.Key, a.Val)
			case a.Key == "src" && !strings.HasPrefix(v, "data:image/png;base64,"):
				t.Errorf("something is loaded from %q", a.Val)
			}
		}
	}
	for name, want := range map[string]int{"script": 1, "style": 1, "iframe": 0, "img": 0, "link": 0, "object": 0, "form": 0, "base": 0, "svg": 0, "title": 1} {
		if count[name] != want {
			t.Errorf("there are %d <%s>, want %d", count[name], name, want)
		}
	}
	if !strings.Contains(text, `content="default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-`) {
		t.Error("the policy is another one")
	}
	if strings.Contains(text, "\x00") || strings.Contains(text, "\xff") {
		t.Error("there are bytes that are no text")
	}
}

// Whatever is in a session, its text stays within its message.
func TestMarkdownIsWhole(t *testing.T) {
	text := markdown(t, everywhere("```\n# not a heading of ours\n~~~~\n"+hostile), export.Options{})
	levels := map[int]int{}
	_ = ast.Walk(goldmark.DefaultParser().Parse(gmtext.NewReader([]byte(text))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			levels[h.Level]++
		}
		return ast.WalkContinue, nil
	})
	if levels[1] != 1 || levels[2] != 2 || levels[3] != 2 { // the second is an unfinished answer
		t.Errorf("the headings by their levels are %v\n%s", levels, text)
	}
	if !utf8.ValidString(text) {
		t.Error("there are bytes that are no text")
	}
}

// Keys that are known are in no export, also where they would be escaped.
func TestKeysAreHidden(t *testing.T) {
	const key = "sk-plan+ted/0123456"
	redact := func(s string) string {
		quoted, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(key, "[hidden]", strings.Trim(string(quoted), `"`), "[hidden]").Replace(s)
	}
	for name, write := range map[string]writer{"html": page, "md": markdown} {
		o := export.Options{Content: func(string) ([]byte, error) { return []byte(key), nil }, Redact: redact}
		text := write(t, everywhere("it is "+key+" here"), o)
		if strings.Contains(text, "0123") || !strings.Contains(text, "[hidden]") {
			t.Errorf("%s: the key is there", name)
		}
	}
}

// A session that has nothing, or stops anywhere, can be written.
func TestEveryBeginning(t *testing.T) {
	events := sample()
	for n := 1; n <= len(events); n++ {
		for _, write := range []writer{page, markdown} {
			if text := write(t, events[:n], export.Options{}); text == "" {
				t.Fatalf("%d entries: nothing is written", n)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	store, s := stored(t, sample())
	s.Owner = "another process"
	var whole, lines bytes.Buffer
	if err := export.JSON(t.Context(), &whole, store, s); err != nil {
		t.Fatal(err)
	}
	if err := export.Lines(t.Context(), &lines, store, s.ID); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format  string
		Version int
		Session index.Summary
		Entries []json.RawMessage
	}
	if err := json.Unmarshal(whole.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "tenon.session" || got.Version != 1 || got.Session.ID != s.ID || got.Session.Owner != "" || len(got.Entries) != int(s.Entries) {
		t.Errorf("got %+v", got)
	}
	for i, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
		if string(got.Entries[i]) != line {
			t.Errorf("entry %d differs", i+1)
		}
	}
}

// failing is a writer that is full.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestErrorsAreReported(t *testing.T) {
	store, s := stored(t, everywhere(strings.Repeat("words ", 4000)))
	for name, write := range map[string]func(io.Writer) error{
		"html":  func(w io.Writer) error { return export.HTML(t.Context(), w, store, s, export.Options{}) },
		"md":    func(w io.Writer) error { return export.Markdown(t.Context(), w, store, s, export.Options{}) },
		"json":  func(w io.Writer) error { return export.JSON(t.Context(), w, store, s) },
		"jsonl": func(w io.Writer) error { return export.Lines(t.Context(), w, store, s.ID) },
	} {
		for _, room := range []int{0, 100_000} {
			if err := write(&failing{room}); err == nil {
				t.Errorf("%s: the writer had room for %d bytes, and there is no error", name, room)
			}
		}
	}
	s.ID = "none"
	if err := export.HTML(t.Context(), io.Discard, store, s, export.Options{}); err == nil {
		t.Error("a session that is not there is written")
	}
	if err := export.Markdown(t.Context(), io.Discard, store, s, export.Options{}); err == nil {
		t.Error("a session that is not there is written")
	}
}

// many is a session of n turns.
func many(n int) []session.Event {
	s := &script{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.add(session.Created{Dir: "/home/me/x"})
	for i := range n / 4 {
		s.user(fmt.Sprintf("Question %d: what about **this**?", i))
		c := call(fmt.Sprint("c", i), "shell", map[string]string{"command": fmt.Sprint("make step", i)})
		s.answer(llm.Text{Text: "I look."}, c)
		s.result(c, strings.Repeat("a line of output\n", 20), false)
		s.answer(llm.Text{Text: fmt.Sprintf("Answer %d:\n\n- one\n- two `code`\n\n```go\nfunc f() {}\n```", i)})
	}
	return s.events
}

// A large session is written as it is read: memory does not grow with it.
func TestManyMessages(t *testing.T) {
	store, s := stored(t, many(20_000))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	size := &counter{}
	if err := export.HTML(t.Context(), size, store, s, export.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if size.most > 1<<20 || size.all < 5<<20 {
		t.Errorf("%d bytes, %d of them at once", size.all, size.most)
	}
}

// counter counts what is written.
type counter struct{ all, most int }

func (c *counter) Write(p []byte) (int, error) {
	c.all += len(p)
	c.most = max(c.most, len(p))
	return len(p), nil
}

// In a browser the script runs under the page's policy, and a link to an entry opens what is folded around it.
func TestInBrowser(t *testing.T) {
	text := page(t, sample(), export.Options{Content: content})
	seq := regexp.MustCompile(`<details class="call" id="(e\d+)"`).FindStringSubmatch(text)[1]
	if !strings.Contains(shown(t, text, seq), `<details class="call" id="`+seq+`" open="">`) {
		t.Errorf("entry %s is not open: the script did not run", seq)
	}
}

// An export has each answer once, marks a failed command, and has the diff of an edit.
func TestDraftsFailuresAndDiffs(t *testing.T) {
	s := &script{at: time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
	draft := func(text string) { s.add(session.Partial{Content: llm.Content{llm.Text{Text: text}}}) }
	s.add(session.Created{Dir: "/home/me/shop"})
	s.user("Fix it.")
	draft("I run ")
	draft("the tests.")
	command := call("c1", "shell", map[string]string{"command": "go test ./..."})
	s.answer(llm.Text{Text: "I run the tests."}, command)
	s.add(session.Message{Message: llm.ToolText(command, "FAIL\n[exit code 1]", false), Outcome: session.OutcomeOK, Failed: true, Brief: "exit code 1, 2 lines"})
	draft("It brea")
	s.add(session.Discarded{})
	s.add(session.RunEnded{Reason: session.ReasonInterrupted})
	s.add(session.RunStarted{Run: "r2"})
	draft("Now the ed")
	edit := call("c2", "edit", map[string]string{"path": "cart.go"})
	s.answer(llm.Text{Text: "Now the edit."}, edit)
	s.add(session.Message{Message: llm.ToolText(edit, "Changed cart.go.", false), Outcome: session.OutcomeOK, Diffs: []session.FileDiff{{
		Path: "cart.go", Added: 1, Removed: 1, Text: "--- cart.go\n+++ cart.go\n@@ -1 +1 @@\n-var float64\n+var int64\n",
	}}})
	for name, test := range map[string]struct {
		text   string
		marked []string
	}{
		"html": {page(t, s.events, export.Options{}), []string{`<details class="call failed"`, `<span class="del">-var float64`, `<span class="add">+var int64`}},
		"md":   {markdown(t, s.events, export.Options{}), []string{"✗ **shell** `go test ./...` — exit code 1, 2 lines", "-var float64\n+var int64"}},
	} {
		for words, want := range map[string]int{"I run the tests.": 1, "Now the edit.": 1, "It brea": 0, "Now the ed\n": 0, "broken off": 0, "✗": 1, "(1 failed)": 1} {
			if n := strings.Count(test.text, words); n != want {
				t.Errorf("%s: %q is there %d times, want %d", name, words, n, want)
			}
		}
		for _, want := range test.marked {
			if !strings.Contains(test.text, want) {
				t.Errorf("%s: %s is missing", name, want)
			}
		}
	}
}

// An undo leads back, and a redo forward again: the number alone does not say so.
func TestWhereHeadsLead(t *testing.T) {
	s := &script{at: time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
	root := s.add(session.Created{})
	s.user("one")
	end := s.answer(llm.Text{Text: "first"})
	s.add(session.Head{To: root, Reason: "undo"})
	s.add(session.Head{To: end, Reason: "redo"})
	s.add(session.Head{To: end, Reason: "rewind"})
	html, text := page(t, s.events, export.Options{}), markdown(t, s.events, export.Options{})
	for _, want := range []string{"back to the beginning: undo", "forward to #3: redo", "back to #3: rewind"} {
		title := strings.ToUpper(want[:1]) + want[1:]
		if !strings.Contains(html, want) || !strings.Contains(html, title) || !strings.Contains(text, strings.ReplaceAll(title, "#", `\#`)) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// One branch can be read at a time: of the others only what it goes on from is there. A link to an entry of another branch leads to that.
func TestBranchesInBrowser(t *testing.T) {
	s := &script{at: time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)}
	s.add(session.Created{})
	s.user("the question")
	first := s.answer(llm.Text{Text: "the answer"})
	s.user("left one")
	s.answer(llm.Text{Text: "left answer"})
	s.add(session.Note{Text: "left note"})
	s.add(session.Head{To: first, Reason: "rewind"})
	second := s.user("right one")
	s.add(session.Head{To: second, Reason: "branch"}) // from its very end: no branch of its own
	s.answer(llm.Text{Text: "right answer"})
	s.add(session.Head{To: s.events[0].ID, Reason: "rewind"})
	s.user("from the beginning")
	text := page(t, s.events, export.Options{})
	all := []string{"the question", "the answer", "left one", "left answer", "left note", "right one", "right answer", "from the beginning"}
	for link, want := range map[string][]string{
		"":    all,
		"b0":  {"the question", "the answer", "left one", "left answer", "left note"},
		"b1":  all, // it is no branch to choose
		"b2":  {"the question", "the answer", "right one", "right answer"},
		"b3":  {"from the beginning"},
		"b17": all,
	} {
		dom := shown(t, text, link)
		_, inside, _ := strings.Cut(dom, "<main")
		var got []string
		for _, entry := range regexp.MustCompile(`(?s)<section class="entry.*?</section>`).FindAllString(inside, -1) {
			class, _, _ := strings.Cut(entry[len(`<section class="`):], `"`)
			if slices.Contains(strings.Fields(class), "off") {
				continue
			}
			for _, words := range all {
				if strings.Contains(entry, words) {
					got = append(got, words)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("#%s shows %q, want %q", link, got, want)
		}
	}
}

// shown is a page as a browser has it once a link was followed. The browser must have nothing to complain of.
func shown(t *testing.T, text, link string) string {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("there is no Chromium in PATH: the page is not looked at in a browser")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom", "file://"+filepath.ToSlash(file)+"#"+link)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Skipf("%s does not start here: the page is not looked at in a browser: %v\n%s", browser, err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser says: %s", line)
		}
	}
	return out.String()
}

// The export of a fork is a journal that stands by itself.
func TestForkIsWhole(t *testing.T) {
	store, s := stored(t, sample())
	lines := func(id session.SessionID) (out []session.Event) {
		var b bytes.Buffer
		if err := export.Lines(t.Context(), &b, store, id); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b.Bytes()) {
			var e session.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
		return out
	}
	fork := func(from session.SessionID) session.SessionID {
		id, err := store.Create(t.Context(), session.Created{From: session.Origin{Session: from}, Fork: true})
		if err != nil {
			t.Fatal(err)
		}
		w, err := store.Open(t.Context(), id, session.Lease{Owner: "test"})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.Append(t.Context(), session.Stamp{}, session.Message{Message: llm.UserText("another way"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}, session.Head{To: id},
			session.Message{Message: llm.UserText("a third way"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := fork(fork(s.ID))
	events := lines(id)
	again, err := store.Import(t.Context(), func(yield func(session.Event, error) bool) {
		for i, e := range events {
			if i == 0 {
				e.ID = "again"
			}
			if h, ok := e.Body.(session.Head); ok && h.To == id {
				h.To, e.Body = "again", h
			}
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	words := func(id session.SessionID) (out []string) {
		messages, err := view.Messages(t.Context(), view.Stored(store, id, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			out = append(out, m.Body.(session.Message).Text())
		}
		return out
	}
	if got, want := words(again), words(id); !slices.Equal(got, want) {
		t.Errorf("the conversation is\n%q\nwant\n%q", got, want)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has the number %d", i+1, e.Seq)
		}
	}
	var b bytes.Buffer
	// The message, its line in the contents, and the choice of its branch.
	if err := export.HTML(t.Context(), &b, store, index.Summary{ID: id}, export.Options{}); err != nil || strings.Count(b.String(), "another way") != 3 {
		t.Errorf("the page has the fork's messages %d times, %v", strings.Count(b.String(), "another way"), err)
	}
}

// The changes of a call come from its tool, from the saved contents, or from its arguments if the call did its work.
func TestChangesOfCalls(t *testing.T) {
	edit := call("c", "edit", map[string]string{"file_path": "/home/me/a.go", "old_string": "one", "new_string": "two"})
	saved := session.FilesChanged{Call: "c", Files: []session.FileChange{{
		Path: "/home/me/a.go", Before: &session.FileState{Hash: "old", Size: 1}, After: &session.FileState{Hash: "new", Size: 1},
	}}}
	typed := session.Message{Message: llm.ToolText(edit, "done", false)}
	typed.Diffs = []session.FileDiff{{Path: "a.go", Added: 7, Removed: 3, Text: "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-typed\n+TYPED\n"}}
	for name, test := range map[string]struct {
		files  session.FilesChanged
		result session.Message
		want   string
	}{
		"typed":            {session.FilesChanged{}, typed, "(+7 −3)\n\n`a.go` \n\n```diff\n@@ -1 +1 @@\n-typed\n+TYPED\n"},
		"saved":            {saved, session.Message{Message: llm.ToolText(edit, "done", false)}, "(+3 −2)\n\n`a.go` \n\n```diff\n@@ -1,7 +1,8 @@\n"},
		"arguments":        {session.FilesChanged{}, session.Message{Message: llm.ToolText(edit, "done", false)}, "(+1 −1)\n\n`a.go` \n\n```diff\n@@ -1 +1 @@\n-one\n+two\n"},
		"it did not do it": {session.FilesChanged{}, session.Message{Message: llm.ToolText(edit, "no such text", true)}, "✗ **edit** `/home/me/a.go` — no such text\n\n```\nno such text\n"},
	} {
		s := &script{}
		s.add(session.Created{Dir: "/home/me"})
		s.user("go")
		s.answer(edit)
		if len(test.files.Files) > 0 {
			s.add(test.files)
		}
		s.add(test.result)
		if got := markdown(t, s.events, export.Options{Content: content}); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}
