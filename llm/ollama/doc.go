// Package ollama is a client of Ollama through its native protocol, /api/chat.
//
//	model := llm.Model{Provider: "ollama", ID: "qwen3:8b"}
//	client := ollama.New(model, ollama.Options{Window: 32_768})
//
// Ollama also speaks the protocol of OpenAI, but only the native one sets the context window of a model, refuses a request that is too long
// instead of shortening it. The source is https://docs.ollama.com/api/chat.
package ollama
