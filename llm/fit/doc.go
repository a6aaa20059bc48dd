// Package fit makes a conversation fit for the model that it is about to be sent to.
//
// A conversation may come from other models, with other abilities and other rules for names, and from a journal in which
// calls were lost. Every protocol refuses some of that, and one bad message would refuse all requests of a session from then
// on. [Messages] returns what the model can take, and leaves the conversation itself as it is: what is left out is replaced by
// a note that the model reads. The result depends on nothing but the arguments, so a growing conversation keeps its beginning
// and the provider's cache keeps hitting.
package fit
