// Package team lets an agent give tasks to sub-agents. Each is an agent of its own, with a session, a role, a share of the budget, and never
// more rights than the agent that started it. There is no second loop.
//
// All state is in the journals: [session.TaskCreated], [session.TaskStarted] and [session.TaskSettled] in the session of the owner, the agent
// that gave the task, and [session.Mail] in the session of its sender. [State] folds them. A [Team] adds the runtime for one owner: it starts
// sub-agents, delivers mail, and settles each attempt at a task once. If the process dies, the next one continues with [Team.Resume]. [Verify]
// compares the report of a sub-agent with what it did.
//
// The tools of a sub-agent have no effect of their own. The journaled result of a call is what counts, so that a crash never leaves a call of
// which one cannot say whether it took effect.
package team
