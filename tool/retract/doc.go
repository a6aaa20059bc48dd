// Package retract is the tools by which a model takes back what does not help: cleanup gives up the result of a call that only fills its
// window, revert goes back to before its last answers and takes a lesson along.
//
// What becomes of a wish is the program's: see [Conversation]. Nothing is lost of the journal, and files stay as they are.
package retract
