package cli

import (
	"fmt"
	"io"
	"time"
)

// indexing is told when a search, or a count of calls, has to wait for the index.
const indexing = "what was said since the last search is taken in first, about a minute for 250 MB; " +
	"Ctrl-C stops it, and the next time it goes on from there"

// patience is how long people wait without being told what for.
const patience = time.Second

// tellWhenSlow runs f, and tells why it takes long when it does. Nothing else may write to w meanwhile.
func tellWhenSlow(w io.Writer, why string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	select {
	case err := <-done:
		return err
	case <-slow.C:
		fmt.Fprintln(w, why)
		return <-done
	}
}
