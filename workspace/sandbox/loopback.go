package sandbox

import (
	"errors"
	"slices"
)

// Loopback is a network of its own, without a way out, that the commands of a session share: one reaches a server that another runs on
// 127.0.0.1 or ::1. The zero value is ready; the network begins with the first command. Its methods may be called concurrently.
type Loopback struct{ keeping }

// errNoServer is the error of a connection to a network that has not begun.
var errNoServer = errors.New("connection refused: no command of this session runs a server")

// Shares reports whether the commands of the policy run in Loopback. Otherwise each has a network of its own, or that of the machine.
func (p *Policy) Shares() bool {
	return p.Loopback != nil && !p.Network.Open && p.Level() == Namespaces && !p.look().Borrowed
}

// narrows reports whether hosts lack one that a network already reaches. Commands in one network can forward connections for each other.
func narrows(reached, hosts []string) bool {
	return slices.ContainsFunc(reached, func(h string) bool { return !slices.Contains(hosts, h) })
}
