// Package chain is a client that does not give up while there is another way: it asks again, then with another key, then
// another model.
//
// A chain has links, one for each model in the order of preference, and a link has clients, one for each key. What fails in a
// way that may pass is tried again after a while. A key that is refused or used up is left alone for as long as the provider
// says, and the next one is asked at once. When all keys of a model have failed, the next model is asked. What worked last is asked
// first the next time; the preferred model is asked first again half an hour after another had to take its place. All of that is told on
// the way: [llm.Waiting], [llm.Routed], [llm.RateLimits], and [llm.Reset] when part of an answer was yielded that is void now.
package chain
