// Package plan provides the tools with which a model shows its plan, todo, asks the person, question, and lets the
// person choose who executes a plan, handoff.
//
// The program receives the results: a callback gets the list, an [Asker] gets the questions, a [Receiver] the plans.
package plan
