package tokens

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

// Bounds of what is learned.
const (
	least, most = 0.5, 3.0 // the factor, also of one report
	trust       = 2000     // tokens for which the factor of the family counts before anything was learned
	memory      = 200_000  // tokens of reports that are remembered; older ones fade
)

// Scale turns local counts into tokens of one model. It begins with what is known of the model's family and learns from what the
// provider reports. It is a value: Learn returns another one. The zero value takes local counts as they are, and learns as well.
type Scale struct {
	family          Family
	local, reported float64 // tokens of all that was learned, the family's trust among them
}

// Start returns what is known of a model before it has answered.
func Start(m llm.Model) Scale {
	f := FamilyOf(m)
	return Scale{family: f, local: trust, reported: trust * f.of().factor}
}

// Family returns the family that the local counts are to be made for.
func (s Scale) Family() Family { return s.family }

// Factor returns the tokens of the model for one token of a local count, 0.5 to 3.
func (s Scale) Factor() float64 {
	if s.local <= 0 {
		return 1
	}
	return min(max(s.reported/s.local, least), most)
}

// Learn returns a scale that also knows that what was counted as local tokens cost the reported ones: a whole request and
// [llm.Usage.Prompt], or what was added between two requests and what their prompts differ by. Large counts teach more than small
// ones. Counts that are not positive teach nothing, and what is out of all proportion teaches the nearest possible factor.
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

// Tokens returns the tokens of the model for a local count.
func (s Scale) Tokens(local int) int {
	return int(float64(max(0, local))*s.Factor() + 0.5)
}

// After returns about how many tokens the prompt of the next request has, whose last messages are an answer, with the usage that
// was reported for it, and those that were added behind it. It holds while all that stands before the answer stays the same.
func (s Scale) After(answer llm.Message, added ...llm.Message) int {
	n := int(answer.Usage.Prompt()) + s.returning(answer)
	local := 0
	for _, m := range added {
		local += s.family.Message(m)
	}
	return n + s.Tokens(local)
}

// returning is what an answer costs in later requests. That is what it cost to write, with exceptions: reasoning costs only where
// it goes back and is read, and OpenAI's models report as output also marks that are in no message.
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

// carriesReasoning reports whether reasoning goes back with a part: in its text, or as the provider's own data.
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
