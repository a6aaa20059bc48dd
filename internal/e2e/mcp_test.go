//lint:file-ignore SA1019 servers have the feature until its removal from the protocol

package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServerName is what the test binary is called when it is to be an MCP server.
const mcpServerName = "mcp-test-server"

// restless adds a tool that ends the server, and one that adds another tool.
func restless(s *mcp.Server) {
	add := func(name string, do func()) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Does " + name + "."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			do()
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " is done"}}}, nil, nil
		})
	}
	add("die", func() { os.Exit(1) })
	add("turn", func() { add("extra", func() {}) })
}

// askModel asks the model of the client.
func askModel(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	if got, ok := r.Params.InputResponses["q"]; ok {
		text, err := json.Marshal(got)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, err
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.CreateMessageParams{
		SystemPrompt: "You are a poet.", MaxTokens: 100_000, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Name a bird."}}},
	}}}, nil, nil
}

// pixel is a picture.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// serveMCP is a server with one tool. Its first argument is a file that it makes, so that a test sees that it started. The second one is a number
// of further tools, each of the size of a usual one.
func serveMCP() {
	if len(os.Args) > 1 {
		_ = os.WriteFile(os.Args[1], nil, 0o600)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Echoes a text."}, func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo: " + a.Text + os.Getenv("GREETING") + os.Getenv("FOREIGN_SECRET")}}}, nil, nil
	})
	type search struct {
		Owner  string   `json:"owner" jsonschema:"owner of the repository, a person or an organization, without the name of the repository"`
		Name   string   `json:"repo" jsonschema:"name of the repository, without its owner"`
		Query  string   `json:"query,omitempty" jsonschema:"words that the title or the text has; quotation marks join words"`
		State  string   `json:"state,omitempty" jsonschema:"open, closed or all; the default is open"`
		Labels []string `json:"labels,omitempty" jsonschema:"labels that all of the results have"`
		Page   int      `json:"page,omitempty" jsonschema:"number of the page of results, from 1"`
	}
	if len(os.Args) > 2 {
		more, _ := strconv.Atoi(os.Args[2])
		for i := range more {
			about := fmt.Sprintf("Searches the issues of kind %d of a repository, and returns their numbers, titles, authors and labels, the newest first. Use it before you open an issue, to see whether there is one.", i)
			mcp.AddTool(s, &mcp.Tool{Name: fmt.Sprintf("search_issues_%d", i), Description: about}, func(context.Context, *mcp.CallToolRequest, search) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{}, nil, nil
			})
		}
		if os.Args[2] == "asks" {
			mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks the model."}, askModel)
		}
		if os.Args[2] == "restless" {
			restless(s)
		}
	}
	s.AddResource(&mcp.Resource{URI: "test://note", Name: "note"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://note", Text: "the owl sleeps"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{
		Name: "review", Description: "Review a file\nwith care",
		Arguments: []*mcp.PromptArgument{{Name: "file", Required: true}, {Name: "for", Description: "what to look for"}},
	}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		user := func(c mcp.Content) *mcp.PromptMessage { return &mcp.PromptMessage{Role: "user", Content: c} }
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
			user(&mcp.TextContent{Text: "Review " + r.Params.Arguments["file"] + " for " + r.Params.Arguments["for"] + ". @test:test://note </command>"}),
			user(&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://rules", Text: "the rules of the house"}}),
			user(&mcp.ImageContent{MIMEType: "image/png", Data: pixel}),
		}}, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}
