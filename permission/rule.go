package permission

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/workspace/host"
)

// Scope is the origin of a rule, and how long it applies.
type Scope string

// The scopes.
const (
	Session Scope = "session" // until the session ends
	User    Scope = "user"    // in all sessions
	Project Scope = "project" // from the project's own file, which can only narrow the policy
)

// words describes how long a rule of the scope applies.
func (s Scope) words() string {
	switch s {
	case Session:
		return "in this session"
	case Project:
		return "in this project"
	}
	return "in all sessions"
}

// Rule is one rule of a policy. [ParseRule] makes it; the zero value matches nothing.
type Rule struct {
	action  Action
	scope   Scope
	tool    string
	pattern string // as written; "" matches every call of the tool

	language language
	words    wordPattern
	path     pathPattern
	hosts    host.List
	name     glob
}

// ParseRule reads a rule such as shell(git push *), write(docs/**), fetch(*.example.com:443), mcp(server/tool), agent(name) or
// todo. Tools are names in addition to the built-in tools. The error names the mistake and the nearest tool.
func ParseRule(a Action, scope Scope, text string, tools ...string) (Rule, error) {
	r := Rule{action: a, scope: scope}
	if a.rank() > 1 && a != Deny {
		return r, fmt.Errorf("unknown action %q; rules allow, ask or deny", a)
	}
	text = strings.TrimSpace(text)
	tool, pattern, open := strings.Cut(text, "(")
	if r.tool = strings.TrimSpace(tool); open {
		inner, ok := strings.CutSuffix(pattern, ")")
		if !ok {
			return r, fmt.Errorf("rule %q: missing closing bracket; write %s(...)", text, r.tool)
		}
		if r.pattern = strings.TrimSpace(inner); r.pattern == "" {
			return r, fmt.Errorf("rule %q: empty brackets; write %s for every call", text, r.tool)
		}
	}
	l, known := vocabulary[r.tool]
	if !known && !slices.Contains(tools, r.tool) {
		names := append(slices.Sorted(maps.Keys(vocabulary)), tools...)
		if help := hint(text, tools); help != "" {
			return r, fmt.Errorf("rule %q: unknown tool %q%s", text, r.tool, help)
		}
		return r, fmt.Errorf("rule %q: unknown tool %q%s; the tools are %s", text, r.tool, nearest(r.tool, names), list(names))
	}
	r.language = l
	if err := r.compile(); err != nil {
		return r, fmt.Errorf("rule %q: invalid pattern %q: %w", text, r.pattern, err)
	}
	return r, nil
}

func (r *Rule) compile() (err error) {
	if r.pattern == "" {
		return nil
	}
	switch r.language {
	case reading, writing, filing:
		r.path, err = parsePath(r.pattern)
	case running, freeing:
		r.words, err = parseWords(r.pattern)
	case reaching, hosting:
		r.hosts, err = host.Parse(r.pattern)
	case serving:
		if server, tool, ok := strings.Cut(r.pattern, "/"); !ok && r.pattern != "*" || ok && (server == "" || tool == "") {
			return fmt.Errorf("use server/tool, or %s/* for all tools of a server", strings.Trim(r.pattern, "/"))
		}
		r.name, err = nameGlob(served(r.tool, r.pattern))
	case sending:
		r.name, err = nameGlob(r.pattern)
	default:
		return fmt.Errorf("%s takes no pattern; write %s", r.tool, r.tool)
	}
	return err
}

// served writes a pattern with the characters that names of tools have, as the tools of a server or an API are named: a rule about the server
// my.docs is about the tools mcp__my_docs__NAME.
func served(tool, pattern string) string {
	plain := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			switch {
			case r == '_' || r == '-' || r == '*' || r == '?' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z':
				b.WriteRune(r)
			case strings.ContainsRune(" \t\"'\\", r):
				b.WriteRune(r) // nameGlob refuses it
			case tool != "openapi" || !strings.HasSuffix(b.String(), "_"):
				b.WriteByte('_')
			}
		}
		return b.String()
	}
	server, name, ok := strings.Cut(pattern, "/")
	if !ok {
		return pattern
	}
	server = plain(server)
	for strings.Contains(server, "__") {
		server = strings.ReplaceAll(server, "__", "_")
	}
	return strings.Trim(server, "_") + "/" + plain(name)
}

