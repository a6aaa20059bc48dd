package attach

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/undo"
)

// Client is a conversation that another process has open. If that process ends, operations return an [ErrGone]. When another process serves the
// session later, the client continues with that one. All methods are safe for concurrent use.
//
// If the context of an operation ends, the operation ends in the other process too. If the process of the client dies, its runs and commands
// continue.
type Client struct {
	session Session
	name    string
	ctx     context.Context
	close   context.CancelCauseFunc
}

var _ conversation.Conversation = (*Client)(nil)

// Dial connects to the process that serves a session below Tenon's data directory. Name is the name of this frontend for the people at the
// others. Errors: [ErrGone], [ErrRefused], [ErrUnsupported].
func Dial(ctx context.Context, dataDir string, id session.SessionID, name string) (*Client, error) {
	if !supported {
		return nil, ErrUnsupported
	}
	c := &Client{session: Session{ID: id, Path: Path(dataDir, id)}, name: name}
	c.ctx, c.close = context.WithCancelCause(context.WithoutCancel(ctx))
	s, err := get[Session](ctx, c, "hello")
	if err != nil {
		return nil, err
	}
	if s.ID != id {
		return nil, fmt.Errorf("%w: the socket is that of session %s", ErrGone, s.ID)
	}
	c.session.Owner, c.session.PID = s.Owner, s.PID
	return c, nil
}

// Session returns the session and the process that had it open when the client connected.
func (c *Client) Session() Session { return c.session }

// Close implements [conversation.Conversation]: it ends the operations of this client that only read. The session stays open.
func (c *Client) Close() error {
	c.close(net.ErrClosed)
	return nil
}

// exchange is a connection for one operation.
type exchange struct {
	conn   net.Conn
	reader *bufio.Reader
}

// open sends an operation.
func (c *Client) open(ctx context.Context, op string, args []any) (*exchange, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	line, err := encode(call{protocol, c.name, op, data})
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.session.Path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.session.gone(err)
	}
	x := &exchange{conn, bufio.NewReader(conn)}
	// The server checks who connects, also while this process sends.
	if err := checkPeer(conn.(*net.UnixConn)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })
	_, err = conn.Write(line)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) && ctx.Err() == nil { // the server may have refused before it read all
		if r, failed := x.next(); failed == nil && r.Error != nil {
			err = r.Error.err()
		} else {
			err = c.session.gone(err)
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return x, nil
}

// gone is the error of a connection that cannot be made or has ended.
func (s Session) gone(cause error) error {
	return fmt.Errorf("session %s: %w: %w", s.ID, ErrGone, cause)
}

// next reads a reply.
func (x *exchange) next() (r reply, err error) {
	line, err := readLine(x.reader, maxLine)
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err == nil && !r.Done && r.Event == nil {
		err = errors.New("the reply has no event and no end")
	}
	return r, err
}

// cancel asks the server to end the operation.
func (x *exchange) cancel() {
	if line, err := encode(cancellation{true}); err == nil {
		_ = x.conn.SetWriteDeadline(time.Now().Add(time.Second)) // the server reads at once, unless it is stopped
		_, _ = x.conn.Write(line)
	}
}

// invoke carries out an operation. It sets the results that the operation has, also those of an error.
func invoke(ctx context.Context, c *Client, op string, args []any, results ...any) error {
	for r, err := range c.replies(ctx, op, args, false) {
		var all []json.RawMessage
		if len(r.Result) > 0 {
			if failed := json.Unmarshal(r.Result, &all); failed != nil {
				return fmt.Errorf("cannot read the answer of the other process: %w", failed)
			}
		}
		for i, result := range results[:min(len(results), len(all))] {
			if string(all[i]) == "null" {
				continue
			}
			if failed := json.Unmarshal(all[i], result); failed != nil {
				return fmt.Errorf("cannot read the answer of the other process: %w", failed)
			}
		}
		return err
	}
	return nil
}

// get carries out an operation with one result.
func get[R any](ctx context.Context, c *Client, op string, args ...any) (result R, err error) {
	err = invoke(ctx, c, op, args, &result)
	return result, err
}

// do carries out an operation without a result.
func do(ctx context.Context, c *Client, op string, args ...any) error {
	return invoke(ctx, c, op, args)
}

// both returns a context that ends with ctx and with the client.
func both(ctx context.Context, c *Client) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// replies carries out an operation and yields its replies. If it ends itself, an end of ctx is only a wish, and its last replies follow.
func (c *Client) replies(ctx context.Context, op string, args []any, ends bool) iter.Seq2[reply, error] {
	return func(yield func(reply, error) bool) {
		ctx, end := both(ctx, c)
		defer end()
		x, err := c.open(ctx, op, args)
		if err != nil {
			yield(reply{}, err)
			return
		}
		defer x.conn.Close()
		stop := context.AfterFunc(ctx, func() {
			if x.cancel(); !ends || c.ctx.Err() != nil {
				_ = x.conn.Close()
			}
		})
		defer stop()
		for {
			r, err := x.next()
			switch {
			case err != nil && ctx.Err() != nil:
				err = context.Cause(ctx)
			case err != nil:
				err = c.session.gone(err)
			case r.Done:
				err = r.Error.err()
			}
			if !yield(r, err) || err != nil || r.Done {
				return
			}
		}
	}
}

// events carries out an operation that yields events.
func events(ctx context.Context, c *Client, op string, args any, ends bool) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for r, err := range c.replies(ctx, op, []any{args}, ends) {
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			if r.Done || !yield(*r.Event, nil) {
				return
			}
		}
	}
}

