//go:build race

package sandbox_test

// Under the race detector every program waits for a second before it ends, the helper too.
const slow = true
