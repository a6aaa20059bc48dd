package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

const secret = "sk-very-secret-0123456789"

// post sends a request and reads its answer as events, or whole when it is not streamed.
func post(ctx context.Context, e wire.Endpoint) (string, error) {
	header := http.Header{}
	if e.Key != "" {
		header.Set("Authorization", "Bearer "+e.Key)
	}
	resp, err := e.Post(ctx, wire.Request{Model: "test/m", URL: e.URL("", "/v1/chat"), Header: header, Body: []byte(`{}`)})
	if err != nil {
		return "", err
	}
	defer resp.Close()
	if !resp.Streamed {
		data, err := resp.All()
		return string(data), err
	}
	var got []string
	for e, err := range resp.Events() {
		if err != nil {
			return strings.Join(got, " "), err
		}
		got = append(got, string(e.Data))
	}
	resp.Complete()
	return strings.Join(got, " "), nil
}

func reply(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for line := range strings.SplitSeq(header, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const page = `<!DOCTYPE html><html><head><title>Sign  in
to the hotel</title></head></html>`

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		name          string
		handler       http.HandlerFunc
		want, problem string
		kind          llm.Kind
		after         time.Duration
	}{
		{"a stream", reply(200, "Content-Type: text/event-stream; charset=utf-8", "data: a\n\ndata: b\n\n"), "a b", "", "", 0},
		{"a whole answer", reply(200, "Content-Type: application/json", `{"a":1}`), `{"a":1}`, "", "", 0},
		{"a stream under a wrong name", reply(200, "Content-Type: text/plain", "data: a\n\n"), "a", "", "", 0},
		{"JSON under a wrong name", reply(200, "Content-Type: text/plain", ` {"a":1}`), ` {"a":1}`, "", "", 0},
		{"nothing", reply(200, "Content-Type: text/plain", ""), "", "", "", 0},
		{"a page", reply(200, "Content-Type: text/html", page), "", `a web page titled "Sign in to the hotel" where a model's answer`, llm.KindProtocol, 0},
		{"a page under a wrong name", reply(200, "Content-Type: text/plain", page), "", `a web page titled "Sign in`, llm.KindProtocol, 0},
		{"a picture", reply(200, "Content-Type: image/png", "x"), "", "an answer of the type image/png", llm.KindProtocol, 0},
		{"compressed", compressed, "a", "", "", 0},
		{"too many requests", reply(429, "Retry-After: 7", `{"error":{"type":"rate_limit_error","message":"slow"}}`), "", "slow", llm.KindRateLimited, 7 * time.Second},
		{"used up", reply(429, "", `{"error":{"code":"insufficient_quota","message":"pay"}}`), "", "pay", llm.KindQuota, 0},
		{"a gateway's page", reply(502, "Content-Type: text/html", "<html><title>Bad gateway</title></html>"), "", `titled "Bad gateway"`, llm.KindOverloaded, 0},
		{"nothing but a status", reply(503, "", ""), "", "Service Unavailable", llm.KindOverloaded, 0},
		{"too long, without a word", reply(400, "", ""), "", "Bad Request", llm.KindContextOverflow, 0},
		{"sent on", reply(307, "Location: http://elsewhere.example/x?key="+secret, ""), "", "sends requests on to http://elsewhere.example/x?key=[hidden]", llm.KindInvalidRequest, 0},
		{"the key is echoed", reply(401, "", `{"error":{"message":"Incorrect API key provided: `+secret+`"}}`), "", "provided: [hidden]", llm.KindAuth, 0},
		{"a huge error", reply(500, "", strings.Repeat("x", 1<<20)), "", "xxx…", llm.KindOverloaded, 0},
		{"the connection breaks", broken(""), "", "reset", llm.KindNetwork, 0},
		{"the connection breaks in the stream", broken("data: a\n\n"), "a", "closed in the middle", llm.KindNetwork, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := httptest.NewServer(test.handler)
			defer srv.Close()
			got, err := post(t.Context(), wire.Endpoint{BaseURL: srv.URL, Key: secret, HTTP: wire.NewClient(srv.Client().Transport)})
			if test.problem == "" {
				if err != nil || got != test.want {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			problem(t, err, test.kind, test.problem)
			if e := llm.AsError(err); e.RetryAfter != test.after || e.Model != "test/m" {
				t.Errorf("got %+v", e)
			}
			if got != test.want {
				t.Errorf("got %q before the error", got)
			}
		})
	}
}

func problem(t *testing.T, err error, kind llm.Kind, text string) {
	t.Helper()
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != kind || !strings.Contains(e.Error(), text) {
		t.Errorf("got %v (%T), want the kind %s and the text %q", err, err, kind, text)
	}
	for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", e), fmt.Sprint(errors.Unwrap(err))} {
		if strings.Contains(text, secret) {
			t.Errorf("the key is in %s", text)
		}
	}
	if len(fmt.Sprint(err)) > 3000 {
		t.Errorf("the error has %d bytes", len(fmt.Sprint(err)))
	}
}

