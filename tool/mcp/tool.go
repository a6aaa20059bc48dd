package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// external is a tool of a server, or one of Tenon for its resources.
type external struct {
	server *server
	offer  Offer
	spec   llm.Tool
	as     string // "": the name of the spec
	reads  bool
	own    func(ctx context.Context, arguments json.RawMessage) (tool.Result, error) // instead of a call of the server's tool; nil: none
}

func newExternal(s *server, o Offer, name string) *external {
	text := o.Description
	if text == "" {
		text = "The tool " + clean(o.Name, longestName) + " of the MCP server " + s.Name + "."
	}
	t := &external{server: s, offer: o, spec: llm.Tool{Name: name, Description: text, Schema: o.Schema}, reads: matches(s.ReadOnly, o.Name)}
	if full := fullName(s.Name, o.Name); full != name {
		t.as = full
	}
	return t
}

// Spec implements [tool.Tool].
func (t *external) Spec() llm.Tool { return t.spec }

// Prepare implements [tool.Tool]. It does not connect.
func (t *external) Prepare(_ context.Context, arguments string) (*tool.Call, error) {
	if t.server.off.Load() {
		return nil, &OffError{t.server.Name}
	}
	if arguments == "" {
		arguments = "{}"
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(arguments), &members); err != nil || members == nil {
		return nil, &tool.ArgumentsError{Tool: t.spec.Name, Problems: []string{"the arguments are not one JSON object"}}
	}
	if problems := missing(t.offer.Schema, members); len(problems) > 0 {
		return nil, &tool.ArgumentsError{Tool: t.spec.Name, Problems: problems}
	}
	canonical, err := json.Marshal(members)
	if err != nil {
		return nil, &tool.ArgumentsError{Tool: t.spec.Name, Problems: []string{err.Error()}}
	}
	return &tool.Call{
		Arguments: canonical, Effects: effects(t.reads), As: t.as, Title: tool.Line(string(canonical)),
		Run: func(ctx context.Context, report tool.Report) (tool.Result, error) {
			return t.run(ctx, canonical, report)
		},
	}, nil
}

// effects returns the effects of a call. Those of a server are unknown, unless the person says that it only reads.
func effects(reads bool) tool.Effects {
	if reads {
		return tool.Effects{None: true, Idempotent: true}
	}
	return tool.Effects{Unknown: true, Exclusive: true}
}

func (t *external) run(ctx context.Context, arguments json.RawMessage, report tool.Report) (tool.Result, error) {
	if t.own != nil {
		return t.own(ctx, arguments)
	}
	l, err := t.server.connect(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if err := t.pinned(l); err != nil {
		return tool.Result{}, err
	}
	token, done := l.expect(report)
	defer done()
	defer l.calling(ctx)()
	p := &mcp.CallToolParams{Name: t.offer.Name, Arguments: arguments}
	p.SetProgressToken(token)
	var got *mcp.CallToolResult
	err = t.server.bounded(ctx, l, func(ctx context.Context) (err error) {
		got, err = l.session.CallTool(ctx, p)
		return err
	})
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		l.end()
	}
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil && !l.alive():
		return tool.Result{}, fmt.Errorf("the MCP server %s ended during the call; its effects are unknown. The next call starts the server again: %w", t.server.Name, err)
	case err != nil:
		return tool.Result{}, fmt.Errorf("the MCP server %s: %w", t.server.Name, plainError(err))
	}
	if err := t.pinned(l); err != nil { // it changed during the call
		t.server.log.add("%v", err)
	}
	return t.server.result(ctx, got), nil
}

// pinned returns an error if the server has no longer the tool that the person accepted.
func (t *external) pinned(l *link) error {
	l.mu.Lock()
	hash, there := l.live[t.offer.Name]
	l.mu.Unlock()
	switch {
	case !there:
		return fmt.Errorf("the MCP server %s no longer has the tool %s", t.server.Name, t.offer.Name)
	case hash != t.offer.Hash:
		return &ChangedError{Server: t.server.Name, Tool: t.offer.Name}
	}
	return nil
}

// ChangedError reports a call of a tool that is another one than the person accepted.
type ChangedError struct{ Server, Tool string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("the MCP server %s changed its tool %s since you accepted it, so that Tenon does not call it; see: tenon mcp test %s",
		e.Server, e.Tool, e.Server)
}

// Code is the stable code of the error.
func (e *ChangedError) Code() string { return "mcp.changed" }

// expect returns a token for the progress of a call.
func (l *link) expect(report tool.Report) (token string, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens++
	token = strconv.Itoa(l.tokens)
	if report != nil {
		l.progress[token] = report
	}
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.progress, token)
	}
}

// errSlow is the cause of a call that took too long.
var errSlow = errors.New("the server did not answer in time")

// hangTime is how long a call that ended may still hold its goroutine, such as in a write to a server that reads nothing.
const hangTime = 2 * time.Second

// bounded runs one request with the deadline of the server. The time in which the server waits for the person does not count. If the request
// does not return after that, the connection ends, and the request with it.
func (s *server) bounded(ctx context.Context, l *link, request func(context.Context) error) error {
	s.meter.reset()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- request(ctx) }() // every way out of this function waits for it
	clock := time.NewTimer(s.timeout())
	defer clock.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-clock.C:
			if s.asking.Load() > 0 {
				clock.Reset(s.timeout())
				continue
			}
			cancel(fmt.Errorf("%w: the limit is %s", errSlow, s.timeout()))
		case <-ctx.Done():
		}
		break
	}
	select {
	case err := <-done:
		if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
			return cause
		}
		return err
	case <-time.After(hangTime):
		l.cancel()
		l.stop()
		<-done
		return context.Cause(ctx)
	}
}

// plainError returns an error of the SDK as a safe text.
func plainError(err error) error { return errors.New(clean(err.Error(), maxDescription)) }

// Reads reports whether the person says that the tool only reads.
func (t *external) Reads() bool { return t.reads }
