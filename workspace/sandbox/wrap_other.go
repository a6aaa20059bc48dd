//go:build !linux && !darwin

package sandbox

import (
	"os/exec"
	"runtime"
)

// Main is for Linux, where the program is started again as a helper. It must be called first in main anyway.
func Main() {}

// Look finds out what this machine can do. Nothing is kept.
func Look() Report {
	return Report{System: runtime.GOOS, Trouble: "Tenon has no sandbox for " + runtime.GOOS}
}

// Wrap returns an [UnavailableError]: there is no sandbox for this system.
func (p *Policy) Wrap(cmd *exec.Cmd) (*Confined, error) {
	if err := p.ready(cmd); err != nil {
		return nil, err
	}
	return nil, &UnavailableError{Wall: p.look().Trouble, Do: "use WSL, a container or a virtual machine, or run outside by decision"}
}
