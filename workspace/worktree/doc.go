// Package worktree makes copies of a project, in which sub-agents and parallel runs work, and merges their changes back.
//
// A copy has the files of the project as they are now, with the changes that are not committed, and without ignored files. If the project is in
// a git repository, the copy is a repository of its own with the same history: commits, branches and stashes in it never reach the repository
// of the person.
//
// The state of the project at the start, the base, is in a private git directory that no command in the copy can reach. [Worktree.Merge]
// compares base, copy and project by file, and plans the changes of the project: it writes nothing. Of a file that both sides changed it
// merges the texts, and returns a conflict where they collide.
//
// The package runs git only with the private git directory and its settings. Settings, hooks, filters and attributes of the project or of the
// copy have no effect.
package worktree
