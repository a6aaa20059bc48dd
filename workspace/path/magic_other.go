//go:build !linux

package path

// magic reports whether a link leads elsewhere in each process that follows it.
func magic(string) bool { return false }
