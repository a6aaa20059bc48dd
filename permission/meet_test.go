package permission

import (
	"testing"

	"pgregory.net/rapid"
)

// TestAMeetNeverWidens judges random calls by the meet of two random live policies, whose modes change between the calls.
func TestAMeetNeverWidens(t *testing.T) {
	base := policy(t, AskMode)
	rapid.Check(t, func(t *rapid.T) {
		parent, child := anyPolicy(t, base), anyPolicy(t, base)
		both := Meet(Live(func() *Policy { return child }), Live(func() *Policy { return parent }))
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			c := anyCall(base).Draw(t, "call")
			grants := rapid.SliceOfN(anyRule(Allow), 0, 2).Draw(t, "grants")
			v, a, b := both.Judge(c, grants...), child.Judge(c, grants...), parent.Judge(c, grants...)
			if want := max(a.Action.rank(), b.Action.rank()); v.Action.rank() != want {
				t.Fatalf("the child's policy: %s\nits parent's: %s\nboth: %s", a, b, v)
			}
			for _, s := range v.Suggest {
				if with := both.Judge(c, append(grants, s.Rules...)...); with.Action != Allow {
					t.Fatalf("%s does not allow what it was made for: %s", s.Words(), with)
				}
			}
			parent = parent.InMode(rapid.SampledFrom(Modes()).Draw(t, "mode"))
		}
	})
}

// TestAParentBindsItsChild changes the parent while the child works.
func TestAParentBindsItsChild(t *testing.T) {
	parent, child := policy(t, Auto), policy(t, Yolo)
	both := Meet(Live(func() *Policy { return child }), Live(func() *Policy { return parent }))
	build, write := child.Command("make"), child.Command("touch a")
	check := func(when string, c Call, want Action, code string, grants ...Rule) {
		t.Helper()
		if v := both.Judge(c, grants...); v.Action != want || v.Code != code {
			t.Errorf("%s: want %s %s\n%s", when, want, code, v)
		}
	}
	check("a wide parent", build, Allow, "permission.runs_code")
	parent = parent.InMode(Plan)
	check("the parent plans", write, Deny, "permission.write")
	parent = parent.InMode(AskMode)
	check("the parent asks", build, Ask, "permission.runs_code")

	granted := parse(t, Session, "allow shell(make)")
	child = child.InMode(AskMode)
	parent = parent.With(granted...)
	check("a grant in the parent", build, Ask, "permission.runs_code")
	parent = policy(t, AskMode)
	check("a grant in the child, by its person", build, Allow, "permission.rule_allowed", granted...)
	parent = parent.With(parse(t, User, "deny shell(make)")...)
	check("a grant in the child, and a rule of the parent that denies", build, Deny, "permission.rule_denied", granted...)
}
