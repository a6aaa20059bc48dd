package wire_test

import (
	"reflect"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// A protocol that repeats a text at its end completes it, and never doubles it.
func TestWholeText(t *testing.T) {
	for name, c := range map[string]struct {
		deltas      []string
		whole, want string
	}{
		"nothing came":         {nil, "abc", "abc"},
		"a part came":          {[]string{"a"}, "abc", "abc"},
		"all came":             {[]string{"a", "bc"}, "abc", "abc"},
		"something else came":  {[]string{"x"}, "abc", "x"},
		"it is not repeated":   {[]string{"abc"}, "", "abc"},
		"there is nothing yet": {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var text, thought string
			var message llm.Message
			a := wire.NewAnswer(llm.Model{}, nil, func(e llm.Event, _ error) bool {
				switch e := e.(type) {
				case llm.TextDelta:
					text += e.Text
				case llm.ThinkingDelta:
					thought += e.Text
				case llm.Done:
					message = e.Message
				}
				return true
			})
			for _, d := range c.deltas {
				a.Thinking(d)
			}
			a.WholeThinking(c.whole)
			a.Break()
			for _, d := range c.deltas {
				a.Text(d)
			}
			a.WholeText(c.whole)
			a.Finish()
			if text != c.want || thought != c.want || message.Text() != c.want {
				t.Errorf("text %q, thinking %q, message %q, want %q", text, thought, message.Text(), c.want)
			}
		})
	}
}

// The opaque data that the provider needs back may arrive after other parts have begun. Empty thinking is not a part.
func TestLateOpaque(t *testing.T) {
	var message llm.Message
	a := wire.NewAnswer(llm.Model{}, nil, func(e llm.Event, _ error) bool {
		message = e.(llm.Done).Message
		return true
	})
	if n := a.Part(); n != -1 {
		t.Errorf("before the first part its number is %d", n)
	}
	a.OpaqueThinking(nil)
	first := a.Part()
	a.Break()
	a.OpaqueThinking(nil)
	a.Break()
	a.OpaqueText([]byte(`"text"`))
	a.Opaque(first, []byte(`"thought"`))
	a.Opaque(a.Part(), nil)
	a.Opaque(9, []byte(`"nowhere"`))
	a.Finish()
	want := llm.Content{llm.Thinking{Opaque: []byte(`"thought"`)}, llm.Text{Opaque: []byte(`"text"`)}}
	if !reflect.DeepEqual(message.Content, want) {
		t.Errorf("got %v, want %v", message.Content, want)
	}
}
