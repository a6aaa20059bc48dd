package window

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// calling makes a path from words. Each word is an answer with one call: "read:f", "part:f" (a part of the file), "write:f", "sh:x",
// "fail:x", "net:x" (a tool without known effects). The suffix ":long" means a long result. "a" is an answer without calls. The same word
// gives the same result. The result of the n-th word is the entry rn, its call cn.
func calling(words string) view.Entries {
	var path view.Entries
	add := func(id string, b session.Body) {
		path = append(path, session.Event{ID: session.ID(id), Seq: int64(len(path) + 1), Body: b})
	}
	for i, word := range strings.Fields(words) {
		n := fmt.Sprint(i + 1)
		if word == "a" {
			add("a"+n, session.Message{Message: llm.AssistantText("So.")})
			continue
		}
		parts := append(strings.Split(word, ":"), "")
		kind, what := parts[0], parts[1]
		text := strings.Repeat("about "+what+"\n", 30)
		if parts[2] == "long" {
			text = strings.Repeat("much about "+what+"\n", 300)
		}
		tool, arguments, effects := "read", `{"path":"`+what+`"}`, `{"reads":[{"name":"/`+what+`"}]}`
		switch kind {
		case "part":
			arguments = `{"offset":3,"path":"` + what + `"}`
		case "write":
			tool, effects, text = "write", `{"writes":[{"name":"/`+what+`"}]}`, "written"
		case "sh", "fail":
			tool, effects = "shell", `{"unknown":true,"exclusive":true}`
		case "net":
			tool, effects = "net", ``
		}
		c := llm.ToolCall{ID: "c" + n, Name: tool, Arguments: arguments}
		switch kind { // as a model of another family writes it
		case "theirs":
			c.Name, c.Arguments = "read_file", `{"file_path":"`+what+`"}`
		case "theirpart":
			c.Name, c.Arguments = "read_file", `{"file_path":"`+what+`","start_line":3}`
			arguments = `{"offset":3,"path":"` + what + `"}`
		}
		add("a"+n, session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{c}}})
		started := session.CallStarted{Call: c.ID, Tool: tool, Arguments: json.RawMessage(arguments)}
		if effects != "" {
			started.Effects = json.RawMessage(effects)
		}
		add("s"+n, started)
		add("r"+n, session.Message{Message: llm.ToolText(c, text, kind == "fail")})
	}
	return path
}

func TestTrim(t *testing.T) {
	for _, test := range []struct {
		name, path string
		how        Trimming
		want       string
	}{
		{"new results", "read:f sh:x:long", Trimming{}, ""},
		{"a file that is read again", "read:f a read:f", Trimming{}, "r1:superseded"},
		{"a file of which a part is read again", "read:f a part:f", Trimming{}, ""},
		{"a part that is read again", "part:f a part:f", Trimming{}, "r1:superseded"},
		{"a part, then the whole file", "part:f a read:f", Trimming{}, "r1:superseded"},
		{"a file that changes", "read:f write:f a", Trimming{}, "r1:stale"},
		{"a file that changes and is read again", "read:f write:f read:f", Trimming{}, "r1:superseded"},
		{"another file that changes", "read:f write:g a", Trimming{}, ""},
		{"a read by a tool that is not in Reads", "read:f a read:f", Trimming{Reads: []string{"view"}}, "r1:repeated"},
		{"a read under another name", "theirs:f a theirs:f", Trimming{}, "r1:superseded"},
		{"a part under another name", "theirs:f a theirpart:f", Trimming{}, ""},
		{"a repeated output", "net:x net:y net:x", Trimming{}, "r1:repeated"},
		{"a long output of a command", "sh:x:long a a", Trimming{}, "r1:stale"},
		{"a long output that is not old", "sh:x:long a", Trimming{}, ""},
		{"a short output", "sh:x a a a a", Trimming{}, ""},
		{"a long result", "net:x:long a a a", Trimming{}, "r1:stale"},
		{"a failure", "fail:x:long a a a", Trimming{}, "r1:failed"},
		{"a failure that is not old", "fail:x:long a", Trimming{}, ""},
		{"an old read of an unchanged file", "read:f:long a a a a a a a a", Trimming{}, ""},
		{"an old read, with Hard", "read:f:long a a a a a a a a", Trimming{Hard: true}, "r1:stale"},
		{"a pinned result", "read:f a read:f", Trimming{Keep: []session.ID{"r1"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := calling(test.path)
			var got []string
			trimmed := look(t, path).Trim(test.how)
			for _, r := range trimmed {
				got = append(got, string(r.Entry)+":"+r.Reason)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("trimmed %s, want %s", got, test.want)
			}
			if len(trimmed) == 0 {
				return
			}
			path = append(path, session.Event{ID: "x", Body: session.Trimmed{Messages: trimmed}})
			v := look(t, path)
			for _, again := range v.Trim(test.how) {
				t.Errorf("%s is trimmed again", again.Entry)
			}
			for i, b := range v.Blocks {
				if b.Entries[0] == trimmed[0].Entry && (b.Why != Trimmed || b.Note != trimmed[0].Reason || v.Messages[i].Text() != trimmed[0].Text) {
					t.Errorf("block %+v", b)
				}
			}
		})
	}
}

// If the model repeats a call whose result was trimmed, the second result stays longer.
func TestRepeatedCallStaysLonger(t *testing.T) {
	path := calling("net:x:long a a a")
	path = append(path, session.Event{ID: "x", Body: session.Trimmed{Messages: look(t, path).Trim(Trimming{})}})
	for _, e := range calling("net:x:long a a a a a a a a a") {
		e.ID += "again"
		path = append(path, e)
	}
	if r := look(t, path).Trim(Trimming{}); len(r) != 1 || r[0].Entry != "r1again" {
		t.Errorf("trimmed %+v", r)
	}
	if r := look(t, path[:len(path)-2]).Trim(Trimming{}); len(r) != 0 {
		t.Errorf("trimmed %+v", r)
	}
}

// A cleanup discards the newest result with this call ID that the model has seen.
func TestDiscarded(t *testing.T) {
	path := calling("net:x a net:x")
	for i := range path {
		if m, ok := path[i].Body.(session.Message); ok { // a provider that restarts its call IDs in each answer
			for j, p := range m.Content {
				if c, ok := p.(llm.ToolCall); ok {
					c.ID = "1"
					m.Content[j] = c
				}
			}
			if m.Role == llm.RoleTool {
				m.CallID = "1"
			}
			path[i].Body = m
		}
	}
	path = append(path, session.Event{ID: "w", Body: session.Cleanup{Call: "1", Reason: "wrong"}})
	discarded := func() string {
		var ids []string
		for _, r := range look(t, path).discarded(nil) {
			ids = append(ids, string(r.Entry))
		}
		return strings.Join(ids, " ")
	}
	if got := discarded(); got != "r1" {
		t.Errorf("discarded: %s", got)
	}
	path = append(path, session.Event{ID: "a", Body: session.Message{Message: llm.AssistantText("So.")}})
	if got := discarded(); got != "r3" {
		t.Errorf("discarded: %s", got)
	}
	path[len(path)-2].Body = session.Cleanup{Call: "1", Entry: "r1", Reason: "wrong"} // it names the older result
	if got := discarded(); got != "r1" {
		t.Errorf("discarded: %s", got)
	}
	path = append(path, session.Event{ID: "E", Body: session.Epoch{Reason: "tools"}})
	if got := discarded(); got != "" {
		t.Errorf("discarded: %s", got)
	}
}
