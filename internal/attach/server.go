package attach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/session"
)

// The limits of a server.
const (
	maxConnections = 64               // at a time; others wait
	patience       = 10 * time.Second // for the first line of a client
	farewell       = time.Second      // for clients that have not read the newest entry when the server ends
)

// Server serves a conversation to other processes until it is closed.
type Server struct {
	conversation conversation.Conversation
	session      Session
	operations   map[string]any
	listener     *net.UnixListener
	file         fs.FileInfo // of the socket
	ctx          context.Context
	stop         context.CancelFunc
	free         chan struct{} // connections that may begin
	works        sync.WaitGroup

	mu        sync.Mutex
	followers map[*follower]bool
	moved     chan struct{} // has an element if a follower got an entry or left
}

// follower is a client that follows the conversation.
type follower struct{ sent int64 } // the newest entry that it got

// Serve serves a conversation, which this process has open, below Tenon's data directory, until the server is closed. Owner names the frontend
// for people. Serve replaces the socket of a process that was killed, or that has lost the session. Errors: [ErrUnsupported], [ErrRefused] if
// the directory of the sockets belongs to another account, and those of the file system.
func Serve(c conversation.Conversation, dataDir string, id session.SessionID, owner string) (*Server, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	s := &Server{conversation: c, operations: operations(), free: make(chan struct{}, maxConnections)}
	s.followers, s.moved = make(map[*follower]bool), make(chan struct{}, 1)
	s.session = Session{ID: id, Owner: owner, PID: os.Getpid(), Path: Path(dataDir, id)}
	err := s.listen(Dir(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = s.listen(Dir(dataDir)) // another process has just removed the empty directory
	}
	if err != nil {
		return nil, fmt.Errorf("cannot serve session %s: %w", id, err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.works.Go(s.accept)
	return s, nil
}

// listen makes the socket. It gets its name when it is ready, so that a client never finds it too early.
func (s *Server) listen(dir string) error {
	if err := makeDir(dir); err != nil {
		return err
	}
	name := fmt.Sprintf("%s/%s.%d", dir, s.session.ID, s.session.PID)
	_ = os.Remove(name) // of a killed process with the same number
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	s.listener = l
	if err = os.Chmod(name, 0o600); err == nil {
		err = os.Rename(name, s.session.Path)
	}
	if err == nil {
		s.file, err = os.Lstat(s.session.Path)
	}
	if err != nil {
		return errors.Join(err, l.Close(), os.Remove(name))
	}
	return nil
}

// Session returns the session and its socket.
func (s *Server) Session() Session { return s.session }

// Close ends all operations and connections, and waits for them. It removes the socket. The conversation stays open. Close may be called twice.
func (s *Server) Close() error {
	if s.ctx.Err() != nil {
		return nil
	}
	s.drain()
	s.stop()
	err := s.listener.Close()
	s.works.Wait()
	if now, failed := os.Lstat(s.session.Path); failed == nil && os.SameFile(now, s.file) {
		err = errors.Join(err, os.Remove(s.session.Path))
	}
	if dir := filepath.Dir(s.session.Path); filepath.Base(dir) != DirName {
		_ = os.Remove(dir) // in /tmp, if it is empty
	}
	return err
}

// drain waits a moment until the clients have the newest entry, so that they see the end of a run before its process is gone.
func (s *Server) drain() {
	ctx, cancel := context.WithTimeout(s.ctx, farewell)
	defer cancel()
	state, err := s.conversation.State(ctx)
	if err != nil {
		return
	}
	for s.behind(state.Seq) {
		select {
		case <-s.moved:
		case <-ctx.Done():
			return
		}
	}
}

// behind reports whether a follower has not got an entry.
func (s *Server) behind(entry int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.followers {
		if f.sent < entry {
			return true
		}
	}
	return false
}

// progress notes the newest entry that a follower got; with left, it has gone.
func (s *Server) progress(f *follower, sent int64, left bool) {
	s.mu.Lock()
	f.sent = max(f.sent, sent)
	if s.followers[f] = true; left {
		delete(s.followers, f)
	}
	s.mu.Unlock()
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

func (s *Server) accept() {
	for {
		select {
		case s.free <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		conn, err := s.listener.AcceptUnix()
		if err != nil {
			<-s.free
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			select { // such as too many open files
			case <-time.After(100 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		s.works.Go(func() {
			defer func() { <-s.free }()
			defer conn.Close()
			s.serve(conn)
		})
	}
}

// serve carries out the operation of a connection.
func (s *Server) serve(conn *net.UnixConn) {
	defer context.AfterFunc(s.ctx, func() { _ = conn.Close() })()
	if err := checkPeer(conn); err != nil {
		answer(conn, reply{Error: faultOf(err), Done: true})
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	reader := bufio.NewReader(conn)
	line, err := readLine(reader, maxLine)
	if err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	c, err := parse(line)
	if err != nil {
		answer(conn, reply{Error: faultOf(err), Done: true})
		return
	}
	if c.Op == "hello" {
		data, err := json.Marshal([]any{s.session})
		answer(conn, reply{Result: data, Error: faultOf(err), Done: true})
		return
	}
	op, ok := s.operations[c.Op]
	if !ok {
		answer(conn, reply{Error: faultOf(&coded{"attach.protocol", fmt.Sprintf("unknown operation %q", c.Op)}), Done: true})
		return
	}
	ctx, cancel := context.WithCancel(conversation.WithSpeaker(s.ctx, session.Speaker{Kind: session.SpeakerPerson, Name: c.Name}))
	defer cancel()
	s.works.Go(func() { // until the connection is closed
		line, err := readLine(reader, maxName)
		var wish cancellation
		if err == nil && json.Unmarshal(line, &wish) == nil && wish.Cancel || err != nil && c.Op == "follow" { // other operations continue: they may have had effects
			cancel()
		}
	})
	emit := func(e session.Event) error { return answer(conn, reply{Event: &e}) }
	if c.Op == "follow" {
		var after []int64
		_ = json.Unmarshal(c.Args, &after) // the operation reports a mistake
		f := &follower{}
		s.progress(f, append(after, 0)[0], false)
		defer s.progress(f, 0, true)
		send := emit
		emit = func(e session.Event) error {
			err := send(e)
			s.progress(f, e.Seq, false)
			return err
		}
	}
	answer(conn, s.carryOut(ctx, op, c.Args, emit))
}

// carryOut returns the end of an operation. A panic of it is an error: the run of the conversation goes on.
func (s *Server) carryOut(ctx context.Context, method any, args json.RawMessage, emit func(session.Event) error) (end reply) {
	defer func() {
		if p := recover(); p != nil {
			end = reply{Error: faultOf(&coded{"attach.panic", fmt.Sprintf("the operation panicked: %v\n%s", p, debug.Stack())}), Done: true}
		}
	}()
	results, err := perform(ctx, s.conversation, method, args, emit)
	data, failed := json.Marshal(results)
	if err == nil {
		err = failed
	}
	return reply{Result: data, Error: faultOf(err), Done: true}
}

// answer sends a reply. If a reply is too long, it sends an error in its place.
func answer(conn net.Conn, r reply) error {
	line, err := encode(r)
	if errors.Is(err, errLong) {
		line, _ = encode(reply{Error: faultOf(&coded{"attach.long", "the answer is too long for another process"}), Done: true})
		_, _ = conn.Write(line)
		return err
	}
	if err == nil {
		_, err = conn.Write(line)
	}
	return err
}
