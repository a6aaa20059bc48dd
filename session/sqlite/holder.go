package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// noteSize is the size of the note about who writes.
const noteSize = 128

// noteOf is the note of a process: its ID and its command, and no more arguments than one may see.
func noteOf(pid int, args []string) (note [noteSize]byte) {
	command := "tenon"
	if len(args) > 0 {
		command = filepath.Base(args[0])
	}
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		command += " " + args[1]
	}
	for i := range note {
		note[i] = '\n'
	}
	copy(note[:noteSize-1], fmt.Sprintf("%d %s", pid, strings.ToValidUTF8(strings.ReplaceAll(command, "\n", " "), "")))
	return note
}

// holder returns an error that names the process that holds the lock of the database, as far as it is known.
func (o *owner) holder(path string) *session.BusyError {
	e := &session.BusyError{Store: path}
	name := filepath.Join(o.dir, bellName)
	note, err := os.ReadFile(name)
	if err != nil || len(note) > noteSize {
		return e
	}
	first, _, _ := bytes.Cut(note, []byte("\n"))
	id, command, _ := strings.Cut(string(first), " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return e
	}
	e.PID, e.Command = pid, command
	if info, err := os.Stat(name); err == nil {
		e.Since = info.ModTime().Truncate(time.Second)
	}
	return e
}

// OnWait sets a function that the store calls if a write has waited most of a second for another process. The write continues to wait, for up
// to a minute, and then fails with the same error.
func (s *committer) OnWait(f func(*session.BusyError)) { s.onWait.Store(&f) }

func (s *committer) reportHolder() {
	if f := s.onWait.Load(); f != nil {
		(*f)(s.owner.holder(s.path))
	}
}

// Pause waits until this store has no transaction, and lets none begin until the caller calls resume. A process that is about to stop pauses
// its stores first, so that it does not block others.
func (s *Store) Pause(ctx context.Context) (resume func(), err error) {
	if err := s.index.lane.take(ctx); err != nil {
		return nil, err
	}
	if err := s.lane.take(ctx); err != nil {
		s.index.lane.turn <- struct{}{}
		return nil, err
	}
	return func() {
		s.lane.turn <- struct{}{}
		s.index.lane.turn <- struct{}{}
	}, nil
}
