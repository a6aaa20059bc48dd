package permission

import "slices"

// Judge gives a verdict on each call. A [*Policy] is one, and so is a gate that holds one. It may be called concurrently.
type Judge interface {
	// Judge returns the verdict on a call. Grants are rules that a person added to the policy of the judge by answering
	// questions; they count for this call alone. A grant never allows what a mode or a rule denies.
	Judge(c Call, grants ...Rule) Verdict
}

// Live is a judge by the policy that the function returns at the moment of each call: policies change while a session is open.
type Live func() *Policy

// Judge implements [Judge].
func (l Live) Judge(c Call, grants ...Rule) Verdict { return l().Judge(c, grants...) }

// Meet returns a judge that gives the stricter verdict of two, the first one's if both are equally strict. A sub-agent that is
// judged by the meet of its own policy and of its parent's never has more rights than the parent, also after the mode of the
// parent changes. Grants of the sub-agent's person count for both policies. Those given in the parent's session count only if the
// policy of the sub-agent has them too.
func Meet(a, b Judge) Judge { return meet{a, b} }

type meet struct{ a, b Judge }

// Judge implements [Judge].
func (m meet) Judge(c Call, grants ...Rule) Verdict {
	v, other := m.a.Judge(c, grants...), m.b.Judge(c, grants...)
	if other.Action.rank() > v.Action.rank() {
		v = other
	}
	if v.Action == Ask {
		v.mode = "" // a wider mode of one policy leaves the other as it is
		v.Suggest = slices.DeleteFunc(slices.Clone(v.Suggest), func(s Suggestion) bool {
			with := slices.Concat(grants, s.Rules)
			return m.a.Judge(c, with...).Action != Allow || m.b.Judge(c, with...).Action != Allow
		})
	}
	return v
}
