// Package models makes clients of models by name. It finds the key and the address of each provider in the environment, the configuration
// and the stored keys, discovers local servers, and makes clients with retries, prices and several keys:
//
//	client, err := models.Client("anthropic/claude-sonnet-4-6")
//
// A program with a configuration of its own makes a [Registry]:
//
//	r := models.New(models.Options{Pools: map[string][]string{"fast": {"groq/openai/gpt-oss-120b", "openai/gpt-5.4-mini"}}})
//	choice, err := r.Choose("fast")
//
// Choose is cheap: the first request fetches keys, runs commands of the configuration and finds cloud credentials.
package models
