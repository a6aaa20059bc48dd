// Package window builds the request for a model from the journal of a session.
//
// A request is a header and messages. The header (system prompt, tools, model) stays byte for byte the same within an epoch. If it must
// change, an [session.Epoch] entry records the reason. The messages are a view of the journal: they may omit or shorten parts of it, and
// never contradict it. If the journal lacks a part that every provider requires, such as the result of a lost call, the view supplies it
// and leaves the journal unchanged.
package window
