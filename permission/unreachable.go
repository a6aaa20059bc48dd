package permission

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// unreachable warns of rules that never decide, because a stricter one matches every call that they match.
func unreachable(rules []Rule) (warnings []string) {
	for _, r := range rules {
		for _, s := range rules {
			if s.action.rank() > r.action.rank() && s.shadows(r) {
				warnings = append(warnings, fmt.Sprintf("the rule %s never decides: %s matches every call that it matches, and %s beats %s", r, s, s.action, r.action))
				break
			}
		}
	}
	return warnings
}

// shadows reports whether the rule certainly matches every call that r matches.
func (s Rule) shadows(r Rule) bool {
	switch {
	case s.language == anything:
		return true
	case s.language == writing && r.language == filing && r.tool != "list" && r.tool != "glob" && r.tool != "grep":
	case s.language == reading && r.language == filing && (r.tool == "list" || r.tool == "glob" || r.tool == "grep"):
	case s.language == running && r.language == freeing:
	case s.tool != r.tool && !takes(s.tool, r.tool):
		return false
	}
	if s.pattern == "" || s.pattern == r.pattern {
		return true
	}
	if r.pattern == "" {
		return false
	}
	switch s.language {
	case reading, writing, filing:
		return s.path.home == r.path.home && s.path.abs == r.path.abs && !s.path.below && !strings.ContainsAny(s.path.glob, "?[{") && s.path.fits(paths.Key(r.path.glob))
	case running, freeing:
		words := make([]string, len(r.words.words))
		for i, g := range r.words.words {
			words[i] = g.text
		}
		one := command.Command{Words: words}
		return len(words) > 0 && (s.words.rest || !r.words.rest) && s.words.itself(&one) == yes
	case reaching, hosting:
		return s.hosts.Covers(r.hosts)
	case serving, sending:
		return s.name.is(strings.ReplaceAll(r.name.text, string(star), "*"))
	}
	return false
}
