// Package checkpoint keeps what files contained, so that changes of them can be taken back. A [Store] is a directory for one
// session: every content is in it once, under its SHA-256, whatever files had it. It is bounded: what is too large, or what
// comes when it is full, is not kept, and whoever put it is told.
package checkpoint
