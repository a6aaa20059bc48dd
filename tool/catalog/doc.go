// Package catalog keeps many external tools out of the prompt. If the descriptions of the tools of connections, such as MCP servers, take more of
// each request than they may, the model gets two tools instead: find_tools returns the tools that fit a query, with their schemas, and call_tool
// calls one of them. The gate, hooks, the journal and screens see the call under the name of the real tool.
package catalog
