// Package plan provides the tools with which a model shows its plan, todo, and asks the person, question.
//
// The program receives the results: a callback gets the list, an [Asker] gets the questions.
package plan
