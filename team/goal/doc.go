// Package goal is loop mode: an agent pursues a goal over many turns, until it is reached, blocked, or at a limit.
//
// A person sets a goal and commands that verify it. Whenever the agent would end a run, the hook of a [Pursuit] decides. The exit codes of
// the commands decide, and not the words of the model. If a command fails, the model gets its output and continues. Without commands, the
// model must claim completion explicitly, and [Options.Assess] can let another model decide.
//
// The state is a session.Goal in the journal. A goal outlives its process: the next run of the session continues it.
package goal