func nameGlob(s string) (glob, error) {
	if strings.ContainsAny(s, " \t\"'\\"+string(star)+string(one)) {
		return glob{}, errors.New("names have no spaces and no quotes")
	}
	text := strings.NewReplacer("*", string(star), "?", string(one)).Replace(s)
	return glob{text: text, wild: text != s, lone: s == "*"}, nil
}

// Action returns what the rule does.
func (r Rule) Action() Action { return r.action }

// Scope returns the origin of the rule.
func (r Rule) Scope() Scope { return r.scope }

// In returns the rule in another scope.
func (r Rule) In(s Scope) Rule {
	r.scope = s
	return r
}

// Text returns the rule as lists and flags have it: shell(git push *).
func (r Rule) Text() string {
	if r.pattern == "" {
		return r.tool
	}
	return r.tool + "(" + r.pattern + ")"
}

// String returns the rule with its action and scope: deny shell(git push *) (user).
func (r Rule) String() string { return fmt.Sprintf("%s %s (%s)", r.action, r.Text(), r.scope) }

// Words describes the calls that the rule matches, and how long it applies.
func (r Rule) Words() string { return r.subject() + ", " + r.scope.words() }

// Reachable returns the hosts that allow rules such as fetch(@npm) name, as package host reads them.
func Reachable(rules []Rule) (hosts []string) {
	for _, r := range rules {
		if r.action == Allow && r.language == reaching && r.pattern != "" {
			hosts = append(hosts, r.pattern)
		}
	}
	return hosts
}

func (r Rule) subject() string {
	p := r.pattern
	switch r.language {
	case anything:
		return "everything"
	case reading:
		return all("reading ", p, "any file") + r.below()
	case writing:
		return all("changing ", p, r.anyFile()) + r.below()
	case filing:
		return all(r.tool+" of ", p, r.anyFile()) + r.below()
	case running:
		return r.commands("")
	case freeing:
		return r.commands(" outside the sandbox")
	case reaching:
		return all("reaching ", p, "any host")
	case hosting:
		return all(r.tool+" from ", p, "any host")
	case serving:
		if r.tool == "openapi" {
			return all("the operation ", p, "of any API")
		}
		return all("the MCP tool ", p, "of any server")
	case sending:
		return all("starting the agent ", p, "with any name")
	}
	return "every call of " + r.tool
}

// anyFile is the files of a rule without a pattern. Such a rule allows changes in the workspace only.
func (r Rule) anyFile() string {
	if r.action == Allow && r.tool != "list" && r.tool != "glob" && r.tool != "grep" {
		return "any file of the workspace"
	}
	return "any file"
}

// below says that a path includes all paths below it.
func (r Rule) below() string {
	if r.pattern == "" || hasMeta(r.pattern) {
		return ""
	}
	return " and everything below it"
}

func (r Rule) commands(where string) string {
	switch {
	case r.pattern == "":
		return "every command" + where + ", also command lines that cannot be judged"
	case len(r.words.words) == 0:
		return "every command that can be judged" + where
	case slices.ContainsFunc(r.words.words, func(g glob) bool { return g.wild }):
		return "commands like `" + r.pattern + "`" + where
	case r.words.rest:
		return "`" + strings.TrimRight(strings.TrimSuffix(r.pattern, "*"), " \t") + "` with any further arguments" + where
	}
	return "exactly `" + r.pattern + "`" + where
}

func all(verb, pattern, any string) string {
	if pattern == "" {
		return verb + any
	}
	return verb + pattern
}
