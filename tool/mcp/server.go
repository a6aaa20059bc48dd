//lint:file-ignore SA1019 servers of earlier versions of the protocol have roots and log messages

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/tool"
)

// older is the newest version of the protocol that begins with initialize. Some servers do not answer the question for a newer one.
const older = "2025-11-25"

// The times of connections.
const (
	defaultStart   = 30 * time.Second
	defaultTimeout = 5 * time.Minute
	firstWait      = time.Second // after the first failure; it doubles with each
	longestWait    = time.Minute
	probe          = 5 * time.Second // for the answer to the newest version
)

// server is a server with its connection.
type server struct {
	Server
	client *Client
	file   string // of its memory; "": none
	log    *journal
	meter  meter
	off    atomic.Bool
	asking atomic.Int32 // questions of the server that wait for the person

	turn chan struct{} // held by who connects or disconnects

	mu       sync.Mutex
	read     bool // memory is what the file has
	memory   *memory
	link     *link // nil: it is not connected
	err      error // of the last connection
	failures int
	next     time.Time // no earlier attempt
}

// link is one connection.
type link struct {
	session *mcp.ClientSession
	stop    func() // ends the process or the connections at once
	cancel  context.CancelFunc
	gone    chan struct{} // closed when the connection has ended
	over    chan struct{} // closed when nothing of it is left

	mu       sync.Mutex
	live     map[string]string            // the hashes of the tools that the server has now
	progress map[string]func(text string) // by token
	tokens   int
	calls    []*running // that wait for the server
}

func (s *server) timeout() time.Duration { return cmp.Or(s.Timeout, defaultTimeout) }

// remembered returns what is known of the server; nil: nothing.
func (s *server) remembered() *memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.read {
		s.memory, s.read = load(s.file), true
	}
	return s.memory
}

func (s *server) remember(m *memory) {
	s.mu.Lock()
	s.memory, s.read = m, true
	s.mu.Unlock()
	if err := m.save(s.file); err != nil {
		s.log.add("cannot store the list of tools: %v", err)
	}
}

func (s *server) accept() error {
	m := s.remembered()
	if m == nil || m.Pending == nil {
		return nil
	}
	next := *m
	next.Tools, next.Pending = m.Pending, nil
	s.remember(&next)
	return nil
}

// wanted reports whether the person wants the model to have a tool.
func (s *server) wanted(name string) bool {
	return (len(s.Allow) == 0 || matches(s.Allow, name)) && !matches(s.Deny, name)
}

func (s *server) tools() (tools []tool.Tool) {
	m := s.remembered()
	if m == nil {
		return nil
	}
	var all []string
	for _, o := range m.Tools {
		all = append(all, o.Name)
	}
	names := names(s.Name, all)
	for _, o := range m.Tools {
		if s.wanted(o.Name) {
			tools = append(tools, newExternal(s, o, names[o.Name]))
		}
	}
	return append(tools, s.resourceTools()...)
}

func (s *server) status() Status {
	st := Status{Name: s.Name, Tools: []string{}, Off: s.off.Load()}
	if m := s.remembered(); m != nil {
		st.Known, st.Left, st.Resources = true, m.Cut, m.Resources
		for _, o := range m.Tools {
			if s.wanted(o.Name) {
				st.Tools = append(st.Tools, o.Name)
			}
		}
		for _, p := range m.Prompts {
			st.Prompts = append(st.Prompts, p.Name)
		}
		if m.Pending != nil {
			d := compare(m.Tools, m.Pending)
			st.Pending = &d
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		st.Error, st.NeedsLogin = term.OneLine(s.err.Error()), errors.Is(s.err, ErrLogin)
	}
	if l := s.link; l != nil && l.alive() {
		st.Connected, st.Protocol = true, l.session.InitializeResult().ProtocolVersion
	}
	return st
}

func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

// forgive forgets the failures of earlier connections.
func (s *server) forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.next = 0, time.Time{}
}

