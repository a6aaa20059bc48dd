// Package fit adapts a conversation to the model that will receive it.
//
// A conversation may come from models with other abilities and other rules for names, and from a journal in which calls
// were lost. Every protocol rejects some of that, and one bad message would make a provider reject all later requests of
// the session. [Messages] returns a conversation that the model accepts. It does not change its argument, and it replaces
// each omitted part by a note that the model reads. The result depends on the arguments only, so a growing conversation
// keeps its prefix and the provider's cache keeps hitting.
package fit
