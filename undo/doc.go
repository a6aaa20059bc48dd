// Package undo reverts what a session did: to files, from its journal and the contents from before their changes, and to the conversation. It
// changes only files that the session changed, and none that another program or person has changed since.
package undo
