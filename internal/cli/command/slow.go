package command

import (
	"fmt"
	"io"
	"time"
)

// Indexing is the note if a search, or a count of calls, waits for the index.
const Indexing = "indexing new entries first, about a minute for 250 MB; Ctrl-C stops, and the next search continues"

// patience is how long people wait without a note.
const patience = time.Second

// TellWhenSlow runs f, and prints why if it takes long. Nothing else may write to w meanwhile.
func TellWhenSlow(w io.Writer, why string, f func() error) error {
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
