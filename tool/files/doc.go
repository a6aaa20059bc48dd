// Package files is the tools that look at files and change them: read, list, write, edit, multi_edit, patch and delete.
//
// Nothing is overwritten unseen. A set of these tools remembers which version of a file it has shown; write and edit refuse a
// file that was never read, or that has changed since, and look again right before they replace it. What they change they
// describe in a [Change] for people.
package files
