package fit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// picture is a PNG of one pixel.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func user(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleUser, Content: parts} }

func assistant(parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, Model: "own/m", Content: parts}
}

func result(id string, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleTool, CallID: id, Tool: "look", Content: parts}
}

func call(id, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: "look", Arguments: arguments}
}

// words describes messages in short.
func words(all []llm.Message) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(string(m.Role))
		if m.Role == llm.RoleTool {
			b.WriteString(" " + m.CallID)
		}
		for _, p := range m.Content {
			switch p := p.(type) {
			case llm.Text:
				fmt.Fprintf(&b, " %q%s", p.Text, p.Opaque)
			case llm.Thinking:
				fmt.Fprintf(&b, " (%s)", p.Text)
			case llm.ToolCall:
				fmt.Fprintf(&b, " %s=%s%s%s", p.ID, p.Name, p.Arguments, p.Opaque)
			case llm.Image:
				fmt.Fprintf(&b, " <%s>", p.MIME)
			case llm.Document:
				fmt.Fprintf(&b, " <%s>", p.MIME)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestMessages(t *testing.T) {
	text := func(s string) llm.Text { return llm.Text{Text: s} }
	all := fit.Rules{Images: true, Documents: true, ResultImages: true}
	pic := llm.Image{MIME: "image/jpeg", Data: picture()}
	pdf := llm.Document{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.7\n")}
	for _, test := range []struct {
		name  string
		rules fit.Rules
		in    []llm.Message
		want  string
	}{
		{"nothing", all, nil, `user "Continue."
`},
		{"a question", all, []llm.Message{user(text("a"))}, `user "a"
`},
		{"the answer is last", all, []llm.Message{user(text("a")), assistant(text("b"))}, `user "a"
assistant "b"
user "Continue."
`},
		{"the answer is first", all, []llm.Message{assistant(text("b")), user(text("a"))}, `user "(The conversation continues here.)"
assistant "b"
user "a"
`},
		{"one role after the other", all, []llm.Message{user(text("a")), user(text("b")), assistant(text("c")), assistant(text("d")), user(text("e"))}, `user "a" "b"
assistant "c" "d"
user "e"
`},
		{"blank and empty", all, []llm.Message{user(text("a")), user(text(" \n")), assistant(), assistant(text("\t")), user()}, `user "a"
`},
		{"a call with its result", all, []llm.Message{user(text("a")), assistant(call("1", `{"x":1}`)), result("1", text("r"))}, `user "a"
assistant 1=look{"x":1}
tool 1 "r"
`},
		{"results in the order of the calls", all, []llm.Message{user(text("a")), assistant(call("1", ""), call("2", "")), result("2", text("s")), result("1", text("r"))}, `user "a"
assistant 1=look{} 2=look{}
tool 1 "r"
tool 2 "s"
`},
		{"a lost result, an orphan, a second one, an empty one", all, []llm.Message{
			user(text("a")), assistant(call("1", ""), call("2", "")), result("9", text("o")), result("2"), result("2", text("z")), user(text("b")),
		}, `user "a"
assistant 1=look{} 2=look{}
tool 1 "The result of this call was lost."
tool 2 "(no output)"
user "b"
`},
		{"a result after the next answer", all, []llm.Message{user(text("a")), assistant(call("1", "")), assistant(text("b")), result("1", text("r"))}, `user "a"
assistant 1=look{}
tool 1 "The result of this call was lost."
assistant "b"
user "Continue."
`},
		{"one ID twice in an answer, and again in the next", all, []llm.Message{
			user(text("a")), assistant(call("1", ""), call("1", "")), result("1", text("r")), result("1", text("s")),
			assistant(call("1", "")), result("1", text("t")),
		}, `user "a"
assistant 1=look{} 12=look{}
tool 1 "r"
tool 12 "s"
assistant 13=look{}
tool 13 "t"
`},
		{"IDs that the rules do not allow", fit.Rules{MaxID: 5, IDs: func(c byte) bool { return c >= '0' && c <= '9' }}, []llm.Message{
			user(text("a")), assistant(call("call_123456789", ""), call("", "")), result("call_123456789", text("r")),
		}, `user "a"
assistant _____=look{} call=look{}
tool _____ "r"
tool call "The result of this call was lost."
`},
		{"arguments that are no object", all, []llm.Message{user(text("a")), assistant(call("1", `{"x":`), call("2", `[1]`))}, `user "a"
assistant 1=look{"malformed_arguments":"{\"x\":"} 2=look{"malformed_arguments":"[1]"}
tool 1 "The result of this call was lost."
tool 2 "The result of this call was lost."
`},
		{"images and documents", all, []llm.Message{user(pic, pdf), assistant(call("1", "")), result("1", pic)}, `user <image/png> <application/pdf>
assistant 1=look{}
tool 1 <image/png>
`},
		{"a model that cannot see", fit.Rules{}, []llm.Message{user(pic, pdf), assistant(call("1", "")), result("1", pic)}, `user "[image left out: this model cannot see images]" "[document a.pdf left out: this model cannot read documents]"
assistant 1=look{}
tool 1 "[image left out: this model cannot see images]"
`},
		{"images of results stand behind them", fit.Rules{Images: true}, []llm.Message{
			user(text("a")), assistant(call("1", ""), call("2", "")), result("1", text("x"), pic), result("2", text("y")), user(text("b")),
		}, `user "a"
assistant 1=look{} 2=look{}
tool 1 "x" "[the image follows after the results]"
tool 2 "y"
user "[image of the result of look]" <image/png> "b"
`},
		{"bad images", fit.Rules{Images: true, MaxImage: 10}, []llm.Message{user(
			pic, llm.Image{MIME: "image/png", Data: []byte("<html>")}, llm.Image{MIME: "image/png", Blob: "b"},
		)}, `user "[image left out: it is too large for this model]" "[image left out: it is not of a kind that this model can see]" "[image left out: its data is not at hand]"
`},
		{"documents of text, and what is none", all, []llm.Message{user(
			llm.Document{MIME: "text/plain", Name: "n", Data: []byte("hi\xff")}, llm.Document{MIME: "application/zip", Name: "z", Data: []byte("x")}, llm.Document{MIME: "text/plain", Data: []byte(" ")},
		)}, `user "<document name=\"n\">\nhi�\n</document>" "[document z left out: it is not a PDF]" "[document left out: it is empty]"
`},
		{"an image in an answer", all, []llm.Message{user(text("a")), assistant(pic), user(text("b"))}, `user "a"
assistant "[image left out]"
user "b"
`},
		{"a model without tools", fit.Rules{NoCalls: true}, []llm.Message{user(text("a")), assistant(text("b"), call("1", `{"x":1}`)), result("1", text("r")), user(text("c"))}, `user "a"
assistant "b" "[called the tool look with {\"x\":1}]"
user "[result of the tool look: r]" "c"
`},
		{"thinking without a provider", all, []llm.Message{user(text("a")), assistant(llm.Thinking{Text: "t"}, text("b")), assistant(llm.Thinking{Text: "t"}), user(text("c"))}, `user "a"
assistant "b"
user "c"
`},
		{"thinking of its own", fit.Rules{
			Thinking: func(model string, t llm.Thinking) (llm.Thinking, bool) { return t, model == "own/m" },
			Opaque:   func(model string) bool { return model == "own/m" },
		}, []llm.Message{
			user(text("a")), assistant(llm.Thinking{Text: "t"}, llm.Text{Text: "b", Opaque: []byte("7")}), user(text("c")),
			{Role: llm.RoleAssistant, Model: "other/m", Content: llm.Content{llm.Thinking{Text: "u"}, llm.Text{Text: "d", Opaque: []byte("8")}}},
			user(text("e")),
			assistant(llm.Thinking{Text: "alone"}), user(text("f")),
		}, `user "a"
assistant (t) "b"7
user "c"
assistant "d"
user "e" "f"
`},
		{"parts of unknown kinds, unknown roles", all, []llm.Message{user(llm.UnknownPart{Type: "x"}, text("a")), {Role: "system", Content: llm.Content{text("b")}}}, `user "a"
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := words(fit.Messages(test.in, test.rules)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"read": "read", "": "unnamed", "a.b:c d": "a_b_c_d", strings.Repeat("x", 70): strings.Repeat("x", 64), "é": "__",
	} {
		if got := fit.Name(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// anyMessages draws a conversation that may be broken in any way.
func anyMessages(t *rapid.T) []llm.Message {
	texts := rapid.SampledFrom([]string{"", " ", "a", "b\xff", "日本"})
	ids := rapid.SampledFrom([]string{"", "1", "2", "call_3", "functions.x:0", strings.Repeat("l", 90), "\xff"})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return llm.Thinking{Text: texts.Draw(t, "thinking"), Signature: texts.Draw(t, "signature")}
		case 1, 2:
			return llm.ToolCall{
				ID: ids.Draw(t, "id"), Name: rapid.SampledFrom([]string{"look", "", "a b", "é"}).Draw(t, "name"),
				Arguments: rapid.SampledFrom([]string{"", "{}", `{"x":1}`, `{"x`, "7", "\xff"}).Draw(t, "arguments"),
			}
		case 3:
			return llm.Image{MIME: "image/png", Data: rapid.SampledFrom([][]byte{nil, []byte("x"), picture()}).Draw(t, "image")}
		case 4:
			return llm.Document{MIME: "application/pdf", Data: []byte("%PDF-1.7\n")}
		case 5:
			return llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"x"}`)}
		default:
			return llm.Text{Text: texts.Draw(t, "text")}
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
		return llm.Message{
			Role:    rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleTool, llm.RoleTool, "system"}).Draw(t, "role"),
			Content: rapid.SliceOfN(part, 0, 4).Draw(t, "content"), CallID: ids.Draw(t, "call"), Tool: "look",
			Model: rapid.SampledFrom([]string{"own/m", "other/m", ""}).Draw(t, "model"),
		}
	}), 0, 12).Draw(t, "messages")
}

func anyRules(t *rapid.T) fit.Rules {
	r := fit.Rules{
		Images: rapid.Bool().Draw(t, "images"), Documents: rapid.Bool().Draw(t, "documents"),
		ResultImages: rapid.Bool().Draw(t, "result images"), NoCalls: rapid.Bool().Draw(t, "no calls"),
		MaxID: rapid.SampledFrom([]int{0, 9, 40}).Draw(t, "max id"),
	}
	if rapid.Bool().Draw(t, "thinking") {
		r.Thinking = func(model string, t llm.Thinking) (llm.Thinking, bool) { return t, model == "own/m" }
	}
	return r
}

// The promises of Messages hold for every conversation.
func TestPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyMessages(t)
		r := anyRules(t)
		before := fmt.Sprintf("%+v", in)
		out := fit.Messages(in, r)
		if fmt.Sprintf("%+v", in) != before {
			t.Fatal("the conversation was changed")
		}
		if err := broken(out, r); err != "" {
			t.Fatalf("%s:\n%s", err, words(out))
		}
		if again := fit.Messages(in, r); !reflect.DeepEqual(out, again) {
			t.Fatal("another time it is another request")
		}
	})
}

// broken says which promise a request breaks.
func broken(out []llm.Message, r fit.Rules) string {
	if len(out) == 0 || out[0].Role != llm.RoleUser || out[len(out)-1].Role == llm.RoleAssistant {
		return "the first or the last message is of the wrong role"
	}
	ids := map[string]bool{}
	var open []llm.ToolCall
	for i, m := range out {
		switch {
		case m.Role == llm.RoleTool:
			if len(open) == 0 || open[0].ID != m.CallID {
				return "a result stands where it does not belong"
			}
			open = open[1:]
		case len(open) > 0:
			return "a call has no result"
		case i > 0 && out[i-1].Role == m.Role:
			return "two messages of one role"
		}
		if len(m.Content) == 0 {
			return "a message without content"
		}
		for _, p := range m.Content {
			switch p := p.(type) {
			case llm.Text:
				if strings.TrimSpace(p.Text) == "" {
					return "a blank text"
				}
			case llm.Thinking:
				if r.Thinking == nil || m.Model != "own/m" || m.Role != llm.RoleAssistant {
					return "thinking of another"
				}
			case llm.ToolCall:
				limit := r.MaxID
				if limit == 0 {
					limit = 64
				}
				if r.NoCalls || m.Role != llm.RoleAssistant || ids[p.ID] || p.ID == "" || len(p.ID) > limit || p.Name == "" {
					return "a call that must not be"
				}
				if !json.Valid([]byte(p.Arguments)) || !strings.HasPrefix(p.Arguments, "{") {
					return "arguments that are no object"
				}
				ids[p.ID] = true
				open = append(open, p)
			case llm.Image:
				if !r.Images || len(p.Data) == 0 || m.Role == llm.RoleTool && !r.ResultImages || m.Role == llm.RoleAssistant {
					return "an image that cannot be"
				}
			case llm.Document:
				if !r.Documents || m.Role == llm.RoleTool && !r.ResultImages {
					return "a document that cannot be"
				}
			default:
				return "a part of an unknown kind"
			}
		}
	}
	if len(open) > 0 {
		return "a call at the end has no result"
	}
	return ""
}

// A conversation that grows by whole turns keeps its beginning.
func TestTheBeginningStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyMessages(t)
		r := anyRules(t)
		for len(in) > 0 && in[len(in)-1].Role != llm.RoleTool && in[len(in)-1].Role != llm.RoleUser {
			in = in[:len(in)-1]
		}
		one := fit.Messages(in, r)
		two := fit.Messages(append(slices.Clone(in), assistant(llm.Text{Text: "more"}), user(llm.Text{Text: "on"})), r)
		if strings.HasSuffix(words(one), "user \"Continue.\"\n") {
			return // there was no turn of the user to answer
		}
		if !strings.HasPrefix(words(two), words(one)) {
			t.Fatalf("\n%s\ndoes not go on from\n%s", words(two), words(one))
		}
	})
}
