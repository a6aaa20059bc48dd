// Package gitdir keeps what runs in a sandbox from leaving git repositories behind that run something outside of it. Git does
// what the settings and hooks of a repository say as soon as somebody asks for its status, in it or in the one around it; so a
// [Guard] looks at the repositories in some trees before and after a command, and takes out of the new ones what names programs.
//
// Git itself is never asked: it would do what the repository says.
package gitdir
