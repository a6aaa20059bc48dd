package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/tool/mcp"
)

// A client connects to a server on the network, and offers its tools.
func Example() {
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "sky", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "alerts", Description: "Lists warnings of storms."}, say(func(text) string { return "none" }))
		return s
	}, nil))
	defer web.Close()

	c := mcp.New([]mcp.Server{{
		Name: "sky", Address: func(context.Context) (string, error) { return web.URL, nil },
	}}, mcp.Options{})
	defer c.Close()
	if _, err := c.Connect(context.Background(), "sky"); err != nil {
		fmt.Println(err)
	}
	for _, t := range c.Tools() {
		fmt.Println(t.Spec().Name, t.Spec().Description)
	}
	// Output:
	// mcp__sky__alerts Lists warnings of storms.
}
