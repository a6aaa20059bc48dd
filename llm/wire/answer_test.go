package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// trace describes events in short.
func trace(events []llm.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case llm.TextDelta:
			fmt.Fprintf(&b, "%d:text %q\n", e.Part, e.Text)
		case llm.ThinkingDelta:
			fmt.Fprintf(&b, "%d:thinking %q\n", e.Part, e.Text)
		case llm.CallDelta:
			fmt.Fprintf(&b, "%d:call %s %s %q\n", e.Part, e.ID, e.Name, e.Arguments)
		case llm.CallReady:
			fmt.Fprintf(&b, "%d:ready %s %s %s\n", e.Part, e.Call.ID, e.Call.Name, e.Call.Arguments)
		case llm.Done:
			fmt.Fprintf(&b, "done %s\n", e.Message.Stop)
			for _, p := range e.Message.Content {
				fmt.Fprintf(&b, "%+v\n", p)
			}
		default:
			fmt.Fprintf(&b, "%T\n", e)
		}
	}
	return b.String()
}

func TestAnswer(t *testing.T) {
	for _, test := range []struct {
		name  string
		tells func(a *wire.Answer)
		want  string
	}{
		{"text", func(a *wire.Answer) { a.Text("a"); a.Text(""); a.Text("b") }, `
0:text "a"
0:text "b"
done end
{Text:ab Opaque:[]}
`},
		{"thinking, then text, then thinking", func(a *wire.Answer) {
			a.Thinking("x")
			a.Sign("si")
			a.Sign("gn")
			a.Text("a")
			a.Thinking("y")
			a.OpaqueThinking([]byte(`{"k":1}`))
		}, `
0:thinking "x"
1:text "a"
2:thinking "y"
done end
{Text:x Signature:sign Opaque:[]}
{Text:a Opaque:[]}
{Text:y Signature: Opaque:[123 34 107 34 58 49 125]}
`},
		{"parts of one kind", func(a *wire.Answer) { a.Text("a"); a.Break(); a.Text("b") }, `
0:text "a"
1:text "b"
done end
{Text:a Opaque:[]}
{Text:b Opaque:[]}
`},
		{"a call", func(a *wire.Answer) {
			a.Text("a")
			a.Call("0", "id", "look")
			a.Arguments("0", `{"x"`)
			a.Arguments("0", `:1}`)
			a.EndCall("0")
			a.Text("b")
		}, `
0:text "a"
1:call id look ""
1:call   "{\"x\""
1:call   ":1}"
1:ready id look {"x":1}
2:text "b"
done tool_calls
{Text:a Opaque:[]}
{ID:id Name:look Arguments:{"x":1} Opaque:[] Truncated:false}
{Text:b Opaque:[]}
`},
		{"a call whose name comes late, without an ID or arguments", func(a *wire.Answer) {
			a.Call("0", "", "")
			a.Arguments("0", " ")
			a.Call("0", "", "look")
		}, `
0:call call_0 look " "
0:ready call_0 look {}
done tool_calls
{ID:call_0 Name:look Arguments:{} Opaque:[] Truncated:false}
`},
		{"calls side by side", func(a *wire.Answer) {
			a.Call("0", "a", "look")
			a.Call("1", "b", "read")
			a.Arguments("0", `{}`)
			a.Arguments("1", `{"y"`)
			a.Arguments("1", `:2}`)
		}, `
0:call a look ""
1:call b read ""
1:call   "{\"y\""
1:call   ":2}"
0:call   "{}"
0:ready a look {}
1:ready b read {"y":2}
done tool_calls
{ID:a Name:look Arguments:{} Opaque:[] Truncated:false}
{ID:b Name:read Arguments:{"y":2} Opaque:[] Truncated:false}
`},
		{"a call is ready when the next begins", func(a *wire.Answer) {
			a.Call("0", "a", "look")
			a.Arguments("0", `{}`)
			a.Call("1", "b", "read")
		}, `
0:call a look ""
0:call   "{}"
0:ready a look {}
1:call b read ""
1:ready b read {}
done tool_calls
{ID:a Name:look Arguments:{} Opaque:[] Truncated:false}
{ID:b Name:read Arguments:{} Opaque:[] Truncated:false}
`},
		{"the limit cuts a call", func(a *wire.Answer) {
			a.Stop = llm.StopLength
			a.Call("0", "a", "look")
			a.EndCall("0")
			a.Call("1", "b", "write")
			a.Arguments("1", `{"text":"abc`)
		}, `
0:call a look ""
0:ready a look {}
1:call b write ""
1:call   "{\"text\":\"abc"
done length
{ID:a Name:look Arguments:{} Opaque:[] Truncated:false}
{ID:b Name:write Arguments:{"text":"abc Opaque:[] Truncated:true}
`},
		{"arguments repeated at the end", func(a *wire.Answer) {
			a.Call("0", "a", "look")
			a.Arguments("0", `{"x"`)
			a.WholeArguments("0", `{"x":1}`)
			a.WholeArguments("0", `{"other":1}`)
			a.EndCall("0")
		}, `
0:call a look ""
0:call   "{\"x\""
0:call   ":1}"
0:ready a look {"x":1}
done tool_calls
{ID:a Name:look Arguments:{"x":1} Opaque:[] Truncated:false}
`},
		{"a structured answer", func(a *wire.Answer) {
			a.SchemaTool("final_answer")
			a.Stop = llm.StopCalls
			a.Call("0", "a", "final_answer")
			a.Arguments("0", `{"x"`)
			a.Arguments("0", `:1}`)
			a.EndCall("0")
		}, `
0:text "{\"x\""
0:text ":1}"
done end
{Text:{"x":1} Opaque:[]}
`},
		{"a structured answer with words around it, which are none of it", func(a *wire.Answer) {
			a.SchemaTool("final_answer")
			a.Thinking("x")
			a.Text("Here it is.")
			a.Call("0", "a", "final_answer")
			a.Arguments("0", `{}`)
			a.EndCall("0")
			a.Text("There.")
		}, `
0:thinking "x"
1:text "Here it is."
2:text "{}"
3:text "There."
done end
{Text:x Signature: Opaque:[]}
{Text:{} Opaque:[]}
`},
		{"calls without a name", func(a *wire.Answer) {
			a.Arguments("7", "{}")
			a.EndCall("8")
			a.Text("a")
			a.Call("9", "b", "")
			a.Call("empty", "", "")
			a.Stop = llm.StopLength
			a.Arguments("cut", "{")
		}, `
1:text "a"
0:call call_0  "{}"
0:ready call_0  {}
2:call b  ""
2:ready b  {}
4:call call_4  "{"
done length
{ID:call_0 Name: Arguments:{} Opaque:[] Truncated:false}
{Text:a Opaque:[]}
{ID:b Name: Arguments:{} Opaque:[] Truncated:false}
{ID:call_4 Name: Arguments:{ Opaque:[] Truncated:true}
`},
		{"nothing", func(*wire.Answer) {}, "\ndone end\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var events []llm.Event
			a := wire.NewAnswer(llm.Model{Provider: "p", ID: "m"}, nil, func(e llm.Event, err error) bool {
				events = append(events, e)
				return err == nil
			})
			test.tells(a)
			if !a.Finish() {
				t.Error("not finished")
			}
			if got := trace(events); got != test.want[1:] {
				t.Errorf("got\n%s\nwant%s", got, test.want)
			}
		})
	}
}