func compressed(w http.ResponseWriter, _ *http.Request) {
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	_, _ = io.WriteString(z, "data: a\n\n")
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(data.Bytes())
}

// broken sends the beginning of an answer, or nothing, and resets the connection.
func broken(begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		if begin != "" {
			_, _ = fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(begin), begin)
			_ = buf.Flush()
		} else {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		_ = conn.Close()
	}
}

func TestServersThatAreNotThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	_ = listener.Close()
	secure := httptest.NewUnstartedServer(reply(200, "", ""))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that go away
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(reply(200, "", ""))
	defer plain.Close()
	client := wire.NewClient(wire.NewTransport(nil))
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		name, url, text string
		kind            llm.Kind
	}{
		{"no listener", "http://" + nobody, "connection refused", llm.KindNetwork},
		{"no such name", "http://no-such-host.invalid", "no-such-host.invalid cannot be resolved", llm.KindNetwork},
		{"an untrusted certificate", secure.URL, "certificate is not accepted", llm.KindOther},
		{"TLS where there is none", strings.Replace(plain.URL, "http:", "https:", 1), "does not speak TLS", llm.KindOther},
		{"no scheme", "api.example.com", "must begin with http:// or https://", llm.KindInvalidRequest},
		{"no host", "http://", "must begin with http:// or https://", llm.KindInvalidRequest},
		{"no URL", "http://[::1", "not an address", llm.KindInvalidRequest},
		{"a password in text that is not a URL", "http://me:" + secret + "@" + nobody + "x", "not an address", llm.KindInvalidRequest},
		{"a password in the URL", "http://me:" + secret + "@" + nobody, "connection refused", llm.KindNetwork},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := post(t.Context(), wire.Endpoint{BaseURL: test.url, HTTP: client})
			problem(t, err, test.kind, test.text)
		})
	}
}

func TestWhatIsSent(t *testing.T) {
	var got *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Content-Type", "text/event-stream")
	}))
	defer srv.Close()
	e := wire.Endpoint{
		BaseURL: srv.URL + "/prefix/v1/?tenant=7", Key: secret, HTTP: wire.NewClient(srv.Client().Transport),
		Header: http.Header{"x-tenant": {"blue"}, "Authorization": {"Basic other"}},
	}
	if _, err := post(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if got.URL.String() != "/prefix/v1/chat?tenant=7" || got.Method != http.MethodPost {
		t.Errorf("%s %s", got.Method, got.URL)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "X-Tenant": "blue", "Authorization": "Basic other", "User-Agent": "tenon",
		"Accept": "text/event-stream, application/json;q=0.5",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
	e.Authorize = func(r *http.Request, body []byte) error {
		r.Header.Set("Authorization", "Signed "+string(body))
		return nil
	}
	if _, err := post(t.Context(), e); err != nil || got.Header.Get("Authorization") != "Signed {}" {
		t.Error(err, got.Header)
	}
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who is "+r.Header.Get("Authorization")+" of "+r.Header.Get("X-Api-Key")+"?", http.StatusUnauthorized)
	})
	e.Key, e.Header = "", http.Header{"X-Api-Key": {secret}}
	e.Authorize = func(r *http.Request, _ []byte) error {
		r.Header.Set("Authorization", "Bearer "+secret+"-token")
		return nil
	}
	_, err := post(t.Context(), e)
	problem(t, err, llm.KindAuth, "who is [hidden] of [hidden]?")
	e.Authorize = func(*http.Request, []byte) error { return errors.New("no credentials, not even " + secret) }
	e.Key = secret
	_, err = post(t.Context(), e)
	problem(t, err, llm.KindAuth, "no credentials")
	e.Authorize = func(*http.Request, []byte) error {
		return &llm.Error{Kind: llm.KindNetwork, Message: "no token server"}
	}
	_, err = post(t.Context(), e)
	problem(t, err, llm.KindNetwork, "no token server")
}

