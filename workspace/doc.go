// Package workspace is a project on disk: one directory, what may be reached in it, what is ignored, and commands that run there,
// in a sandbox and in the background if that is wanted.
//
// Every path that a tool is given goes through one policy. It is taken from the root or is absolute, links are followed, and
// what it comes to must lie inside the root; files are opened through [os.Root], so that a link which is put in the way after
// the check leads nowhere. Only regular files are opened: a named pipe or a device is refused before it can block.
//
// All processes that a command starts end with it, and all commands end with this process, however it dies. Where the system does not see
// to that, a small shell waits for the end of this process, from the first command until Close.
package workspace
