// Package wire is what clients of model servers share, whatever protocol they speak: one HTTP request with its timers, the
// reading of what comes back byte by byte, errors that say what happened, and the putting together of an answer.
//
// A client makes a [Request], has it sent with [Endpoint.Post], reads the [Response] with [Response.Events] or
// [Response.All], and tells an [Answer] what it read:
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
// Nothing here trusts the server: lines, answers and error texts are bounded, redirects are not followed, silence ends a
// request, and a key never appears in an error.
package wire
