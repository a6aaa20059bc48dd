// Package openai is two clients of model servers: [Chat] speaks OpenAI's Chat Completions protocol, which dozens of other servers
// speak too, each a little differently, and [Responses] speaks OpenAI's Responses protocol. Both work with Azure.
//
// How servers of Chat Completions differ is data: a [Profile]. [ProfileOf] has those of well-known servers by name; one for
// another server is made by filling in the fields in which it differs from the zero value, which asks for nothing that a
// plain server may not know.
//
//	profile, _ := openai.ProfileOf("openrouter")
//	model := llm.Model{Provider: profile.Name, ID: "z-ai/glm-4.6"}
//	client := openai.NewChat(model, openai.ChatOptions{Endpoint: wire.Endpoint{Key: key}, Profile: profile})
//
// The profile decides the form of requests. Answers are read in every known spelling, whatever the profile says.
package openai
