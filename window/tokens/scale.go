package tokens

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

// Limits of learning.
const (
	least, most = 0.5, 3.0 // the factor, also of one report
	trust       = 2000     // tokens that the factor of the family weighs
	memory      = 200_000  // tokens of reports that count; older ones fade
)

// Scale converts local counts to tokens of one model. It begins with the facts about the model's family and learns from the usage that the
// provider reports. It is a value: Learn returns another one. The zero value begins with unchanged local counts.
type Scale struct {
	family          Family
	local, reported float64 // tokens of all reports, with the trust in the family
}

// Start returns the scale of a model before its first answer.
func Start(m llm.Model) Scale {
	f := FamilyOf(m)
	return Scale{family: f, local: trust, reported: trust * f.of().factor}
}

// Family returns the family for the local counts.
func (s Scale) Family() Family { return s.family }

// Factor returns the number of tokens of the model for one token of a local count, 0.5 to 3.
func (s Scale) Factor() float64 {
	if s.local <= 0 {
		return 1
	}
	return min(max(s.reported/s.local, least), most)
}

// Learn returns a scale with another report: the provider reported this many tokens for this local count, of a whole request
// ([llm.Usage.Prompt]) or of the difference between two requests. Large counts weigh more. Learn ignores counts that are not positive, and
// limits implausible ones to the nearest possible factor.
func (s Scale) Learn(local, reported int) Scale {
	if local <= 0 || reported <= 0 {
		return s
	}
	if s.local <= 0 {
		s.local, s.reported = trust, trust
	}
	l := min(float64(local), memory)
	s.reported += l * min(max(float64(reported)/float64(local), least), most)
	s.local += l
	if fade := memory / s.local; fade < 1 {
		s.local *= fade
		s.reported *= fade
	}
	return s
}

// Counted reports whether the scale rests on tokens that the provider counted more than on facts about the family.
func (s Scale) Counted() bool { return s.local >= 2*trust }

// Tokens returns the tokens of the model for a local count.
func (s Scale) Tokens(local int) int {
	return int(float64(max(0, local))*s.Factor() + 0.5)
}

// After estimates the tokens of the next request. Its last messages are an answer, with its reported usage, and the added ones. The
// estimate holds while the messages before the answer stay the same.
func (s Scale) After(answer llm.Message, added ...llm.Message) int {
	n := int(answer.Usage.Prompt()) + s.returning(answer)
	local := 0
	for _, m := range added {
		local += s.family.Message(m)
	}
	return n + s.Tokens(local)
}

// returning is the cost of an answer in later requests: the cost of writing it, with two exceptions. Reasoning counts only if the model
// reads it again, and OpenAI's models report further tokens as output that are in no message.
func (s Scale) returning(answer llm.Message) int {
	u := answer.Usage
	if s.family == OpenAI {
		return min(int(u.Output), s.Tokens(s.family.Message(answer)))
	}
	if s.family.of().returns && slices.ContainsFunc(answer.Content, carriesReasoning) {
		return int(u.Output + u.Reasoning)
	}
	return int(u.Output)
}

// carriesReasoning reports whether a part has reasoning, as text or as data of the provider.
func carriesReasoning(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Thinking:
		return true
	case llm.Text:
		return len(p.Opaque) > 0
	case llm.ToolCall:
		return len(p.Opaque) > 0
	}
	return false
}
