package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/tenon-agent/tenon/workspace/host"
)

// proxy lets a command reach the hosts that its policy lists, and notes what it refused. It listens inside the network
// namespace of the command and dials outside of it. It speaks HTTP, CONNECT and SOCKS5.
type proxy struct {
	hosts   host.List
	control io.Closer
	ctx     context.Context // ends with close
	cancel  context.CancelFunc
	served  sync.WaitGroup
	slots   chan struct{} // bounds the connections

	mu    sync.Mutex
	open  map[net.Conn]bool // nil after close
	inner []net.Listener
	log   []Blocked
}

const (
	maxConns   = 256
	maxRefused = 1000
	patience   = 30 * time.Second // for a request to be said, and for a host to answer
)

// refusal is why the proxy did not connect.
type refusal struct{ host, why string }

func (r *refusal) Error() string {
	return "the sandbox does not let this command reach " + r.host + ": " + r.why
}

// newProxy makes a proxy that serves the first of the listeners which receive returns, once it does; the others are relays. Closing
// control makes receive return.
func newProxy(texts []string, control io.Closer, receive func() ([]net.Listener, error)) (*proxy, error) {
	list, err := host.Parse(texts...)
	if err != nil {
		return nil, err
	}
	p := newRelays(list)
	p.control = control
	p.served.Go(func() {
		listeners, err := receive()
		if err != nil {
			return
		}
		for _, l := range listeners[1:] {
			p.served.Go(func() { p.relay(l) })
		}
		p.serve(listeners[0])
	})
	return p, nil
}

// newRelays makes a proxy that serves nothing yet.
func newRelays(list host.List) *proxy {
	p := &proxy{hosts: list, slots: make(chan struct{}, maxConns), open: map[net.Conn]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// serve accepts until the listener is closed. All that it was asked for is answered by one HTTP server, unless it is SOCKS.
func (p *proxy) serve(l net.Listener) {
	if !p.keep(l) {
		l.Close()
		return
	}
	web := &queue{conns: make(chan net.Conn), done: p.ctx.Done(), addr: l.Addr()}
	transport := &http.Transport{DialContext: p.dialContext, DisableKeepAlives: true, ResponseHeaderTimeout: 5 * time.Minute}
	server := &http.Server{
		Handler: p.handler(transport), ReadHeaderTimeout: patience, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return p.ctx }, ConnState: p.serving,
	}
	p.served.Go(func() { _ = server.Serve(web) })
	defer server.Close()
	p.accept(l, func(c net.Conn) { p.sniff(c, web) })
}

// serving counts the goroutines of the HTTP server, for which its Close does not wait: after some errors they linger for half a second.
func (p *proxy) serving(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		p.served.Add(1)
	case http.StateClosed, http.StateHijacked: // connect counts itself
		p.served.Done()
	}
}

// accept takes connections until the listener is closed, as many at a time as there are slots. Who serves one gives its slot back.
func (p *proxy) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			c.Close()
			return
		}
		p.served.Go(func() { serve(c) })
	}
}

// sniff looks at the first byte of a connection.
func (p *proxy) sniff(c net.Conn, web *queue) {
	t := &tracked{Conn: c, in: bufio.NewReader(c)}
	t.gone = func() {
		p.forget(c)
		<-p.slots
	}
	if !p.track(c) {
		t.Close()
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	first, err := t.in.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		t.Close()
	case first[0] == socksVersion:
		defer t.Close()
		_ = c.SetReadDeadline(time.Now().Add(patience))
		p.socks(t, t)
	default:
		select {
		case web.conns <- t:
		case <-p.ctx.Done():
			t.Close()
		}
	}
}