// connect returns the connection, and makes it if there is none. Callers wait for each other.
func (s *server) connect(ctx context.Context) (*link, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	l, failures, next, last := s.link, s.failures, s.next, s.err
	s.mu.Unlock()
	switch wait := time.Until(next); {
	case s.off.Load():
		return nil, &OffError{s.Name}
	case s.client.ctx.Err() != nil:
		return nil, errClosed
	case l != nil && l.alive():
		return l, nil
	case wait > 0:
		return nil, fmt.Errorf("the MCP server %s failed %s; Tenon tries again in %s: %w", s.Name, tool.Count(failures, "time"), wait.Round(time.Second), last)
	}
	if l != nil {
		l.end()
	}
	l, err := s.dial(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link, s.err = l, err; err == nil {
		s.failures = 0
		return l, nil
	}
	if ctx.Err() == nil {
		s.failures++
		s.next = time.Now().Add(min(firstWait<<min(s.failures-1, 10), longestWait))
	}
	s.log.add("cannot connect: %v", err)
	return nil, fmt.Errorf("cannot connect to the MCP server %s: %w", s.Name, err)
}

// OffError reports a call of a server that is switched off.
type OffError struct{ Server string }

func (e *OffError) Error() string {
	return fmt.Sprintf("the MCP server %s is switched off in this session; a person switches it on with: /mcp %s", e.Server, e.Server)
}

// Code is the stable code of the error.
func (e *OffError) Code() string { return "mcp.off" }

// dial connects with the newest version of the protocol and, if the server does not know it, with an older one.
func (s *server) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(s.Start, defaultStart), errors.New("the server did not answer in time"))
	defer cancel()
	version := ""
	if m := s.remembered(); m != nil {
		version = m.Protocol
	}
	if version == "" {
		first, stop := ctx, context.CancelFunc(func() {})
		if len(s.Command) > 0 { // on the network, a server that does not know the method says so
			first, stop = context.WithTimeoutCause(ctx, min(probe, cmp.Or(s.Start, defaultStart)/2), errors.New("the server did not answer in time"))
		}
		l, err := s.link1(first, "")
		stop()
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrLogin) || errors.Is(err, errNoStart) {
			return l, err
		}
		s.log.add("the newest protocol version fails, trying %s: %v", older, err)
	}
	return s.link1(ctx, older)
}

// errNoStart reports a server that did not start, for which no older version of the protocol helps.
var errNoStart = errors.New("it does not start")

// link1 makes one attempt to connect with a version of the protocol, and reads the lists of the server.
func (s *server) link1(ctx context.Context, version string) (_ *link, err error) {
	s.meter.reset()
	make1 := s.remote
	if len(s.Command) > 0 {
		make1 = s.local
	}
	transport, stop, err := make1(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoStart, err)
	}
	l := &link{stop: stop, gone: make(chan struct{}), over: make(chan struct{}), progress: map[string]func(string){}}
	var life context.Context
	life, l.cancel = context.WithCancel(s.client.ctx)
	defer context.AfterFunc(ctx, func() { l.cancel(); stop() })() // also if the server reads nothing
	l.session, err = s.protocol(l).Connect(life, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		l.cancel()
		stop()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	go func() { // end waits for it
		defer close(l.over)
		_ = l.session.Wait()
		s.log.add("disconnected")
		close(l.gone)
		l.cancel()
		stop()
	}()
	if err := s.discover(ctx, l, version); err != nil {
		l.end()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	s.log.add("connected with protocol %s", l.session.InitializeResult().ProtocolVersion)
	return l, nil
}

// end ends a connection and waits for that.
func (l *link) end() {
	l.cancel()
	l.stop()
	_ = l.session.Close()
	<-l.over
}

// disconnect ends the connection, if there is one, and the server is off or the client has ended.
func (s *server) disconnect() {
	s.turn <- struct{}{} // an attempt to connect ends within its limit, or with the client
	defer func() { <-s.turn }()
	if !s.off.Load() && s.client.ctx.Err() == nil {
		return
	}
	s.mu.Lock()
	l := s.link
	s.link = nil
	s.mu.Unlock()
	if l != nil {
		l.end()
	}
}

// protocol returns the client of the SDK for one connection.
func (s *server) protocol(l *link) *mcp.Client {
	changed := func() {
		s.client.Do(func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, defaultStart)
			defer cancel()
			if err := s.discover(ctx, l, ""); err != nil {
				s.log.add("cannot read the changed lists: %v", err)
			}
		})
	}
	var waiting atomic.Bool // one look at the lists serves all notices that come before it
	once := func() {
		if waiting.CompareAndSwap(false, true) {
			time.AfterFunc(settle, func() {
				waiting.Store(false)
				changed()
			})
		}
	}
	o := &mcp.ClientOptions{
		Capabilities:             &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}},
		ToolListChangedHandler:   func(context.Context, *mcp.ToolListChangedRequest) { once() },
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { once() },
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.log.add("%s: %v", r.Params.Level, r.Params.Data)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { l.report(r.Params) },
	}
	s.elicits(o)
	samples(s, l, o)
	c := mcp.NewClient(&mcp.Implementation{Name: "tenon", Version: cmp.Or(s.client.options.Version, "dev")}, o)
	for _, root := range s.client.options.Roots {
		c.AddRoots(&mcp.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(root)}).String(), Name: filepath.Base(root)})
	}
	return c
}

