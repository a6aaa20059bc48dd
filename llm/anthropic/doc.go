// Package anthropic is a client of the Messages API of Anthropic, of servers that are compatible with it, and of Anthropic's
// models on Google Vertex.
//
//	model := llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-5", MaxOutput: 64000}
//	client := anthropic.New(model, anthropic.Options{Endpoint: wire.Endpoint{Key: key}})
//	answer, err := llm.Collect(ctx, client, &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}})
//
// Answers are streamed. Thinking comes with a signature and goes back with it, for as long as the conversation stays with one
// provider: the API refuses calls whose thinking was lost. The prompt cache is marked at the tools, the system prompt and the
// last two messages of the user.
package anthropic
