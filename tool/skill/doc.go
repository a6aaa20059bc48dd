// Package skill finds skills, instructions for kinds of tasks that people keep in folders with a SKILL.md, and is the tool by which a model
// loads one.
//
// The model knows of skills by an [Index] of one line each; the text of a skill costs nothing before it is loaded.
package skill
