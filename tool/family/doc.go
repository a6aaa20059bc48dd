// Package family shows the tools of an agent to a model under the names and arguments that its family was trained on, and reads its calls.
//
// The tools keep one canonical name, which rules, hooks, the journal and frontends use. A [Dialect] works at the edge: it makes the tool
// definitions of requests, and converts calls. It reads the names and arguments of every family, whatever the family of the model is.
package family