// settle is the time in which notices of changed lists count as one.
const settle = 100 * time.Millisecond

// report passes the progress of a call on.
func (l *link) report(p *mcp.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	report := l.progress[token]
	l.mu.Unlock()
	if report == nil {
		return
	}
	text := clean(p.Message, maxDescription)
	if p.Total > 0 {
		text = fmt.Sprintf("%.0f%% %s", 100*p.Progress/p.Total, text)
	} else if text == "" {
		text = fmt.Sprintf("%g", p.Progress)
	}
	report(text + "\n")
}

// discover reads the lists of a server and compares the tools with the accepted ones. version is that of the connection; "": unchanged.
func (s *server) discover(ctx context.Context, l *link, version string) error {
	has := l.session.InitializeResult().Capabilities
	if has == nil {
		has = &mcp.ServerCapabilities{}
	}
	var offers []Offer
	cut := 0
	if has.Tools != nil {
		var err error
		if offers, cut, err = listTools(ctx, l.session); err != nil {
			return err
		}
	}
	live := make(map[string]string, len(offers))
	for _, o := range offers {
		live[o.Name] = o.Hash
	}
	l.mu.Lock()
	l.live = live
	l.mu.Unlock()
	was := s.remembered()
	next := memory{Server: s.Name, At: time.Now().UTC().Truncate(time.Second), Tools: offers, Protocol: version, Resources: has.Resources != nil, Cut: cut}
	if has.Prompts != nil {
		next.Prompts = listPrompts(ctx, l.session)
	}
	if was == nil {
		s.remember(&next)
		if f := s.client.options.Learned; f != nil {
			f(s.Name, len(offers))
		}
		return nil
	}
	next.Tools, next.Protocol = was.Tools, cmp.Or(version, was.Protocol)
	d := compare(was.Tools, offers)
	if len(d.Added)+len(d.Changed) > 0 {
		next.Pending = offers
	}
	known := next.Pending == nil || slices.EqualFunc(was.Pending, next.Pending, func(a, b Offer) bool { return a.Name == b.Name && a.Hash == b.Hash })
	s.remember(&next)
	if f := s.client.options.Changed; f != nil && !known {
		f(s.Name, d)
	}
	return nil
}

// listTools returns the tools of a server, and the number of those beyond the limit.
func listTools(ctx context.Context, cs *mcp.ClientSession) (offers []Offer, cut int, err error) {
	cursor := ""
	for range maxPages {
		page, err := cs.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, 0, err
		}
		for _, t := range page.Tools {
			switch {
			case t == nil || t.Name == "" || len(t.Name) > 256:
			case len(offers) >= maxTools:
				cut++
			default:
				offers = append(offers, offerOf(t))
			}
		}
		if cursor = page.NextCursor; cursor == "" || cut > 0 {
			break
		}
	}
	return sorted(offers), cut, nil
}

// listPrompts returns the prompts of a server, as far as it can list them.
func listPrompts(ctx context.Context, cs *mcp.ClientSession) (all []promptInfo) {
	cursor := ""
	for range maxPages {
		page, err := cs.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return all
		}
		for _, p := range page.Prompts {
			if p == nil || p.Name == "" || len(p.Name) > 256 || len(all) >= maxTools {
				continue
			}
			info := promptInfo{Name: p.Name, Description: clean(p.Description, maxDescription)}
			for _, a := range p.Arguments {
				if a != nil && len(info.Arguments) < 32 {
					info.Arguments = append(info.Arguments, Argument{clean(a.Name, longestName), clean(a.Description, maxDescription), a.Required})
				}
			}
			all = append(all, info)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	return all
}
