// Package approval decides which calls may run: by the rules of the person and, if these say so, by asking. All frontends work the same
// way: a question is a [session.Asking] in the journal, and the frontend that answers it appends a [session.Answered], from any process.
package approval
