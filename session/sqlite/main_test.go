package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/session"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(roleEnv); name != "" {
		if err := play(context.Background(), name, os.Args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s %v: %v\n", name, os.Args[1:], err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// play is what another process does.
func play(ctx context.Context, name string, args []string) error {
	if name == "last50" {
		start := time.Now()
		err := last50(ctx, args[0], session.SessionID(args[1]))
		fmt.Println(float64(time.Since(start).Microseconds())/1000, peakMemory())
		return err
	}
	if name == "open" { // and say what came of it
		s, err := Open(args[0])
		if err == nil {
			err = errors.Join(holdSession(ctx, s, nil), s.Close())
		}
		if errors.Is(err, session.ErrUnwritable) {
			fmt.Println("unwritable:", err)
			return nil
		}
		return err
	}
	if name == "limited" { // to files smaller than that of the shared memory
		if err := limitFiles(20_000); err != nil {
			return err
		}
		_, err := Open(args[0])
		fmt.Println(errors.Is(err, session.ErrIO), errors.Is(err, session.ErrFull), err)
		name = "look"
	}
	if name == "look" { // as a user with read permission only
		s, err := OpenToRead(args[0])
		if err != nil {
			return err
		}
		defer s.Close()
		fmt.Println("looked:", everything(ctx, s, session.SessionID(args[1])))
		_, err = s.Create(ctx, session.Created{})
		fmt.Println("created:", err)
		return nil
	}
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	id := session.SessionID(args[1])
	switch name {
	case "append":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return appendMany(ctx, s, id, n)
	case "watch":
		until, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return err
		}
		return watchUntil(ctx, s, id, until)
	case "hold":
		return holdSession(ctx, s, &id)
	case "fork":
		return forkForEver(ctx, s, id)
	case "trash":
		return trashForEver(ctx, s, id)
	case "compact": // as much as one step a line
		for {
			fmt.Println("compacting")
			left, err := s.lane.shrinkStep(ctx, math.MaxInt)
			if err != nil || left == 0 {
				return errors.Join(err, s.lane.checkpoint())
			}
		}
	case "index":
		fmt.Println("indexing")
		return s.Index(ctx)
	default:
		return errors.New("no such role")
	}
}

// appendMany appends n entries. Nothing kills it.
func appendMany(ctx context.Context, s *Store, id session.SessionID, n int) error {
	w, err := s.Open(ctx, id, session.Lease{Owner: fmt.Sprint("process ", os.Getpid())})
	if err != nil {
		return err
	}
	for i := range n {
		body := answer(fmt.Sprint("entry ", i))
		if i%25 == 0 {
			body = session.CallStarted{Call: fmt.Sprint("call ", i)} // which is synced
		}
		if _, err := w.Append(ctx, session.Stamp{}, body); err != nil {
			return err
		}
	}
	return w.Close()
}

// watchUntil follows a session up to an entry and fails on a gap.
func watchUntil(ctx context.Context, s *Store, id session.SessionID, until int64) error {
	due := int64(1)
	for e, err := range s.Watch(ctx, id, 0) {
		if err != nil {
			return err
		}
		if e.Seq != due {
			return fmt.Errorf("entry %d came when %d was due", e.Seq, due)
		}
		if due++; due > until {
			return nil
		}
	}
	return errors.New("the watch ended")
}

// holdSession opens a session, or a new one, says so on standard output, and with a session given appends until it is
// killed or its standard input ends.
func holdSession(ctx context.Context, s *Store, id *session.SessionID) error {
	if id == nil {
		_, err := s.Create(ctx, session.Created{})
		return err
	}
	w, err := s.Open(ctx, *id, session.Lease{Owner: fmt.Sprint("process ", os.Getpid())})
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		fmt.Println("locked by", locked.Owner)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := w.Append(ctx, session.Stamp{}, answer("mine")); err != nil {
		return err
	}
	fmt.Println("holding")
	var line string
	_, _ = fmt.Scanln(&line) // until the other side lets go
	_, err = w.Append(ctx, session.Stamp{}, answer("still mine?"))
	if fenced, ok := errors.AsType[*session.FencedError](err); ok {
		fmt.Println("fenced by", fenced.Owner)
		return nil
	}
	return errors.Join(err, w.Close())
}

// forkForEver makes forks of forks, and writes into each.
func forkForEver(ctx context.Context, s *Store, id session.SessionID) error {
	for {
		next, err := s.Create(ctx, session.Created{From: session.Origin{Session: id}, Fork: true})
		if err != nil {
			return err
		}
		w, err := s.Open(ctx, next, session.Lease{})
		if err != nil {
			return err
		}
		_, err = w.Append(ctx, session.Stamp{}, user("of a fork"), answer("yes"))
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		fmt.Println(next)
		id = next
	}
}

// trashForEver makes forks of a session and deletes, restores and purges them.
func trashForEver(ctx context.Context, s *Store, id session.SessionID) error {
	for i := 0; ; i++ {
		first, err1 := s.Create(ctx, session.Created{From: session.Origin{Session: id}, Fork: true})
		_, err2 := s.PutBlob(ctx, first, fmt.Append(nil, "blob ", i))
		second, err3 := s.Create(ctx, session.Created{From: session.Origin{Session: first}, Fork: true})
		if err := errors.Join(err1, err2, err3, s.Delete(ctx, first), s.Restore(ctx, first), s.Delete(ctx, second),
			s.Purge(ctx, first), s.Purge(ctx, second)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}
