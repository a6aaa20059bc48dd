// Package retract provides the tools with which a model discards content that does not help: cleanup drops the result of a call, revert
// goes back to before the last answers and keeps a lesson.
//
// The program carries them out: see [Conversation]. The journal loses nothing, and files stay unchanged.
package retract
