// Package files provides the tools that read and change files: read, list, write, edit, multi_edit, delete and patch. [EditingFor]
// chooses the editing tools that a model uses best.
//
// A model must read a file before it changes it. A [Set] remembers the version and the lines that each read showed. A change of a
// part needs any read of the present version; a change of the whole file needs a read of all of it. Each call plans its changes from
// one look at the files, checks them again immediately before it writes, and makes all changes or none.
//
// Files keep their mode, line endings, byte order mark and encoding. Images and PDF files are untrusted: the package bounds the
// time and memory that they take.
package files