func TestURL(t *testing.T) {
	for _, test := range []struct{ base, path, want string }{
		{"", "/v1/messages", "https://default.example/v1/messages"},
		{"http://h", "/v1/messages", "http://h/v1/messages"},
		{"http://h/", "/v1/messages", "http://h/v1/messages"},
		{"http://h/v1", "/v1/messages", "http://h/v1/messages"},
		{"http://h/v1/", "/v1/messages", "http://h/v1/messages"},
		{"http://h/api/v1", "/v1/messages", "http://h/api/v1/messages"},
		{"http://h/xv1", "/v1/messages", "http://h/xv1/v1/messages"},
		{"http://h/a?b=c", "/d?e=f", "http://h/a/d?e=f&b=c"},
	} {
		e := wire.Endpoint{BaseURL: test.base}
		if got := e.URL("https://default.example", test.path); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.base, test.path, got, test.want)
		}
	}
}

func TestAProxyOfTheProvider(t *testing.T) {
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		w.Header().Set("Content-Type", "text/event-stream")
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := wire.NewClient(wire.NewTransport(address))
	defer client.CloseIdleConnections()
	if _, err := post(t.Context(), wire.Endpoint{BaseURL: "http://model.invalid", HTTP: client}); err != nil || asked != "http://model.invalid/v1/chat" {
		t.Errorf("the proxy was asked for %q: %v", asked, err)
	}
}

// transport answers without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func streaming(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}
}

// feed is a body whose pieces come after a pause each, and which then stays silent until the request is over.
func feed(ctx context.Context, pause time.Duration, pieces ...string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for _, p := range pieces {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				_ = w.CloseWithError(ctx.Err())
				return
			}
			if _, err := io.WriteString(w, p); err != nil {
				return
			}
		}
		<-ctx.Done()
		_ = w.CloseWithError(ctx.Err())
	}()
	return r
}

func TestSilence(t *testing.T) {
	for _, test := range []struct {
		name     string
		endpoint wire.Endpoint
		answer   transport
		want     string
		text     string
		after    time.Duration
	}{
		{"no headers", wire.Endpoint{}, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, "", "no byte of an answer came for 2m0s", 2 * time.Minute},
		{"headers, and nothing more", wire.Endpoint{}, func(r *http.Request) (*http.Response, error) {
			return streaming(feed(r.Context(), 0)), nil
		}, "", "no byte of an answer came for 2m0s", 2 * time.Minute},
		{"in the stream", wire.Endpoint{}, func(r *http.Request) (*http.Response, error) {
			return streaming(feed(r.Context(), 100*time.Second, "data: a\n\n")), nil
		}, "a", "the answer stopped: nothing came for 1m0s", 160 * time.Second},
		{"comments are life", wire.Endpoint{}, func(r *http.Request) (*http.Response, error) {
			return streaming(feed(r.Context(), 50*time.Second, "data: a\n\n", ": ping\n\n", ": ping\n\n", ": ", "\ndata: b\n\n")), nil
		}, "a b", "nothing came for 1m0s", 310 * time.Second},
		{"other limits", wire.Endpoint{FirstByte: time.Second, Idle: 2 * time.Second}, func(r *http.Request) (*http.Response, error) {
			return streaming(feed(r.Context(), 999*time.Millisecond, "data: a\n\n")), nil
		}, "a", "nothing came for 2s", 2999 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				test.endpoint.HTTP = wire.NewClient(test.answer)
				test.endpoint.BaseURL = "http://model.invalid"
				got, err := post(t.Context(), test.endpoint)
				problem(t, err, llm.KindStalled, test.text)
				if got != test.want || time.Since(start) != test.after {
					t.Errorf("got %q after %s", got, time.Since(start))
				}
			})
		})
	}
}

// What an answer does not need is not waited for long: two seconds, or less where the endpoint says so.
func TestSilenceBehindTheEnd(t *testing.T) {
	for idle, want := range map[time.Duration]time.Duration{0: 2 * time.Second, time.Second: time.Second, -1: 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := wire.Endpoint{BaseURL: "http://model.invalid", Idle: idle, HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
				return streaming(feed(r.Context(), 0, "data: a\n\n")), nil
			}))}
			start := time.Now()
			resp, err := e.Post(t.Context(), wire.Request{Model: "test/m", URL: e.URL("", "/")})
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Close()
			for _, err = range resp.Events() {
				resp.Ending()
			}
			problem(t, err, llm.KindStalled, "nothing came for "+want.String())
			if took := time.Since(start); took != want {
				t.Errorf("with the limit %s it took %s", idle, took)
			}
		})
	}
}

// The status says enough when the text of an error does not come.
func TestAnErrorWithoutItsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		e := wire.Endpoint{BaseURL: "http://model.invalid", HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
			resp := streaming(feed(r.Context(), 0))
			resp.StatusCode = http.StatusServiceUnavailable
			return resp, nil
		}))}
		_, err := post(t.Context(), e)
		problem(t, err, llm.KindOverloaded, "Service Unavailable")
		if time.Since(start) != 5*time.Second {
			t.Errorf("after %s", time.Since(start))
		}
	})
}

