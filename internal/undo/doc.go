// Package undo takes back what a session did: to the files, from what the journal tells of them and the contents that were kept
// beside it, and to the conversation. Only files that the session changed are touched, and none that somebody else has changed since.
package undo
