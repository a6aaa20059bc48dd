package tui

import (
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// ended is the request of the system to end. With hangup, the terminal is gone.
type ended struct{ hangup bool }

// signals ends the program when the system asks for it, such as when the terminal closes, so that the terminal and the session are left
// in order. It returns a function that stops this.
func signals(p *tea.Program) (stop func()) {
	arrived := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(arrived, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-arrived:
			p.Send(ended{s == syscall.SIGHUP})
		case <-done:
		}
	}()
	return func() {
		signal.Stop(arrived)
		close(done)
	}
}
