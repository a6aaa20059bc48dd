// Package agent is the loop that lets a language model work with tools, and the [Agent] that keeps a session around it.
//
// An [Agent] is made from an llm.Client, tools and a session.Store. [Agent.Run] takes a person's message and returns the
// stream of everything that happens, as one sequence of session.Event values; it ends when the model has nothing more to
// do, or when one of the [Limits] is reached. Everything durable is in the session's journal before any effect that
// depends on it, so that a run which was killed can be opened again and goes on with [Agent.Continue].
//
// What varies is handed in by [Options]: the window that makes requests from the journal, the [Gate] that decides which
// calls may run, [Hooks] around every step, and filters for input. docs/events.md shows the order of events as trees;
// examples/todo is a complete agent of one page.
package agent