// Each of these methods implements that of [conversation.Conversation] by the operation of its name.

func (c *Client) State(ctx context.Context) (conversation.State, error) {
	return get[conversation.State](ctx, c, "state")
}

func (c *Client) Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error] {
	return events(ctx, c, "follow", after, false)
}

func (c *Client) Prompt(ctx context.Context, p conversation.Prompt) (conversation.Prompted, error) {
	return get[conversation.Prompted](ctx, c, "prompt", p)
}

func (c *Client) Run(ctx context.Context, p conversation.Prompt) iter.Seq2[session.Event, error] {
	return events(ctx, c, "run", p, true)
}

func (c *Client) Edit(ctx context.Context, draft session.ID, m llm.Message) error {
	return do(ctx, c, "edit", draft, m)
}

func (c *Client) Move(ctx context.Context, draft session.ID, lane session.Source, before session.ID) error {
	return do(ctx, c, "move", draft, lane, before)
}

func (c *Client) Answer(ctx context.Context, question string, answers ...ask.Answer) error {
	return do(ctx, c, "answer", question, answers)
}

// Rewind implements [conversation.Conversation]. The plan cannot be applied.
func (c *Client) Rewind(ctx context.Context, b conversation.Back) (*undo.Plan, error) {
	return get[*undo.Plan](ctx, c, "rewind", b)
}

func (c *Client) Compact(ctx context.Context, focus string) (e *session.Event, warnings []conversation.Warning, err error) {
	err = invoke(ctx, c, "compact", []any{focus}, &e, &warnings)
	return e, warnings, err
}

func (c *Client) Trim(ctx context.Context) (*session.Event, error) {
	return get[*session.Event](ctx, c, "trim")
}

func (c *Client) Command(ctx context.Context, line string) (session.Event, error) {
	return get[session.Event](ctx, c, "command", line)
}

func (c *Client) Pin(ctx context.Context, entry session.ID, pinned bool) error {
	return do(ctx, c, "pin", entry, pinned)
}

func (c *Client) Window(ctx context.Context) (conversation.ContextWindow, error) {
	return get[conversation.ContextWindow](ctx, c, "window")
}

func (c *Client) Rules(ctx context.Context) ([]conversation.Rule, error) {
	return get[[]conversation.Rule](ctx, c, "rules")
}

func (c *Client) Fork(ctx context.Context, at session.ID) (session.SessionID, error) {
	return get[session.SessionID](ctx, c, "fork", at)
}

func (c *Client) Abort(ctx context.Context) error { return do(ctx, c, "abort") }

func (c *Client) Remove(ctx context.Context, draft session.ID) error {
	return do(ctx, c, "remove", draft)
}

func (c *Client) Set(ctx context.Context, change session.Change) error {
	return do(ctx, c, "set", change)
}

func (c *Client) Rename(ctx context.Context, title string) error { return do(ctx, c, "rename", title) }

func (c *Client) Revoke(ctx context.Context, rule string) error { return do(ctx, c, "revoke", rule) }

func (c *Client) EndJob(ctx context.Context, job string) error { return do(ctx, c, "end_job", job) }
