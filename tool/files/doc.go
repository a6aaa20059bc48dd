// Package files is the tools that look at files and change them: read, list, write, edit, multi_edit, delete and patch. Which of
// them a model is offered depends on how it edits best: [EditingFor].
//
// Nothing is overwritten unseen. A [Set] remembers which version of a file it has shown, and which lines of it. What changes a
// part of a file wants any of it read; what replaces all of it wants all of it read. Each call plans its changes from one look at the
// files, looks again right before they are made, and makes all of them or none. What was done is described for people in a [Change].
//
// Files keep their mode, line ends, byte order mark and encoding. Pictures and PDF files come from anywhere: what they may take of
// time and memory is bounded, whatever they say of themselves.
package files
