// Package skill finds skills, and provides the tool with which a model loads one. A skill is a directory with a SKILL.md: instructions for
// a kind of task.
//
// The model sees an [Index] with one line for each skill. The text of a skill costs nothing until the model loads it.
package skill
