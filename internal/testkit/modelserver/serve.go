package modelserver

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// maxBody is how many bytes a request may have.
const maxBody = 64 << 20

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t, ok := route(r.URL)
	if !ok || r.Method != http.MethodPost {
		s.discover(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	req := &Request{
		Protocol: t.protocol, Azure: t.azure || r.Header.Get("Api-Key") != "", Method: r.Method, Path: r.URL.EscapedPath(),
		Query: r.URL.Query(), Header: r.Header.Clone(), Body: body, Key: keyOf(r), Model: t.model, Stream: t.stream,
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		s.refuse(w, req, http.StatusRequestEntityTooLarge, err)
		return
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the client left while it asked
	}
	if status, err := s.authorize(r, req); err != nil {
		s.refuse(w, req, status, err)
		return
	}
	req.read()
	if err := s.config.Rules.Check(t.protocol, r, body); err != nil {
		s.refuse(w, req, http.StatusBadRequest, err)
		return
	}
	if s.config.Rules.BoundThinking {
		if err := s.checkBound(req); err != nil {
			s.refuse(w, req, http.StatusBadRequest, err)
			return
		}
	}
	if req.Tokens = s.count(req); s.refuseFull(w, req) {
		return
	}
	s.record(req)
	o := &output{s: s, w: w, r: r, req: req, wire: wireOf(t.protocol, s.config)}
	o.play(s.next(req))
}

// refuse answers a request that is the client's fault.
func (s *Server) refuse(w http.ResponseWriter, req *Request, status int, err error) {
	if status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge {
		req.Violation = err
	}
	s.record(req)
	o := &output{s: s, w: w, req: req}
	o.fail(Fail(status).Message(err.Error()))
}

// authorize checks the key. A provider answers a wrong one with the status that it returns.
func (s *Server) authorize(r *http.Request, req *Request) (status int, err error) {
	status = http.StatusUnauthorized
	switch req.Protocol {
	case Bedrock:
		status = http.StatusForbidden
		if err := s.checkSignature(r, req); err != nil {
			return status, err
		}
	case Gemini:
		status = http.StatusBadRequest
	case GeminiVertex, AnthropicVertex:
		if req.Key == "" {
			return status, errors.New("the request is missing its authentication credential")
		}
	}
	if len(s.config.Keys) > 0 && !slices.Contains(s.config.Keys, req.Key) {
		return status, errors.New("API key not valid")
	}
	return 0, nil
}

// output is one answer under way.
type output struct {
	s    *Server
	w    http.ResponseWriter
	r    *http.Request
	req  *Request
	wire wire
}

// wait waits and reports whether the client is still there.
func (o *output) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-o.r.Context().Done():
	case <-o.s.done:
	}
	return false
}

// stall waits until the client leaves or the server closes, showing life when it is asked to. The answer never ends well.
func (o *output) stall(pings bool) {
	if pings && o.wire.ping != nil {
		every := o.s.config.PingEvery
		if every <= 0 {
			every = 50 * time.Millisecond
		}
		for o.wait(every) && o.write(o.wire.ping()) == nil {
		}
	}
	select {
	case <-o.r.Context().Done():
	case <-o.s.done:
	}
	o.cut()
}

// write sends data at once, or in pieces if the server is configured so.
func (o *output) write(data []byte) error {
	size := o.s.config.ChunkBytes
	if size <= 0 {
		size = max(1, len(data))
	}
	for chunk := range slices.Chunk(data, size) {
		if _, err := o.w.Write(chunk); err != nil {
			return err
		}
		o.flush()
	}
	return nil
}

// flush ignores writers that cannot.
func (o *output) flush() { _ = http.NewResponseController(o.w).Flush() }

// fill sends n bytes of filler.
func (o *output) fill(n int64) error {
	block := make([]byte, 64<<10)
	for i := range block {
		block[i] = 'a'
	}
	for n > 0 {
		part := block[:min(n, int64(len(block)))]
		if _, err := o.w.Write(part); err != nil {
			return err
		}
		n -= int64(len(part))
		select {
		case <-o.s.done:
			return http.ErrServerClosed
		default:
		}
	}
	return nil
}

// reset ends the connection so that the client gets an error at once. What was written before may be lost.
func (o *output) reset() {
	conn, _, err := http.NewResponseController(o.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // no connection of our own: end it as the server can
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // a close then sends a reset
	}
	_ = conn.Close()
}

// cut ends the connection in order, but the body without its end. It does not return.
func (o *output) cut() { panic(http.ErrAbortHandler) }

// head writes status and headers.
func (o *output) head(step Step, status int, mime string) {
	h := o.w.Header()
	if mime != "" {
		h.Set("Content-Type", mime)
	} else {
		h["Content-Type"] = nil
	}
	switch o.req.Protocol {
	case Anthropic, AnthropicVertex:
		h.Set("Request-Id", requestID)
	case OpenAIChat, OpenAIResponses:
		h.Set("X-Request-Id", requestID)
		if o.req.Azure {
			h.Set("Apim-Request-Id", requestID)
		}
	case Bedrock:
		h.Set("X-Amzn-Requestid", requestID)
	}
	step.setHeaders(h, o.req.Protocol)
	o.w.WriteHeader(status)
}

// fail answers with a status and the body that belongs to it.
func (o *output) fail(step Step) {
	if step.isRaw {
		o.head(step, step.status, step.rawType)
		_ = o.write([]byte(step.raw)) // a client that left does not care
		return
	}
	body, header := failure(o.req, step.status, step.text, step.retry)
	for name, values := range header {
		o.w.Header()[name] = values
	}
	o.head(step, step.status, "application/json")
	_ = o.write(encode(body))
}

// play does what the step says.
func (o *output) play(step Step) {
	if step.delay > 0 && !o.wait(step.delay) {
		o.cut()
	}
	if !step.answers() {
		o.fail(step)
		return
	}
	switch step.fault {
	case ResetBeforeHeaders:
		o.reset()
		return
	case StallBeforeHeaders:
		o.stall(false)
		return
	case HTML:
		o.head(step, http.StatusOK, "text/html; charset=utf-8")
		_ = o.write([]byte(page))
		return
	case Empty:
		step.message = llm.Message{Role: llm.RoleAssistant, Usage: step.message.Usage}
	}
	mime := "application/json"
	if o.req.Stream {
		mime = o.wire.mime
	}
	if step.fault == WrongType {
		mime = "application/octet-stream"
	}
	o.head(step, http.StatusOK, mime)
	o.flush()
	o.body(step)
}
