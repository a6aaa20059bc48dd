//go:build !linux

package sandbox

// cover is needed on Linux only: a profile names paths that do not exist too.
type cover struct{}

func (c *cover) remove() {}
