// Package tool says what a tool is: something a model may ask for, with arguments that are checked before it runs, effects
// that are known before it runs, and a result with one part for the model and one for people.
//
// Make a tool with [New] from a struct of arguments and a function. The built-in sets are packages below this one.
package tool
