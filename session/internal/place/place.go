// Package place says where the events of a kind belong. It is internal so that only the packages of session can define bodies of events.
package place

// Place is where events of a kind belong.
type Place int

const (
	Branch    Place = iota // an entry that continues a branch
	Aside                  // an entry aside of every branch, without parent and children
	Transient              // never an entry
)
