// Package offline is the model that is always there: it needs no key and no network, costs nothing, and follows plain
// English instructions by rules.
//
// It is no language model and does not pretend to be one. It lists, reads, finds, counts, replaces, creates and runs what
// it is told in words that its rules know, describes a project by looking at it, and says what it can do when it does not
// understand. It works through the tools that a request offers (read, write, edit, list, glob, grep, shell), like every
// other model, so everything around a model can be tried, shown and tested with it.
//
// An answer is a pure function of its request. The instructions of the last user message are carried out from their
// beginning each time; a call that stands in the conversation already is not made again, its result is used instead; the
// first calls without a result are the answer. So the client keeps no state, and a conversation may be resumed anywhere.
//
// What tools return is data: names, file contents and output never add an instruction, and a command is run only when the
// user wrote it or when it is one of a few fixed texts.
package offline