// A page or a film in place of an answer is not read to its end.
func TestAnAnswerOfAWrongTypeThatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		e := wire.Endpoint{BaseURL: "http://model.invalid", HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
			resp := streaming(feed(r.Context(), 2*time.Second, "<html>", " ", " ", " ", " ", " "))
			resp.Header.Set("Content-Type", "text/html")
			return resp, nil
		}))}
		_, err := post(t.Context(), e)
		problem(t, err, llm.KindProtocol, "a web page")
		if time.Since(start) != 5*time.Second {
			t.Errorf("after %s", time.Since(start))
		}
	})
}

// A key in the address is one like any other.
func TestAKeyInTheAddress(t *testing.T) {
	e := wire.Endpoint{
		BaseURL: "http://model.invalid/v1?tenant=blue-blue&api_key=" + url.QueryEscape(secret+"/+"),
		HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
			resp := streaming(io.NopCloser(strings.NewReader("")))
			resp.StatusCode = http.StatusFound
			resp.Header.Set("Location", "https://elsewhere.invalid/?"+r.URL.RawQuery+"&is="+r.URL.Query().Get("api_key"))
			return resp, nil
		})),
	}
	_, err := post(t.Context(), e)
	problem(t, err, llm.KindInvalidRequest, "?tenant=blue-blue&api_key=[hidden]&is=[hidden]")
}

// An answer ends somewhere, though each of its lines is short.
func TestAnEndlessAnswer(t *testing.T) {
	e := wire.Endpoint{BaseURL: "http://model.invalid", HTTP: wire.NewClient(transport(func(*http.Request) (*http.Response, error) {
		return streaming(io.NopCloser(&endless{line: ": ping" + strings.Repeat(" ", 1000) + "\n"})), nil
	}))}
	_, err := post(t.Context(), e)
	problem(t, err, llm.KindProtocol, "the answer is longer than 268435456 bytes")
}

func TestNoLimitsOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		e := wire.Endpoint{BaseURL: "http://model.invalid", FirstByte: -1, Idle: -1}
		for _, pieces := range [][]string{{}, {"data: a\n\n"}} {
			e.HTTP = wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
				return streaming(feed(r.Context(), time.Second, pieces...)), nil
			}))
			_, err := post(ctx, e)
			problem(t, err, llm.KindCancelled, "deadline")
		}
	})
}

// Time that the consumer takes is not the server's.
func TestASlowConsumerIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctx context.Context
		e := wire.Endpoint{BaseURL: "http://model.invalid", HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
			ctx = r.Context()
			return streaming(feed(ctx, time.Second, "data: a\n\n", "data: b\n\n")), nil
		}))}
		resp, err := e.Post(t.Context(), wire.Request{Model: "test/m", URL: e.URL("", "/"), Body: nil})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Close()
		time.Sleep(time.Minute)
		n := 0
		for _, err := range resp.Events() {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if ctx.Err() != nil {
				t.Errorf("the request was ended: %v", context.Cause(ctx))
			}
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Errorf("%d events", n)
		}
	})
}

func TestTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, begin := range []string{"", "data: a\n\n"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			e := wire.Endpoint{BaseURL: "http://model.invalid", HTTP: wire.NewClient(transport(func(r *http.Request) (*http.Response, error) {
				return streaming(feed(r.Context(), time.Millisecond, begin)), nil
			}))}
			time.AfterFunc(time.Second, func() { cancel(errors.New("gone")) })
			start := time.Now()
			_, err := post(ctx, e)
			problem(t, err, llm.KindCancelled, "gone")
			if time.Since(start) != time.Second {
				t.Errorf("after %s", time.Since(start))
			}
		}
	})
}

// A complete answer leaves its connection for the next request, even if the consumer does not read to its end.
func TestConnectionsAreUsedAgain(t *testing.T) {
	made := 0
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: last\n\n")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, ": bye\n\n")
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			made++
		}
	}
	srv.Start()
	defer srv.Close()
	client := wire.NewClient(wire.NewTransport(nil))
	defer client.CloseIdleConnections()
	e := wire.Endpoint{BaseURL: srv.URL, HTTP: client}
	for range 3 {
		resp, err := e.Post(t.Context(), wire.Request{URL: e.URL("", "/")})
		if err != nil {
			t.Fatal(err)
		}
		for range resp.Events() {
			resp.Complete()
			break
		}
		resp.Close()
	}
	if made != 1 {
		t.Errorf("%d connections", made)
	}
}
