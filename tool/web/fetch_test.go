package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/host"
)

// site is a server for one test.
func site(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func tools(t *testing.T, o Options) *set {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return newSet(ws, o)
}

// run prepares and runs a call.
func run(t *testing.T, one tool.Tool, arguments string, args ...any) (tool.Result, error) {
	t.Helper()
	call, err := one.Prepare(t.Context(), fmt.Sprintf(arguments, args...))
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(t.Context(), nil)
}

func send(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		} else {
			w.Header()["Content-Type"] = nil
		}
		_, _ = io.WriteString(w, body)
	}
}

func TestFetch(t *testing.T) {
	tests := []struct{ name, kind, body, extra, want string }{
		{"a page", "text/html; charset=utf-8", "<title>T</title><nav>n</nav><p>Käse</p>", "", "Title: T\n\nKäse\n[URL]"},
		{"a page with its own title", "text/html", "<title>T</title><h1>T</h1>x", "", "# T\n\nx\n[URL]"},
		{"raw", "text/html", "<p>x</p>\n", `,"raw":true`, "<p>x</p>\n[URL]"},
		{"text", "text/plain", "a\n <b>", "", "a\n <b>\n[URL]"},
		{"JSON", "application/json", `{"a":"ü"}`, "", "{\"a\":\"ü\"}\n[URL]"},
		{"a page without a type", "", "<!DOCTYPE html><p>x", "", "x\n[URL]"},
		{"a type that is nonsense", ";;;", "plain words", "", "plain words\n[URL]"},
		{"charset by header", "text/html; charset=iso-8859-1", "<p>K\xe4se", "", "Käse\n[URL]"},
		{"charset by meta", "text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8", "", "При\n[URL]"},
		{"charset by looks", "text/plain", "caf\xe9 \x93x\x94", "", "café “x”\n[URL]"},
		{"charset by a byte order mark", "text/plain", "\xff\xfea\x00\xe4\x00", "", "aä\n[URL]"},
		{"UTF-8 that says to be Latin 1", "text/html; charset=iso-8859-1", "<p>Käse", "", "Käse\n[URL]"},
		{"Latin 1 that says to be UTF-8", "text/html; charset=utf-8", "<p>K\xe4se", "", "K\ufffdse\n[URL]"},
		{"a charset that does not exist", "text/plain; charset=klingon", "caf\xe9", "", "café\n[URL]"},
		{"UTF-16 by header", "text/plain; charset=utf-16le", "a\x00b\x00", "", "ab\n[URL]"},
		{"Japanese", "text/html; charset=Shift_JIS", "<p>\x93\xfa\x96\x7b", "", "日本\n[URL]"},
		{"Japanese in ASCII", "text/plain; charset=iso-2022-jp", "\x1b$BF|K\\\x1b(B", "", "日本\n[URL]"},
		{"binary", "application/zip", "PK\x03\x04\x00\x00", "", "[binary, application/zip, 6 bytes, not shown; save it with download]"},
		{"binary that says to be text", "text/plain", "\x7fELF\x00\x01", "", "[binary, text/plain, 6 bytes, not shown; save it with download]"},
		{"PDF", "application/pdf", "%PDF-1.4\nplain", "", "[binary, application/pdf, 14 bytes, not shown; save it with download]"},
		{"an image that is none", "image/png", "<svg/>", "", "<svg/>\n[URL]"},
		{"nothing", "text/html", "", "", "[the answer is empty]"},
		{"a page without text", "text/html", "<div id=root></div><script>x()</script>", "", "[the page has no text in its 39 bytes; scripts may create it; raw shows the source]"},
		{"beyond the end", "text/plain", "abc", `,"offset":3`, "[the text has 3 bytes; offset 3 is past its end]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := site(t, send(test.kind, test.body))
			result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":"%s/p"%s}`, server.URL, test.extra)
			want := strings.ReplaceAll(test.want, "URL", server.URL+"/p")
			if err != nil || result.IsError || result.Content.Text() != want {
				t.Errorf("error %v, text\n%q, want\n%q", err, result.Content.Text(), want)
			}
			if details := result.Details.(Fetched); details.URL != server.URL+"/p" || details.Bytes != len(test.body) || details.Status != 200 {
				t.Errorf("details %+v", details)
			}
		})
	}
}

