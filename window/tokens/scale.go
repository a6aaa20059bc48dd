package tokens

import "github.com/tenon-agent/tenon/llm"

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

// After returns about how many tokens the prompt of the next request has, from what the last answer used, and the local count of
// the messages behind that answer. It holds while the head of the request and its earlier messages stay the same. Reasoning is
// not in it: most providers leave that of earlier answers out.
func (s Scale) After(last llm.Usage, local int) int {
	return int(last.Prompt()+last.Output) + s.Tokens(local)
}
