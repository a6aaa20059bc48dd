package mcp

import (
	"context"
	"fmt"

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
		for i, name := range s.promptNames(m) {
			all = append(all, Prompt{Name: name, Description: m.Prompts[i].Description, Arguments: m.Prompts[i].Arguments})
		}
	}
	return all
}

// promptNames returns the names of the commands, in the order of the prompts.
func (s *server) promptNames(m *memory) (all []string) {
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

// Expand returns the text of a prompt by its command. The arguments are in the order of [Prompt.Arguments]; a last one has the rest.
func (c *Client) Expand(ctx context.Context, command string, arguments []string) (llm.Content, error) {
	for _, s := range c.servers {
		m := s.remembered()
		for i, name := range s.promptNames(m) {
			if name == command {
				return s.expand(ctx, m.Prompts[i], arguments)
			}
		}
	}
	return nil, fmt.Errorf("no MCP server has the prompt /%s", command)
}

func (s *server) expand(ctx context.Context, p promptInfo, arguments []string) (llm.Content, error) {
	values := map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i < len(arguments):
			values[a.Name] = arguments[i]
		case a.Required:
			return nil, fmt.Errorf("the prompt %s needs the argument %s", p.Name, a.Name)
		}
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
	return c.result(ctx, s).Content, nil
}