func TestFetchSaysWhatItReaches(t *testing.T) {
	s := tools(t, Options{})
	call, err := s.fetch().Prepare(t.Context(), `{"url":"https://Example.org/x"}`)
	if err != nil || len(call.Effects.Hosts) != 1 || call.Effects.Hosts[0] != "example.org:443" || !call.Effects.Idempotent {
		t.Errorf("effects %+v, error %v", call.Effects, err)
	}
	for _, bad := range []string{"http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/"} {
		_, err := run(t, s.fetch(), `{"url":%q}`, bad)
		if _, ok := errors.AsType[*AddressError](err); !ok {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

func TestFetchSendsNothingOfItsOwn(t *testing.T) {
	var got http.Header
	mux := http.NewServeMux()
	mux.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "c", Value: "v"})
		http.Redirect(w, r, strings.Replace("http://u:p@HOST/b?x=1#y", "HOST", r.Host, 1), http.StatusFound)
	})
	mux.HandleFunc("/b", func(w http.ResponseWriter, r *http.Request) { got = r.Header; _, _ = io.WriteString(w, "end") })
	server := site(t, mux.ServeHTTP)
	result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":"%s/a?secret"}`, server.URL)
	if want := "end\n[" + server.URL + "/b?x=1]"; err != nil || result.Content.Text() != want {
		t.Fatalf("text %q, error %v", result.Content.Text(), err)
	}
	if got.Get("User-Agent") != "tenon" || got.Get("Cookie")+got.Get("Referer")+got.Get("Authorization") != "" {
		t.Errorf("headers %v", got)
	}
}

func TestLongPagesComeInParts(t *testing.T) {
	var asked int
	var body strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&body, "line %d ü\n", i)
	}
	server := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		send("text/plain; charset=utf-8", body.String())(w, r)
	})
	s := tools(t, Options{Hosts: anywhere})
	var got strings.Builder
	for offset, parts := 0, 0; ; parts++ {
		result, err := run(t, s.fetch(), `{"url":%q,"offset":%d}`, server.URL, offset)
		if err != nil || parts > 10 {
			t.Fatalf("part %d: %v", parts, err)
		}
		details := result.Details.(Fetched)
		text, note, _ := strings.Cut(result.Content.Text(), "[")
		got.WriteString(text)
		if len(text) > maxPart || details.First != offset || details.Text != body.Len() {
			t.Fatalf("details %+v with %d bytes", details, len(text))
		}
		offset = details.Last
		if goOn := fmt.Sprintf("continue with offset %d", offset); strings.Contains(note, goOn) != (offset < body.Len()) {
			t.Fatalf("note %q", note)
		}
		if offset == body.Len() {
			break
		}
	}
	if got.String() != body.String() || asked != 1 {
		t.Errorf("%d of %d bytes in %d requests", got.Len(), body.Len(), asked)
	}
}

func TestImages(t *testing.T) {
	picture := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100)
	server := site(t, send("image/png", picture))
	result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q}`, server.URL)
	if err != nil || len(result.Content) != 2 {
		t.Fatalf("result %+v, error %v", result, err)
	}
	if image, ok := result.Content[0].(llm.Image); !ok || image.MIME != "image/png" || string(image.Data) != picture {
		t.Errorf("content %+v", result.Content[0])
	}
	large := site(t, send("image/png", picture+strings.Repeat("x", maxImage)))
	result, err = run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q}`, large.URL)
	if want := fmt.Sprintf("[image, image/png, %d bytes, too large to show; save it with download]", maxImage+len(picture)); err != nil || result.Content.Text() != want {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
}

func TestPagesThatAreNotThere(t *testing.T) {
	server := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<p>No such page."+strings.Repeat("<p>x", 10_000))
	})
	result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q}`, server.URL)
	text := result.Content.Text()
	if err != nil || !result.IsError || !strings.HasPrefix(text, "No such page.") || !strings.HasSuffix(text, "["+server.URL+": 404 Not Found]") || len(text) > 2*maxError {
		t.Errorf("%d bytes %.100q, error %v", len(text), text, err)
	}
}

func TestEndlessAndBrokenAnswers(t *testing.T) {
	var garbage, bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(bytes.Repeat([]byte("bomb\n"), 200_000))
	}
	_ = z.Close()
	garbage.WriteString("\x1f\x8b\x08\x00 this is no gzip at all")
	zipped := func(data []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(data)
		}
	}
	tests := []struct {
		name string
		h    http.HandlerFunc
		want string // of the error, or the end of the text
		fail bool
	}{
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			for {
				if _, err := w.Write(bytes.Repeat([]byte("more\n"), 10_000)); err != nil {
					return
				}
			}
		}, "offset 51200", false},
		{"garbage for gzip", zipped(garbage.Bytes()), "broke off", true},
		{"not gzip at all", zipped([]byte("plain")), "broke off", true},
		{"half of a gzip", zipped(bomb.Bytes()[:100]), "ended too early", true},
		{"a gzip bomb", zipped(bomb.Bytes()), "offset 51200", false},
		{"shorter than it says", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		}, "ended too early", true},
		{"no HTTP", hijack("SSH-2.0-x\r\n"), "malformed HTTP", true},
		{"endless headers", hijack("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 1000)), "headers", true},
		{"closed at once", hijack(""), "EOF", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := site(t, test.h)
			result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q}`, server.URL)
			if test.fail {
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), server.URL) {
					t.Errorf("text %.100q, error %v, want %q", result.Content.Text(), err, test.want)
				}
				return
			}
			details, _ := result.Details.(Fetched)
			if err != nil || !details.More || details.Bytes != maxPage || !strings.Contains(result.Content.Text(), test.want) {
				t.Errorf("details %+v, error %v", details, err)
			}
		})
	}
}

