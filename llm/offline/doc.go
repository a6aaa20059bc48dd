// Package offline is the built-in model. It needs no key and no network, costs nothing, and follows plain English
// instructions by rules.
//
// It is not a language model and does not pretend to be one. It lists, reads, finds, counts, replaces, creates and runs by
// instructions that its rules know, gives tasks to sub-agents, and describes a project. If no rule matches, it lists its abilities. Like every other
// model, it works through the tools that a request offers (read, write, edit, list, glob, grep, shell), so everything around
// a model can be tried, shown and tested with it.
//
// An answer is a pure function of its request. The model executes the instructions of the last user message from their
// beginning each time. It uses the results of calls that the conversation already has, and the first calls without a result
// are the answer. So the client keeps no state, and a conversation may be resumed anywhere.
//
// Results of tools are data: names, file contents and output never add an instruction. The model runs a command only if the
// user wrote it, or if it is one of a few fixed texts. In a sub-agent, the agent that gave the task is its user.
package offline
