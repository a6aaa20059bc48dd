// Package approval decides which calls may run: by the rules of the person and, where these say so, by asking. There is one flow for
// all faces: a question is a [session.Asking] in the stream of the run, and whoever shows it answers through the [Broker].
package approval
