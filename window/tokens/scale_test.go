package tokens_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

func TestScaleStartsWithTheFamily(t *testing.T) {
	for id, want := range map[string]float64{"gpt-5": 1, "claude-sonnet-4-5": 1.2, "gemini-2.5-pro": 1.15, "llama-3": 1, "new": 1.1} {
		if got := tokens.Start(llm.Model{ID: id}).Factor(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s starts at %v, want %v", id, got, want)
		}
	}
	var zero tokens.Scale
	if zero.Factor() != 1 || zero.Tokens(10) != 10 || zero.Tokens(-5) != 0 {
		t.Errorf("the zero scale has the factor %v", zero.Factor())
	}
}

func TestScaleLearns(t *testing.T) {
	s := tokens.Start(llm.Model{ID: "gpt-5"})
	if got := s.Learn(50, 150).Factor(); got > 1.06 {
		t.Errorf("after a small request, the factor is %v", got)
	}
	if got := s.Learn(20_000, 26_000).Factor(); got < 1.25 || got > 1.3 {
		t.Errorf("after a large request, the factor is %v", got)
	}
	for range 30 {
		s = s.Learn(30_000, 39_000)
	}
	if got := s.Tokens(10_000); got < 12_980 || got > 13_000 {
		t.Errorf("10 000 tokens become %d, want 13 000", got)
	}
	for range 30 { // the server has changed
		s = s.Learn(30_000, 30_000)
	}
	if got := s.Factor(); got > 1.02 {
		t.Errorf("after a change of the server, the factor is %v", got)
	}
}

// Absurd reports cannot move the factor beyond its bounds. Empty reports do not change it.
func TestScaleIsBounded(t *testing.T) {
	var s tokens.Scale
	for _, r := range [][2]int{{0, 10}, {10, 0}, {-1, -1}} {
		if got := s.Learn(r[0], r[1]); got != s {
			t.Errorf("after the report %v, the factor is %v", r, got.Factor())
		}
	}
	for range 100 {
		s = s.Learn(1_000_000, 1)
	}
	if got := s.Factor(); got < 0.5 || got > 0.52 {
		t.Errorf("factor %v, want about 0.5", got)
	}
	for range 100 {
		s = s.Learn(1, math.MaxInt32).Learn(math.MaxInt32, math.MaxInt)
	}
	if got := s.Factor(); got > 3 || got < 2.9 {
		t.Errorf("factor %v, want about 3", got)
	}
}

// server counts as a provider might: with another vocabulary than that of the samples, and with its own tokens in each request and around
// each message.
type server struct {
	factor      float64
	base, frame int
}

func (s server) count(texts []sample) int {
	n := s.base
	for _, one := range texts {
		n += s.frame + int(s.factor*float64(one.count))
	}
	return n
}

// From the second request of a conversation on, the estimate is within a tenth, whatever the server.
func TestEstimateOfConversations(t *testing.T) {
	all := samples(t)
	var texts []sample
	for _, name := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, all[name])
	}
	for id, s := range map[string]server{
		"gpt-5": {1, 10, 4}, "claude-opus-4": {1.3, 500, 6}, "gemini-3": {1.1, 0, 0}, "unknown": {1.5, 200, 12}, "thrifty": {0.8, 0, 3},
	} {
		scale := tokens.Start(llm.Model{ID: id})
		messages := []llm.Message{llm.UserText(texts[0].text)}
		for n := 1; n+2 <= len(texts); n += 2 {
			reported := s.count(texts[:n])
			scale = scale.Learn(scale.Family().Request(&llm.Request{Messages: messages}), reported)

			answer := llm.AssistantText(texts[n].text)
			written := int64(s.factor * float64(texts[n].count))
			answer.Usage = llm.Usage{CacheRead: int64(reported / 2), Input: int64(reported - reported/2), Output: written}
			next := llm.UserText(texts[n+1].text)
			messages = append(messages, answer, next)

			want := s.count(texts[:n+2])
			if got := scale.After(answer, next); math.Abs(float64(got)/float64(want)-1) > 0.1 {
				t.Errorf("%s: request %d has %d tokens, estimated %d", id, n/2+1, want, got)
			}
		}
		if got := scale.Factor(); math.Abs(got/s.factor-1) > 0.1 {
			t.Errorf("%s: learned %.2f, want %.2f", id, got, s.factor)
		}
	}
}

// In later requests, an answer can have fewer tokens than the model wrote.
func TestAfterAnAnswerWithReasoning(t *testing.T) {
	reasoned := llm.Message{
		Role: llm.RoleAssistant, Content: llm.Content{llm.Thinking{Text: "Let me see."}, llm.Text{Text: "Yes."}},
		Usage: llm.Usage{Input: 1000, Output: 50, Reasoning: 400},
	}
	plain := reasoned
	plain.Content = reasoned.Content[1:]
	signed := plain
	signed.Content = llm.Content{llm.ToolCall{Name: "x", Opaque: []byte(`{"signature":"s"}`)}}
	said := plain
	said.Content = llm.Content{llm.Text{Text: "Yes.", Opaque: []byte(`{"signature":"s"}`)}}
	for _, tt := range []struct {
		name, id    string
		answer      llm.Message
		least, most int
	}{
		{"sent again", "glm-5", reasoned, 1450, 1450},
		{"sent again with a signature", "gemini-3", signed, 1450, 1450},
		{"sent again with the signature of a text", "gemini-3", said, 1450, 1450},
		{"not sent again", "gemini-3", plain, 1050, 1050},
		{"not read by the model", "grok-3-mini", reasoned, 1050, 1050},
		{"more reasoning than output", "gpt-5", reasoned, 1003, 1010},
	} {
		if got := tokens.Start(llm.Model{ID: tt.id}).After(tt.answer); got < tt.least || got > tt.most {
			t.Errorf("%s: %d tokens, want %d to %d", tt.name, got, tt.least, tt.most)
		}
	}
}
