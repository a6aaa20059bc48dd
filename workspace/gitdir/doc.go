// Package gitdir prevents commands in a sandbox from leaving git repositories that execute programs outside of it. Git follows the settings and
// hooks of a repository when a program asks for its status, also from the repository around it. So a [Guard] looks at the repositories in some
// trees before and after a command, and removes new settings and hooks that name programs.
//
// The package never runs git, because git would follow the repository.
package gitdir