// handler answers what is asked of an HTTP proxy.
func (p *proxy) handler(transport http.RoundTripper) http.Handler {
	forward := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Header.Del("Proxy-Authorization")
		},
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { tell(w, err) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			p.connect(w, r)
		case r.URL.Scheme == "http" && r.URL.Host != "":
			r.Host = r.URL.Host // not another one than is judged
			forward.ServeHTTP(w, r)
		default:
			http.Error(w, "this is a proxy: ask for a whole http address, or CONNECT", http.StatusBadRequest)
		}
	})
}

func tell(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		code, err = http.StatusForbidden, refused
	}
	http.Error(w, err.Error(), code)
}

func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	name, text, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, "CONNECT wants host:port", http.StatusBadRequest)
		return
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		http.Error(w, "CONNECT wants host:port", http.StatusBadRequest)
		return
	}
	out, err := p.dial(name, port)
	if err != nil {
		tell(w, err)
		return
	}
	p.served.Add(1)
	defer p.served.Done()
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		out.Close()
		return
	}
	defer c.Close()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		out.Close()
		return
	}
	p.join(c, buffered, out)
}

// dial connects to a host that is allowed, at an address that is.
func (p *proxy) dial(name string, port int) (net.Conn, error) {
	address := net.JoinHostPort(name, strconv.Itoa(port))
	if listed, _ := p.hosts.Has(address); !listed {
		return nil, p.refuse(address, "it is not among the hosts that commands may reach; "+host.Allow(address))
	}
	var refused *refusal
	d := net.Dialer{Timeout: patience, Control: func(_, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil {
			return err
		}
		if kind := p.hosts.Special(name, at); kind != "" {
			return &refusal{address, fmt.Sprintf("its address %s is not public and not listed (%s); %s", at.Addr(), kind, host.Allow(at.Addr().String()))}
		}
		return nil
	}}
	c, err := d.DialContext(p.ctx, "tcp", address)
	if errors.As(err, &refused) {
		return nil, p.refuse(address, refused.why)
	}
	return c, err
}

func (p *proxy) dialContext(_ context.Context, _, address string) (net.Conn, error) {
	name, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	return p.dial(name, port)
}

func (p *proxy) refuse(address, why string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.log) < maxRefused {
		p.log = append(p.log, Blocked{What: Connect, Host: address, Why: why})
	}
	return &refusal{address, why}
}

// join copies both ways until one side ends.
func (p *proxy) join(c net.Conn, in io.Reader, out net.Conn) {
	defer out.Close()
	if !p.track(out) {
		return
	}
	defer p.forget(out)
	_ = c.SetDeadline(time.Time{})
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(out, in)
		closeWrite(out)
	})
	_, _ = io.Copy(c, out)
	closeWrite(c)
	both.Wait()
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// track lets close end a connection; it reports false when that was called.
func (p *proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		return false
	}
	p.open[c] = true
	return true
}

func (p *proxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *proxy) keep(l net.Listener) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inner = append(p.inner, l)
	return p.open != nil
}

// close ends all connections and waits.
func (p *proxy) close() {
	p.cancel()
	if p.control != nil {
		p.control.Close()
	}
	p.mu.Lock()
	for _, l := range p.inner {
		l.Close()
	}
	for c := range p.open {
		c.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.served.Wait()
}

func (p *proxy) refusals() []Blocked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Blocked(nil), p.log...)
}

// tracked is a connection of which the first byte was looked at.
type tracked struct {
	net.Conn
	in   *bufio.Reader
	once sync.Once
	gone func()
}

func (t *tracked) Read(b []byte) (int, error) { return t.in.Read(b) }

func (t *tracked) CloseWrite() error {
	closeWrite(t.Conn)
	return nil
}

func (t *tracked) Close() error {
	err := t.Conn.Close()
	t.once.Do(t.gone)
	return err
}

// queue is a listener of connections that others accepted.
type queue struct {
	conns chan net.Conn
	done  <-chan struct{}
	addr  net.Addr
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, fmt.Errorf("proxy: %w", net.ErrClosed)
	}
}

func (q *queue) Close() error   { return nil }
func (q *queue) Addr() net.Addr { return q.addr }
