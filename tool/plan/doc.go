// Package plan is the tools by which a model shows what it is about, todo, and asks what it cannot know, question.
//
// What comes of them is the program's: a list is handed to a callback, questions to an [Asker].
package plan