// A consumer that stops reading gets no more events.
func TestAnswerOfOneWhoLeft(t *testing.T) {
	for n := range 8 {
		told := 0
		a := wire.NewAnswer(llm.Model{}, nil, func(llm.Event, error) bool {
			told++
			return told <= n
		})
		stays := a.Text("a") && a.Thinking("b") && a.Call("0", "x", "y") && a.Arguments("0", "{}") && a.EndCall("0") && a.Text("c") && a.Finish()
		if want := n >= 7; stays != want {
			t.Errorf("leaves at %d: %v", n, stays)
		}
		a.Text("more")
		a.Finish()
		if told > n+1 && n < 7 {
			t.Errorf("yielded %d times after the consumer left at %d", told, n)
		}
	}
}

func TestWhatAnAnswerCosts(t *testing.T) {
	model := llm.Model{Provider: "p", ID: "m", Price: llm.Price{Input: 3, Output: 15}}
	cost := func(u llm.Usage) (got float64) {
		a := wire.NewAnswer(model, nil, func(e llm.Event, _ error) bool {
			got = e.(llm.Done).Message.Usage.Cost
			return true
		})
		a.Usage = u
		a.Finish()
		return got
	}
	if got := cost(llm.Usage{Input: 1e6, Output: 1e6, Reasoning: 1e6}); got != 33 {
		t.Errorf("by the price: %g", got)
	}
	if got := cost(llm.Usage{Input: 1e6, Cost: 0.5}); got != 0.5 {
		t.Errorf("the provider's own: %g", got)
	}
}
