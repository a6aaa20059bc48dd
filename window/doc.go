// Package window makes the request that a model is sent from the journal of a session.
//
// A request is a header and the messages after it. The header (system prompt, tools, model) stays byte for byte the same
// within an epoch; when it must change, an [session.Epoch] entry says so and why. The messages are a view of the journal:
// less than all of it where it must be, never other than it. What the journal lacks, such as the result of a call that
// was lost, is made up so that every provider accepts the request, and the journal stays as it is.
package window
