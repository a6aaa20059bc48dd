// Package wire is the shared part of all clients of model servers: one HTTP request with its timers, a bounded reader of the
// response, typed errors, and the assembly of an answer.
//
// A client makes a [Request], sends it with [Endpoint.Post], reads the [Response] with [Response.Events] or
// [Response.All], and passes the fragments to an [Answer]:
//
//	resp, err := endpoint.Post(ctx, wire.Request{Model: ref, URL: url, Header: header, Body: body})
//	if err != nil { ... }          // an *llm.Error
//	defer resp.Close()
//	answer := wire.NewAnswer(model, resp, yield)
//	for e, err := range resp.Events() {
//		...
//		answer.Text(delta)
//	}
//
// The package does not trust the server: it bounds lines, answers and error texts, follows no redirect, ends a silent
// request, and never shows a key in an error.
package wire
