package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/llm"
)

// Prompt is a prompt that a server offers. People run it as the command /NAME.
type Prompt struct {
	Name        string // such as mcp__server__review
	Description string
	Arguments   []Argument
}

// Prompts returns the prompts that the servers offer, as earlier connections left them. It connects to no server.
func (c *Client) Prompts() (all []Prompt) {
	for _, s := range c.servers {
		m := s.remembered()
		for i, name := range promptNames(s, m) {
			all = append(all, Prompt{Name: name, Description: m.Prompts[i].Description, Arguments: m.Prompts[i].Arguments})
		}
	}
	return all
}

// promptNames returns the names of the commands, in the order of the prompts.
func promptNames(s *server, m *memory) (all []string) {
	if m == nil {
		return nil
	}
	var own []string
	for _, p := range m.Prompts {
		own = append(own, p.Name)
	}
	names := names(s.Name, own)
	for _, name := range own {
		all = append(all, names[name])
	}
	return all
}

// PromptError reports a command of a prompt that no server has.
type PromptError struct {
	Name   string
	Server string   // of the name, if it is configured
	Known  []string // the commands of its prompts
}

func (e *PromptError) Error() string {
	switch {
	case e.Server == "":
		return fmt.Sprintf("no MCP server of this session has the prompt /%s; see: tenon mcp list", e.Name)
	case len(e.Known) == 0:
		return fmt.Sprintf("the MCP server %s has no prompts", e.Server)
	}
	return fmt.Sprintf("the MCP server %s has no prompt /%s; it has /%s", e.Server, e.Name, strings.Join(e.Known, ", /"))
}

// Code is the stable code of the error.
func (e *PromptError) Code() string { return "mcp.prompt" }

// Expand returns the text of a prompt by its command, within a mark that names the server, and then its pictures and documents. The arguments are
// in the order of [Prompt.Arguments]; the last one has the rest of the words. If nothing is known of the server yet, Expand connects to it first.
func (c *Client) Expand(ctx context.Context, command string, words []string) (llm.Content, error) {
	e := &PromptError{Name: command}
	for _, s := range c.servers {
		if !strings.HasPrefix(command, fullName(s.Name, "")) {
			continue
		}
		m := s.remembered()
		if m == nil {
			if _, err := s.connect(ctx); err != nil {
				return nil, err
			}
			m = s.remembered()
		}
		known := promptNames(s, m)
		if i := slices.Index(known, command); i >= 0 {
			return m.Prompts[i].expand(ctx, s, words)
		}
		e.Server, e.Known = s.Name, append(e.Known, known...)
	}
	return nil, e
}

// values returns the arguments of a prompt by name.
func (p promptInfo) values(words []string) (map[string]string, error) {
	values := map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i < len(words) && i == len(p.Arguments)-1:
			values[a.Name] = strings.Join(words[i:], " ")
		case i < len(words):
			values[a.Name] = words[i]
		case a.Required:
			return nil, fmt.Errorf("the prompt %s needs the argument %s: %s", p.Name, a.Name, cmp.Or(a.Description, "a text"))
		}
	}
	return values, nil
}

func (p promptInfo) expand(ctx context.Context, s *server, words []string) (llm.Content, error) {
	values, err := p.values(words)
	if err != nil {
		return nil, err
	}
	l, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &collected{}
	err = s.bounded(ctx, l, func(ctx context.Context) error {
		got, err := l.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: values})
		if err != nil {
			return err
		}
		for _, m := range got.Messages {
			if m != nil {
				c.add(m.Content)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s: %w", s.Name, plainError(err))
	}
	text := strings.ReplaceAll(c.bounded(ctx), "</command", "< /command")
	return append(llm.Content{llm.Text{Text: fmt.Sprintf("\n\n<command mcp_server=%q>\n%s</command>", ServerName(s.Name), text)}}, c.others...), nil
}
