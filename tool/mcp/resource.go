package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// maxResources is the most resources that one call lists.
const maxResources = 500

type listArguments struct{}

type readArguments struct {
	URI string `json:"uri" jsonschema:"the URI of the resource, as the list has it"`
}

// resourceTools returns the tools for the resources of a server, if it has any.
func (s *server) resourceTools() []tool.Tool {
	if m := s.remembered(); m == nil || !m.Resources {
		return nil
	}
	touched := effects(matches(s.ReadOnly, "list_resources") || matches(s.ReadOnly, "read_resource"))
	name := func(verb string) string { return names(s.Name, []string{verb})[verb] }
	var tools []tool.Tool
	if s.wanted("list_resources") {
		tools = append(tools, tool.New(name("list_resources"), "List the resources of the MCP server "+s.Name+": their URIs, names and descriptions.",
			func(context.Context, listArguments) (tool.Effects, error) { return touched, nil },
			func(ctx context.Context, _ listArguments, _ tool.Report) (tool.Result, error) {
				return s.listResources(ctx)
			}))
	}
	if s.wanted("read_resource") {
		tools = append(tools, tool.New(name("read_resource"), "Read a resource of the MCP server "+s.Name+".",
			func(context.Context, readArguments) (tool.Effects, error) { return touched, nil },
			func(ctx context.Context, a readArguments, _ tool.Report) (tool.Result, error) {
				content, err := s.readResource(ctx, a.URI)
				if err != nil {
					return tool.Result{}, err
				}
				return content.result(ctx, s), nil
			}, tool.WithTitle(func(a readArguments) string { return a.URI })))
	}
	return tools
}

func (s *server) listResources(ctx context.Context) (tool.Result, error) {
	l, err := s.connect(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	c := &collected{}
	err = s.bounded(ctx, l, func(ctx context.Context) error {
		cursor, count := "", 0
		for range maxPages {
			page, err := l.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return err
			}
			for _, r := range page.Resources {
				if count++; count > maxResources {
					c.line("[there are more resources]")
					return nil
				}
				if r != nil {
					c.line(term.OneLine(fmt.Sprintf("%s  %s  %s  %s", r.URI, r.Name, r.MIMEType, r.Description)))
				}
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		page, err := l.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{})
		if err != nil {
			return nil // it need not have any
		}
		for _, t := range page.ResourceTemplates {
			if t != nil {
				c.line(term.OneLine(fmt.Sprintf("%s  %s  %s  %s", t.URITemplate, t.Name, t.MIMEType, t.Description)))
			}
		}
		return nil
	})
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s: %w", s.Name, plainError(err))
	}
	return c.result(ctx, s), nil
}

func (s *server) readResource(ctx context.Context, uri string) (*collected, error) {
	l, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &collected{}
	err = s.bounded(ctx, l, func(ctx context.Context) error {
		got, err := l.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		for _, r := range got.Contents {
			if r != nil {
				c.resource(r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s: %w", s.Name, plainError(err))
	}
	return c, nil
}

// Read returns a resource of a server, for a prompt that mentions it as @server:uri.
func (c *Client) Read(ctx context.Context, server, uri string) (llm.Content, error) {
	s, err := c.named(server)
	if err != nil {
		return nil, err
	}
	content, err := s.readResource(ctx, uri)
	if err != nil {
		return nil, err
	}
	return content.result(ctx, s).Content, nil
}
