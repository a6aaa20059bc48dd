package fit_test

import (
	"regexp"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// Some servers want IDs of one length: those that are so stay, all others become so, and each is unique.
func TestExactIDs(t *testing.T) {
	ids := []string{"D681PevKs", "call_1", "call_1", "", "D681PevKs", "ünïcödeX", "\xff", "functions.read:0", "0123456789"}
	var conversation []llm.Message
	for _, id := range ids {
		conversation = append(conversation, user(llm.Text{Text: "go on"}), assistant(call(id, "{}")), result(id, llm.Text{Text: "ok"}))
	}
	rules := fit.Rules{ExactID: 9}
	exact, seen := regexp.MustCompile(`^[A-Za-z0-9]{9}$`), map[string]bool{}
	for i, m := range fit.Messages(conversation, rules) {
		for _, c := range m.Calls() {
			if !exact.MatchString(c.ID) || seen[c.ID] {
				t.Errorf("%q became %q", ids[i/3], c.ID)
			}
			seen[c.ID] = true
		}
		if m.Role == llm.RoleTool && !seen[m.CallID] {
			t.Errorf("the result of %q belongs to no call", m.CallID)
		}
	}
	if !seen["D681PevKs"] || len(seen) != len(ids) {
		t.Errorf("got %v", seen)
	}
}
