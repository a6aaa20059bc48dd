package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
)

// Command returns the call that the shell tool makes of a command line in the workspace.
func (p *Policy) Command(line string) Call {
	o := command.Options{Dir: p.options.Root, Home: p.options.Home, Roots: p.roots, Shell: p.options.Shell}
	return Call{Tool: "shell", Effects: Effects(line, o, p.options.Scratch)}
}

// ParseCall reads a call as examples write it: write(docs/a.md), fetch(example.com:443), shell(git push), mcp(server/tool),
// agent(name), or the name of a tool. The error lists the forms.
func (p *Policy) ParseCall(text string) (Call, error) { return p.example("", text) }

// call makes a call of a tool with one subject: a path, a host or a name.
func (p *Policy) call(name, subject string) (Call, bool) {
	c := Call{Tool: name}
	language, known := vocabulary[name]
	if !known && !slices.Contains(p.options.Tools, name) {
		return c, false
	}
	switch language {
	case reading, writing, filing:
		if subject == "" {
			return c, false
		}
		at := tool.File(p.absolute(subject))
		if language == reading || language == filing && (name == "list" || name == "glob" || name == "grep") {
			c.Effects.Reads = []tool.Path{at}
		} else {
			c.Effects.Writes = []tool.Path{at}
		}
	case reaching, hosting:
		if subject == "" {
			return c, false
		}
		c.Effects.Hosts = []string{subject}
	case serving:
		server, one, ok := strings.Cut(subject, "/")
		c.Tool = name + "__" + server + "__" + one
		c.Effects.Unknown, c.Effects.Exclusive = true, true
		return c, ok
	case sending:
		c.Effects.Agents = true
		c.Arguments, _ = json.Marshal(map[string]string{"agent": subject}) // never fails for strings
	case bare:
		c.Effects.Asks, c.Effects.None = name == "question" || name == "handoff", known // a tool without a row declares nothing
	default:
		return c, false
	}
	return c, true
}

// absolute resolves a path of an example.
func (e *environment) absolute(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(e.options.Home, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(e.options.Root, name)
	}
	return e.resolver.Guess(name).Path
}
