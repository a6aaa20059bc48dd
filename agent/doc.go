// Package agent is the loop in which a language model works with tools, and the [Agent] that drives a session with it.
//
// An [Agent] is made of a model, tools and a store. [Agent.Run] takes a person's message and yields every event of the run, as one sequence of
// session.Event values. The run ends when the model has nothing more to do, or at one of the [Limits]. Every durable fact is in the journal of
// the session before any effect that depends on it. If the process dies, the next one opens the session and [Agent.Continue] continues the run.
//
// [Options] has the parts that vary: the window that makes requests from the journal, the [Gate] that decides which calls run, and the hooks
// around every step ([Hook]). docs/developers/events.md shows the order of events as trees. examples/todo is a complete agent on one page.
package agent
