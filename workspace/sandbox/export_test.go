package sandbox

import "net"

// Pretend makes a policy believe in a machine.
func (p *Policy) Pretend(r Report) { p.once.Do(func() { p.machine = r }) }

// ReadSOCKS parses what comes from others.
var ReadSOCKS = readSOCKS

// NewProxy makes a proxy on a listener, and a function that closes it and returns what it refused.
func NewProxy(texts []string, l net.Listener) (func() []Blocked, error) {
	p, err := newProxy(texts, l, func() ([]net.Listener, error) { return []net.Listener{l}, nil })
	if err != nil {
		return nil, err
	}
	return func() []Blocked { p.close(); return p.refusals() }, nil
}

// Explainer is a command that ran in dir and needs only its output explained.
func (p *Policy) Explainer(dir string) *Confined {
	return &Confined{Level: Namespaces, policy: p, dir: dir}
}
