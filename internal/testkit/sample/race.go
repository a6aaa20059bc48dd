//go:build race

package sample

// Race reports whether the race detector checks this program.
const Race = true
