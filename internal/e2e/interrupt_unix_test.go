//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// ends is how long an interrupted program may take at most in tests on a busy machine: less than any wait that the tests interrupt.
// The log has the real times.
const ends = 30 * time.Second

// moment is when the program is interrupted.
type moment struct {
	name  string
	step  modelserver.Step
	reach string // what standard output has when the moment has come; empty: the request has
}

func moments() []moment {
	return []moment{
		{"no headers", wrong().Fault(modelserver.StallBeforeHeaders), ""},
		{"no first byte", wrong().Fault(modelserver.StallBeforeFirstByte), ""},
		{"stall in the stream", wrong().Fault(modelserver.StallInStream), `"kind":"delta"`},
		{"pings in the stream", wrong().Fault(modelserver.StallInStream).Pings(), `"kind":"delta"`},
		{"an answer without end", wrong().Fault(modelserver.Endless), `"kind":"delta"`},
		{"a wait between tries", modelserver.Fail(529), `"kind":"waiting"`},
		{"a wait that the server asked for", modelserver.Fail(429).RetryAfter(40 * time.Second), `"kind":"waiting"`},
	}
}

// TestAnInterruptEndsEverything interrupts the program wherever it waits, with every protocol, in the second turn of a tool loop.
func TestAnInterruptEndsEverything(t *testing.T) {
	for n, w := range ways() {
		for i, m := range moments() {
			if !w.takes(n, i) {
				continue
			}
			t.Run(w.name+", "+m.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				reached := make(chan struct{}, 1)
				srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
					if len(r.Results()) == 0 {
						return modelserver.Think("Hm.").Call("read", readFact)
					}
					reached <- struct{}{}
					return m.step
				}))
				p.config(fmt.Sprintf(`{"providers": {%q: {"retry": {"delay": "40s", "max_delay": "40s"}}}}`, w.of()))
				c := p.start("run", "--model", w.ref(), "--output", "stream-json", "How many keys?")
				c.reaches(reached)
				if m.reach != "" {
					c.await(m.reach)
				}
				c.interrupt()
				if v := srv.Violations(); len(v) > 0 || len(srv.Requests()) != 2 {
					t.Errorf("%d requests, violations %v", len(srv.Requests()), v)
				}
				journal := p.journal()
				if end := ended(t, journal); end.Reason != session.ReasonCancelled {
					t.Errorf("the journal says that the run ended as %q", end.Reason)
				}
				if n := len(answers(journal)); n != 1 {
					t.Errorf("the journal has %d answers, want that of the first turn alone", n)
				}
				p.keepsSecretOnDisk()
			})
		}
	}
}

// If a person cancels a request after the server has reported the tokens of its prompt, tenon stats has them.
func TestACancelledRequestCounts(t *testing.T) {
	for _, fault := range []modelserver.Fault{modelserver.StallInStream, modelserver.Endless} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			p, w := newProject(t), wayOf(t, "anthropic")
			w.serve(p, modelserver.Steps(wrong().Fault(fault)))
			c := p.start("run", "--model", w.ref(), "--output", "stream-json", "How many keys?")
			c.await(`"kind":"delta"`)
			c.interrupt()
			if requests, _ := p.stats(); len(requests) != 1 || requests[0] != (llm.Usage{Input: 25, Output: 1}) {
				t.Errorf("tenon stats has the requests %+v", requests)
			}
		})
	}
}

