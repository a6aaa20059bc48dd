// Package tool defines the tools that a model can call. Before a call runs, the tool checks its arguments and declares its effects. The
// result has one part for the model and one for people.
//
// [New] makes a tool from a struct of arguments and a function. The built-in sets are packages below this one.
package tool
