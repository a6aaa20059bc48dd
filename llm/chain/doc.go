// Package chain is a client that tries several models and keys: it retries, then uses another key, then another model.
//
// A chain has one link for each model, in the order of preference. A link has one client for each key. The chain retries a
// temporary failure after a delay. It skips a refused or exhausted key for as long as the provider says, and asks the next
// key at once. When all keys of a model have failed, it asks the next model. The combination that worked last goes first
// next time. Half an hour after a fallback, the preferred model goes first again. The stream reports all of this with
// [llm.Waiting], [llm.Routed], [llm.RateLimits], and with [llm.Reset] if a partial answer is void.
package chain