// TestAnInterruptEndsTheSearchForCredentials interrupts the program while it waits for what proves who it is.
func TestAnInterruptEndsTheSearchForCredentials(t *testing.T) {
	for name, env := range map[string]func(p *project, reached chan struct{}) (ref string, env []string){
		"a token server that hangs": func(p *project, reached chan struct{}) (string, []string) {
			return "vertex/gemini-3.5-flash", accountOf(p, hangs(p.t, reached), "http://127.0.0.1:1")
		},
		"a token server that hangs, for another protocol": func(p *project, reached chan struct{}) (string, []string) {
			return "vertex/claude-sonnet-4-6", accountOf(p, hangs(p.t, reached), "http://127.0.0.1:1")
		},
		"a metadata server that hangs": func(p *project, reached chan struct{}) (string, []string) {
			return "bedrock/us.anthropic.claude-sonnet-4-6", []string{
				"AWS_CONTAINER_CREDENTIALS_FULL_URI=" + hangs(p.t, reached), "AWS_REGION=us-east-1",
			}
		},
		"a command for credentials that hangs": func(p *project, reached chan struct{}) (string, []string) {
			file := filepath.Join(p.home, "aws")
			p.write(file, "[profile e2e]\ncredential_process = curl -s "+hangs(p.t, reached)+"\n")
			return "bedrock/us.anthropic.claude-sonnet-4-6", []string{
				"AWS_CONFIG_FILE=" + file, "AWS_PROFILE=e2e", "AWS_REGION=us-east-1", "PATH=" + os.Getenv("PATH"),
			}
		},
		"a command for a key that hangs": func(p *project, reached chan struct{}) (string, []string) {
			p.config(`{"providers": {"anthropic": {"api_key": "$(curl -s ` + hangs(p.t, reached) + `)"}}}`)
			return "anthropic/claude-sonnet-4-6", []string{"PATH=" + os.Getenv("PATH")}
		},
		"a proxy that hangs": func(p *project, reached chan struct{}) (string, []string) {
			return "anthropic/claude-sonnet-4-6", []string{"ANTHROPIC_API_KEY=sk-e2e", "HTTPS_PROXY=" + hangs(p.t, reached)}
		},
		"a server that accepts and says nothing of TLS": func(p *project, reached chan struct{}) (string, []string) {
			return "anthropic/claude-sonnet-4-6", []string{"ANTHROPIC_API_KEY=sk-e2e", "ANTHROPIC_BASE_URL=https://" + mute(p.t, reached)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("curl"); err != nil && strings.Contains(name, "command") {
				t.Skip("there is no curl")
			}
			p := newProject(t)
			reached := make(chan struct{}, 1)
			ref, vars := env(p, reached)
			p.env = append(p.env, vars...)
			c := p.start("run", "--model", ref, "--output", "stream-json", "How many keys?")
			c.reaches(reached)
			c.interrupt()
			if end := ended(t, p.journal()); end.Reason != session.ReasonCancelled {
				t.Errorf("the journal says that the run ended as %q", end.Reason)
			}
		})
	}
}

// hangs returns the address of a server that takes requests and does not answer. It reports the first request to reached.
func hangs(t testing.TB, reached chan<- struct{}) string {
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		tell(reached)
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	t.Cleanup(func() {
		close(done)
		srv.Close()
	})
	return srv.URL
}

// mute is the address of a listener that accepts connections and writes nothing.
func mute(t testing.TB, reached chan<- struct{}) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = conn.Close() }()
			tell(reached)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// running is the program while it works.
type running struct {
	p      *project
	cmd    *exec.Cmd
	stdout *bufio.Reader
	told   bytes.Buffer // the part of stdout that was read
	stderr bytes.Buffer
}

func (p *project) start(args ...string) *running {
	p.t.Helper()
	c := &running{p: p, cmd: p.command(p.t.Context(), args...)}
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	c.stdout = bufio.NewReader(io.TeeReader(out, &c.told))
	if err := c.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return c
}

// reaches waits for a moment, and for no longer than a program that never reaches it deserves.
func (c *running) reaches(moment <-chan struct{}) {
	c.p.t.Helper()
	select {
	case <-moment:
	case <-time.After(time.Minute):
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.p.t.Fatalf("the moment never came: %s", c.stderr.String())
	}
}

// await reads lines of standard output until one has text.
func (c *running) await(text string) {
	c.p.t.Helper()
	for {
		line, err := c.stdout.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			c.p.t.Fatalf("%s does not come: %s%s", text, c.told.String(), c.stderr.String())
		}
	}
}

// interrupt interrupts the program, and checks that it ends as one that was interrupted, and soon.
func (c *running) interrupt() {
	t := c.p.t
	t.Helper()
	start := time.Now()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c.stdout); err != nil {
		t.Error(err)
	}
	err := c.cmd.Wait()
	took := time.Since(start)
	t.Logf("ended %.1f ms after the interrupt", float64(took.Microseconds())/1000)
	const interrupted = 130
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != interrupted {
		t.Errorf("it ended with %v; %s", err, c.stderr.String())
	}
	if took > ends {
		t.Errorf("it took %s to end", took)
	}
	if _, end := streamed(t, c.told.String()); end.ExitCode != interrupted {
		t.Errorf("its last line has the exit code %d", end.ExitCode)
	}
	c.p.keepsSecret("standard output", c.told.String())
	c.p.keepsSecret("standard error", c.stderr.String())
}
