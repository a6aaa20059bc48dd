package openai_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

func TestProfiles(t *testing.T) {
	var names []string
	for p := range openai.Profiles() {
		names = append(names, p.Name)
		if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(p.Name) || p.Title == "" {
			t.Errorf("%q is no name of a provider, or has no title", p.Name)
		}
		u, err := url.Parse(p.BaseURL)
		if err != nil || p.BaseURL != "" && (u.Host == "" || u.Path == "" || strings.HasSuffix(u.Path, "/")) {
			t.Errorf("%s: the base URL is %q", p.Name, p.BaseURL)
		}
		if p.Local != (p.Port != 0) || p.Local && !strings.HasSuffix(u.Host, u.Port()) {
			t.Errorf("%s: local %t, port %d, base URL %s", p.Name, p.Local, p.Port, p.BaseURL)
		}
		for _, name := range slices.Concat(p.KeyVars, p.HomeKeyVars, p.BaseURLVars) {
			if !regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`).MatchString(name) {
				t.Errorf("%s: %q is no name of a variable", p.Name, name)
			}
		}
		variable := strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
		if !slices.Contains(p.KeyVars, variable+"_API_KEY") || !slices.Contains(p.BaseURLVars, variable+"_BASE_URL") {
			t.Errorf("%s: %s_API_KEY and %s_BASE_URL are not among %v and %v", p.Name, variable, variable, p.KeyVars, p.BaseURLVars)
		}
		if p.Thinking == openai.ThinkingNone && p.Efforts != nil || p.ReasoningNeeded && p.ReasoningBack != openai.ReasoningText {
			t.Errorf("%s: its thinking does not fit together", p.Name)
		}
		if again, ok := openai.ProfileOf(p.Name); !ok || again.Title != p.Title {
			t.Errorf("%s is found as %q", p.Name, again.Title)
		}
	}
	if len(names) != 21 || names[len(names)-1] != "openai-compatible" || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("got %d: %v", len(names), names)
	}
}

func TestProfileOfUnknown(t *testing.T) {
	if p, ok := openai.ProfileOf("acme"); ok || p.Name != "" {
		t.Errorf("got %+v", p)
	}
}

// A caller that changes a profile changes a copy.
func TestProfilesAreCopies(t *testing.T) {
	p, _ := openai.ProfileOf("openai")
	p.Efforts[llm.ThinkHigh], p.KeyVars[0] = "changed", "changed"
	if again, _ := openai.ProfileOf("openai"); again.Efforts[llm.ThinkHigh] != "high" || again.KeyVars[0] != "OPENAI_API_KEY" {
		t.Errorf("got %+v", again)
	}
	for range openai.Profiles() {
		break
	}
}

// The zero profile asks for nothing that is not of the plain protocol.
func TestZeroProfile(t *testing.T) {
	o := chatOptions(t, "openai")
	o.Profile = openai.Profile{}
	body := chatBody(t, chatAble("mine"), o, chatEverything("mine"))
	var names []string
	for name := range body {
		names = append(names, name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"max_tokens", "messages", "model", "stream", "tools"}) {
		t.Errorf("it has %v", names)
	}
}
