package permission

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// policy returns a policy for a project at /w of a user with the home directory /home/me. Neither exists on disk.
func policy(t testing.TB, m Mode, rules ...string) *Policy {
	t.Helper()
	p, err := New(Options{
		Mode: m, Root: "/w", Home: "/home/me", Sandboxed: true, Tools: []string{"lint"},
		Hidden: []string{"/home/me/.ssh", "/home/me/.aws", ".env"}, Protected: []string{".git/hooks", ".git/config", ".tenon"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.With(parse(t, User, rules...)...)
}

// parse reads rules with their verdicts in front.
func parse(t testing.TB, s Scope, rules ...string) []Rule {
	t.Helper()
	var all []Rule
	for _, text := range rules {
		var verdict Action
		for _, v := range []Action{Allow, Ask, Deny} {
			if len(text) > len(v) && text[:len(v)+1] == string(v)+" " {
				verdict, text = v, text[len(v)+1:]
				break
			}
		}
		r, err := ParseRule(verdict, s, text, "lint")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}
