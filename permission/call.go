package permission

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
)

// Command returns the call that runs a command line in the workspace, as the shell tool makes it.
func (p *Policy) Command(line string) Call {
	o := command.Options{Dir: p.options.Root, Home: p.options.Home, Roots: p.roots}
	e := Effects(line, o)
	e.Command = line
	return Call{Tool: "shell", Effects: e}
}

// ParseCall reads a call as examples write it: write(docs/a.md), fetch(example.com:443), shell(git push), mcp(server/tool),
// agent(name), or a tool alone. The error says what can be written.
func (p *Policy) ParseCall(text string) (Call, error) { return p.example("", text) }

// call is a call of a tool that touches one thing.
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
		c.Tool, c.Effects.Exec = "mcp__"+server+"__"+one, true
		return c, ok
	case sending:
		c.Effects.Agents = true
		c.Arguments, _ = json.Marshal(map[string]string{"agent": subject}) // a string can always be written
	case bare:
		c.Effects.Asks = name == "question"
	default:
		return c, false
	}
	return c, true
}

// absolute is where a path of an example leads.
func (p *Policy) absolute(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(p.options.Home, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.options.Root, name)
	}
	at, _ := resolve(p.options.Root, name)
	return at
}
