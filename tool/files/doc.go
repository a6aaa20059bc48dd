// Package files provides the tools that read and change files: read, list, write, edit, multi_edit, delete and patch. A model
// needs one way of editing: package family chooses it.
//
// A model must know what it changes. A [Set] remembers the version and the lines that each read showed. To replace a whole file, the model
// must have read all of the present version; to delete it, any part. A change of a part needs a read of any part, or a proof: old texts that
// each fit exactly and only once. Each call plans its changes from one look at the files, checks them again immediately before it writes, and
// makes all changes or none.
//
// Files keep their mode, line endings, byte order mark and encoding. Images and PDF files are untrusted: the package bounds the
// time and memory that they take.
package files
