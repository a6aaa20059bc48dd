package modelserver

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Reasoning says where an answer in OpenAI Chat has its reasoning.
type Reasoning string

// The places.
const (
	ReasoningContent Reasoning = "reasoning_content" // DeepSeek, xAI, Z.ai, vLLM and others; the default
	ReasoningField   Reasoning = "reasoning"         // Groq, Ollama
	ReasoningDetails Reasoning = "reasoning_details" // OpenRouter, in addition to reasoning
	ReasoningTags    Reasoning = "think_tags"        // <think> at the start of the text
)

// Config is how a server behaves. The zero value speaks as the first provider of each protocol does.
type Config struct {
	Rules      Rules
	Keys       []string // the keys that are accepted; none: all are, and none is needed
	Models     []string // models in the lists; none: test-model
	Secret     string   // secret of the AWS access key, which is Keys[0]: signatures are verified, otherwise only their shape is checked
	DeltaBytes int      // bytes of text in one delta; 0: 12
	ChunkBytes int      // bytes of each write, also within a character; 0: an event at once

	// Window is the tokens of the context window: a longer request is refused, see [Tokens]; 0: none is. In the protocol of Ollama, num_ctx of a
	// request takes its place, and a request without truncate of false is answered and counts as a violation: Ollama drops messages.
	Window     int
	Vocabulary float64 // tokens of this server for one of [Tokens]; 0: 1

	Reasoning    Reasoning     // OpenAI Chat
	NoDone       bool          // OpenAI Chat: no [DONE] at the end
	NoUsage      bool          // OpenAI Chat: no usage
	NoEventLines bool          // Anthropic, Responses: only data lines
	CallIDs      bool          // Gemini: calls have ids
	Comments     bool          // SSE comments before the first event
	PingEvery    time.Duration // of a stall with pings; 0: 50 ms
}

// Option changes a [Server].
type Option func(*Server)

// Steps answers the requests one after the other. A request that breaks the rules of its protocol takes no step. One beyond
// the last step gets a 400 that says so, and counts as a violation.
func Steps(steps ...Step) Option { return func(s *Server) { s.steps = append(s.steps, steps...) } }

// StepsFor is [Steps] for the requests that name the model.
func StepsFor(model string, steps ...Step) Option {
	return func(s *Server) { s.byModel[model] = append(s.byModel[model], steps...) }
}

// Func answers each request with what f returns. It may be called concurrently.
func Func(f func(*Request) Step) Option { return func(s *Server) { s.choose = f } }

// With sets how the server behaves.
func With(c Config) Option { return func(s *Server) { s.config = c } }

// Server is a stand-in for every provider, on a port of 127.0.0.1. It is safe for concurrent use.
type Server struct {
	URL string // such as http://127.0.0.1:43123, to which any prefix may be added

	config Config
	choose func(*Request) Step
	done   chan struct{}
	http   *http.Server
	served sync.WaitGroup
	close  func() error

	mu         sync.Mutex
	steps      []Step
	byModel    map[string][]Step
	requests   []*Request
	violations []error
	bound      bound
}

// New starts a server that ends with the test.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s, err := Start(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Start starts a server. Its caller closes it.
func Start(opts ...Option) (*Server, error) {
	s := NewHandler(opts...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("modelserver: %w", err)
	}
	s.URL = "http://" + l.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.served.Go(func() { _ = s.http.Serve(l) }) // it ends with ErrServerClosed
	return s, nil
}

// NewHandler returns a server that listens nowhere: it is an [http.Handler] for a listener of the caller's.
func NewHandler(opts ...Option) *Server {
	s := &Server{done: make(chan struct{}), byModel: map[string][]Step{}, bound: bound{}}
	s.close = sync.OnceValue(func() error {
		close(s.done)
		if s.http == nil {
			return nil
		}
		err := s.http.Close()
		s.served.Wait()
		return err
	})
	for _, o := range opts {
		o(s)
	}
	return s
}

// Close ends all stalls and connections and waits for the listener. Closing again does nothing.
func (s *Server) Close() error { return s.close() }

// Requests returns the requests of models that came so far, refused ones too.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Violations returns what was wrong with the requests that came so far. Most tests want none at their end.
func (s *Server) Violations() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Left returns how many steps were not played yet.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.steps)
	for _, steps := range s.byModel {
		n += len(steps)
	}
	return n
}

func (s *Server) record(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if r.Violation != nil {
		s.violations = append(s.violations, fmt.Errorf("request %d (%s): %w", len(s.requests), r.Protocol, r.Violation))
	}
}

// next takes the step for a request.
func (s *Server) next(r *Request) Step {
	if step, ok := s.take(r.Model); ok {
		return step
	}
	if s.choose != nil {
		return s.choose(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := fmt.Errorf("request %d (%s): the script of this test ran out", len(s.requests), r.Protocol)
	s.violations = append(s.violations, err)
	return Fail(http.StatusBadRequest).Message(err.Error())
}

// take returns the next step for a model and removes it.
func (s *Server) take(model string) (step Step, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if steps := s.byModel[model]; len(steps) > 0 {
		s.byModel[model] = steps[1:]
		return steps[0], true
	}
	if len(s.steps) > 0 {
		step, s.steps = s.steps[0], s.steps[1:]
		return step, true
	}
	return Step{}, false
}

// newAnswer completes a message for a request.
func (s *Server) newAnswer(r *Request, m llm.Message) *answer {
	a := &answer{req: r, config: s.config, seed: seed(r.Body), usage: m.Usage, stop: m.Stop, content: slices.Clone(m.Content)}
	if a.config.DeltaBytes == 0 {
		a.config.DeltaBytes = 12
	}
	if a.usage == (llm.Usage{}) {
		a.usage = llm.Usage{Input: 25, Output: 12}
	}
	stop := llm.StopEnd
	for i, p := range a.content {
		switch p := p.(type) {
		case llm.ToolCall:
			stop = llm.StopCalls
			if p.ID == "" {
				p.ID = fmt.Sprintf("%s%s%02d", callPrefix(r.Protocol), a.seed, i)
			}
			a.content[i] = p
		case llm.Thinking:
			if p.Signature == "" && len(p.Opaque) == 0 {
				p.Signature = sign(r.Protocol, p.Text)
			}
			a.content[i] = p
		}
	}
	if a.stop == "" {
		a.stop = stop
	}
	if s.config.Rules.BoundThinking {
		s.bind(r, a.content)
	}
	return a
}

func callPrefix(p Protocol) string {
	switch p {
	case Anthropic, AnthropicVertex:
		return "toolu_"
	case Bedrock:
		return "tooluse_"
	default:
		return "call_"
	}
}