// hijack answers with bytes that are no proper answer.
func hijack(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

func TestTheEndOfAPageThatIsTooLong(t *testing.T) {
	server := site(t, send("text/plain", strings.Repeat("x\n", maxPage/2+10)))
	result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q,"offset":%d}`, server.URL, maxPage-10)
	if err != nil || !strings.HasSuffix(result.Content.Text(), "; only the first 4194304 bytes were read; save all with download]") {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
}

func TestHTMLOfFourMegabytes(t *testing.T) {
	line := "<div><p>Some <b>words</b> and a <a href=/x>link</a>" + strings.Repeat(" and more words", 60) + "</div>\n"
	server := site(t, send("text/html", "<title>T</title>"+strings.Repeat(line, maxPage/len(line)+10)))
	result, err := run(t, tools(t, Options{Hosts: anywhere}).fetch(), `{"url":%q,"offset":100000}`, server.URL)
	details, _ := result.Details.(Fetched)
	if err != nil || !details.More || details.Bytes != maxPage || details.Text < maxPage/4 || details.Last-details.First > maxPart {
		t.Errorf("details %+v, error %v", details, err)
	}
}

func TestSlowServers(t *testing.T) {
	for name, first := range map[string]string{"before the answer": "", "within the answer": "some words"} {
		t.Run(name, func(t *testing.T) {
			server := site(t, func(w http.ResponseWriter, r *http.Request) {
				if first != "" {
					_, _ = io.WriteString(w, first)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			s := tools(t, Options{Hosts: anywhere})
			s.fetchTime = 50 * time.Millisecond
			_, err := run(t, s.fetch(), `{"url":%q}`, server.URL)
			if err == nil || !strings.Contains(err.Error(), "timed out after 50ms") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person said stop")
	server := site(t, func(_ http.ResponseWriter, r *http.Request) { cancel(why); <-r.Context().Done() })
	call, err := tools(t, Options{Hosts: anywhere}).fetch().Prepare(ctx, fmt.Sprintf(`{"url":%q}`, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = call.Run(ctx, nil); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

func TestRedirects(t *testing.T) {
	inner := site(t, send("text/plain", "inside"))
	mux := http.NewServeMux()
	mux.HandleFunc("/n/{n}", func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(r.PathValue("n")); n > 0 {
			http.Redirect(w, r, fmt.Sprintf("/n/%d", n-1), http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "there")
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("u"))
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	outer := site(t, mux.ServeHTTP)
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(outer.URL, "http://"))
	var asked []string
	s := tools(t, Options{Hosts: listed(t, host+":"+port), Allow: func(_ context.Context, host string, port int) error {
		asked = append(asked, fmt.Sprintf("%s:%d", host, port))
		if host == "denied.example.org" {
			return errors.New("the person does not want that")
		}
		return nil
	}})
	tests := []struct{ name, path, want string }{
		{"ten", "/n/10", ""},
		{"eleven", "/n/11", "more than 10 redirects"},
		{"to itself", "/to?u=/to", "more than 10"},
		{"to an address that is private", "/to?u=" + inner.URL, "not a public address (loopback)"},
		{"to metadata", "/to?u=http://169.254.169.254/", "metadata of the machine"},
		{"to a name with a private address", "/to?u=" + strings.Replace(inner.URL, "127.0.0.1", "localhost", 1), "not a public address (loopback)"},
		{"to an odd spelling", "/to?u=http://2130706433/", "unusual form"},
		{"to a file", "/to?u=file:///etc/passwd", "only http and https"},
		{"to a host that is denied", "/to?u=http://denied.example.org/", "the person does not want that"},
		{"to nowhere", "/to", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "to itself" {
				test.path = "/to?u=" + url.QueryEscape("/to?u=/n/11")
			}
			result, err := run(t, s.fetch(), `{"url":"%s%s"}`, outer.URL, test.path)
			if test.want == "" {
				if err != nil || strings.Contains(result.Content.Text(), "inside") {
					t.Errorf("text %q, error %v", result.Content.Text(), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("text %q, error %v, want %q", result.Content.Text(), err, test.want)
			}
		})
	}
	if len(asked) < 10 || asked[0] != host+":"+port {
		t.Errorf("asked for %v", asked)
	}
}

// What counts is the address that is dialled, whatever the name said before.
func TestNamesOfPrivateAddresses(t *testing.T) {
	server := site(t, send("text/plain", "inside"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	_, err := run(t, tools(t, Options{}).fetch(), `{"url":"http://localhost:%s/"}`, port)
	refused, ok := errors.AsType[*AddressError](err)
	if !ok || refused.Host != "localhost" || refused.Kind != "loopback" {
		t.Errorf("error %v", err)
	}
	if _, err := run(t, tools(t, Options{Hosts: listed(t, "localhost:"+port)}).fetch(), `{"url":"http://localhost:%s/"}`, port); err != nil {
		t.Errorf("an allowed name is refused: %v", err)
	}
}

func TestBehindAProxy(t *testing.T) {
	var asked []string
	proxy := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		_, _ = io.WriteString(w, "by proxy")
	})
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := tools(t, Options{Proxy: http.ProxyURL(at)})
	result, err := run(t, s.fetch(), `{"url":"http://8.8.8.8/x"}`)
	if err != nil || result.Content.Text() != "by proxy\n[http://8.8.8.8/x]" {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
	for _, inside := range []string{"http://localhost/", "http://wiki/", "http://metadata.google.internal/", "http://printer.local/", proxy.URL} {
		_, err := run(t, s.fetch(), `{"url":%q}`, inside)
		if _, ok := errors.AsType[*AddressError](err); !ok {
			t.Errorf("%s: error %v", inside, err)
		}
	}
	if len(asked) != 1 {
		t.Errorf("the proxy was asked for %q", asked)
	}
	s = tools(t, Options{Hosts: listed(t, "wiki"), Proxy: http.ProxyURL(at)})
	if _, err := run(t, s.fetch(), `{"url":"http://wiki/"}`); err != nil {
		t.Errorf("an allowed name is refused: %v", err)
	}
}

// Whatever a body and its headers are, the text is valid.
func FuzzDecode(f *testing.F) {
	f.Add("text/html; charset=utf-8", []byte("<meta charset=latin1>\xe4"))
	f.Add("text/plain; charset=utf-16", []byte("\xff\xfea\x00"))
	f.Add("text/plain; charset=iso-2022-jp", []byte("\x1b$BF|"))
	f.Add("text/html", []byte("<meta charset=gb18030>\x81\x30\x81\x30"))
	f.Add("application/octet-stream", []byte("\x89PNG\r\n\x1a\n"))
	f.Add(";;=", []byte("<?xml version='1.0' encoding='koi8-r'?>\xc1"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		kind, label := mediaType(header, body)
		text, charset := decode(body, kind, label)
		if strings.ToValidUTF8(text, "") != text || charset == "" || len(text) > 10*len(body)+10 || strings.ContainsAny(kind, " \n") {
			t.Fatalf("%q: kind %q, charset %q, text %q", header, kind, charset, text)
		}
	})
}

// listed lets the tools reach the hosts.
func listed(t *testing.T, texts ...string) func() host.List {
	list, err := host.Parse(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return func() host.List { return list }
}

// anywhere lets the tools reach every address.
func anywhere() host.List { return host.List{{Name: "*"}} }

// If commands have a network of their own, localhost is there, and not on this machine. Other addresses of this machine stay closed.
func TestFetchFromAServerOfACommand(t *testing.T) {
	outer := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request reached the machine") }))
	defer outer.Close()
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "from a command")
	}))
	defer inner.Close()
	shared := true
	o := Options{Hosts: listed(t, "127.0.0.1:1"), Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(outer.URL) }}
	o.Commands = func() func(context.Context, string, string) (net.Conn, error) {
		if !shared {
			return nil
		}
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(inner.URL, "http://"))
		}
	}
	s := tools(t, o)
	for _, address := range []string{"http://localhost:3000/", "http://127.0.0.1:3000/", "http://[::1]:3000/x", outer.URL} {
		at, err := s.client.target(address)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.page(t.Context(), at, false)
		if err != nil || p.text != "from a command" {
			t.Errorf("%s: %+v, %v", address, p, err)
		}
	}
	at, err := s.client.target("http://localhost:3000/away")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.page(t.Context(), at, false); err == nil || !strings.Contains(err.Error(), "not a public address (private)") {
		t.Error(err)
	}
	shared = false
	if _, err := s.client.target("http://[::1]:3000/"); err == nil {
		t.Error("a loopback address of the machine is allowed")
	}
}
