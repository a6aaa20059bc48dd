// Package parallel lets several agents work on one prompt, each in a session of its own, and selects the best result.
//
// Each [Branch] opens its agent, usually in a copy of the project. [Run] runs all of them, several at a time, and then asks judges in their
// order: a judge that finds several results equally good leaves the choice to the next one. A branch that fails is excluded; it never wins and
// never ends the others. The journal of the owner records the group and its result.
package parallel
