package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// maxResources is the most resources that one call lists.
const maxResources = 500

// readSchema is the schema of read_resource.
const readSchema = `{"type":"object","properties":{"uri":{"type":"string","description":"the URI of the resource, as the list has it"}},"required":["uri"]}`

// resourceTools returns the tools for the resources of a server, if it has any.
func (s *server) resourceTools() (tools []tool.Tool) {
	if m := s.remembered(); m == nil || !m.Resources {
		return nil
	}
	add := func(o Offer, run func(ctx context.Context, arguments json.RawMessage) (tool.Result, error)) {
		if s.wanted(o.Name) {
			t := newExternal(s, o, names(s.Name, []string{o.Name})[o.Name])
			t.own, t.reads = run, matches(s.ReadOnly, "list_resources") || matches(s.ReadOnly, "read_resource")
			tools = append(tools, t)
		}
	}
	add(Offer{Name: "list_resources", Description: "List the resources of the MCP server " + s.Name + ": their URIs, names and descriptions.", Schema: json.RawMessage(anything)},
		func(ctx context.Context, _ json.RawMessage) (tool.Result, error) { return s.listResources(ctx) })
	add(Offer{Name: "read_resource", Description: "Read a resource of the MCP server " + s.Name + ".", Schema: json.RawMessage(readSchema)},
		func(ctx context.Context, arguments json.RawMessage) (tool.Result, error) {
			var a struct{ URI string }
			if err := json.Unmarshal(arguments, &a); err != nil {
				return tool.Result{}, &tool.ArgumentsError{Tool: "read_resource", Problems: []string{`the field "uri" is not a string`}}
			}
			content, err := s.readResource(ctx, a.URI)
			if err != nil {
				return tool.Result{}, err
			}
			return content.result(ctx, s), nil
		})
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
