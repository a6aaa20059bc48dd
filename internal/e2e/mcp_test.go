package e2e_test

import (
	"context"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServerName is what the test binary is called when it is to be an MCP server.
const mcpServerName = "mcp-test-server"

// serveMCP is a server with one tool. Its only argument is a file that it makes, so that a test sees that it started.
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
	s.AddResource(&mcp.Resource{URI: "test://note", Name: "note"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://note", Text: "the owl sleeps"}}}, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}
