// Package llm is how Tenon talks to language models: messages, requests, the stream of an answer, usage, typed errors
// and the facts about a model. It knows no provider; each protocol is a package below this one that implements [Client].
//
// A conversation is a list of [Message]. A [Request] carries it to a [Client], whose Stream yields [Event] values and ends
// with [Done], or with an [*Error] and nothing after it. [Collect] runs a stream to its end for callers that only want the
// message. Behaviour that is the same for every provider is added by wrapping a client, as [Retry] does.
//
// Every type has a stable JSON form, given in its comment. A part of a message whose kind this version does not know, because a
// newer one wrote it, is kept as an [UnknownPart]; fields that it does not know are not.
//
// Package llmtest has a client for tests that answers from a script, and records and replays other clients.
package llm
