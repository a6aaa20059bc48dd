//go:build unix

package app

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Suspends reports whether the shell that started the process can continue it after Ctrl-Z. A shell with job control gives each job a process
// group of its own. The group that leads the session has no such shell: ssh, docker or a terminal started it, and nothing would continue it.
func Suspends() bool {
	leader, err := unix.Getsid(0)
	return !signal.Ignored(syscall.SIGTSTP) && (err != nil || syscall.Getpgrp() != leader)
}

// suspendBetween lets Ctrl-Z stop the process only between transactions, because a process that stops within one blocks the writes of all
// others. The caller calls end.
func suspendBetween(store pauser) (end func()) {
	if !Suspends() {
		signal.Ignore(syscall.SIGTSTP)
		return func() {}
	}
	asked, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTSTP)
	signal.Notify(continued, syscall.SIGCONT)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-asked:
				if resume, err := store.Pause(ctx); err == nil {
					stopUntil(asked, continued)
					resume()
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(asked)
		signal.Stop(continued)
		cancel()
		wg.Wait()
	}
}

// stopUntil stops the process, and returns after it continued. Kill may return before the process stops. Without
// the wait, transactions could begin.
func stopUntil(asked, continued <-chan os.Signal) {
	for _, earlier := range []<-chan os.Signal{asked, continued} {
		select {
		case <-earlier:
		default:
		}
	}
	for syscall.Kill(os.Getpid(), syscall.SIGSTOP) == nil {
		select {
		case <-continued:
			return
		case <-asked: // at once after a SIGCONT, which the kernel then discards
		}
	}
}
