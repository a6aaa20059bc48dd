package sandbox_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// proxied starts a proxy that reaches hosts and returns its address.
func proxied(t testing.TB, hosts ...string) (address string, refused func() []sandbox.Blocked) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done, err := sandbox.NewProxy(hosts, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	return l.Addr().String(), done
}

// say sends bytes to the proxy, and returns what it answers until it hangs up; with end, it says that no more comes.
func say(t testing.TB, address, text string, end bool) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if end {
		_ = c.(*net.TCPConn).CloseWrite()
	}
	answer, _ := io.ReadAll(io.LimitReader(c, 1<<20))
	return string(answer)
}

func TestTheProxyRefuses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "reached as ", r.Host) }))
	defer server.Close()
	at := server.Listener.Addr().String()
	address, refused := proxied(t, at)
	for name, test := range map[string]struct{ text, want string }{
		"a listed host":              {"GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\nConnection: close\r\n\r\n", "reached as " + at},
		"another name in the header": {"GET http://" + at + "/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "reached as " + at},
		"another host":               {"GET http://evil.example/ HTTP/1.1\r\nHost: " + at + "\r\nConnection: close\r\n\r\n", "403"},
		"a tunnel":                   {"CONNECT " + at + " HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.0\r\n\r\n", "reached"},
		"a tunnel elsewhere":         {"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: " + at + "\r\nConnection: close\r\n\r\n", "403"},
		"a tunnel without a port":    {"CONNECT evil HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n", "400"},
		"no proxy request":           {"GET / HTTP/1.1\r\nHost: " + at + "\r\nConnection: close\r\n\r\n", "400"},
		"another scheme":             {"GET ftp://" + at + "/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "400"},
		"a long header":              {"GET http://" + at + "/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<17) + "\r\n\r\n", "431"},
		"SOCKS to another host":      {"\x05\x01\x00\x05\x01\x00\x03\x04evil\x00\x50", "\x05\x00\x05\x02"},
		"SOCKS to listen":            {"\x05\x01\x00\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x00\x05\x07"},
		"SOCKS with a password":      {"\x05\x01\x02", "\x05\xff"},
		"nothing":                    {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := say(t, address, test.text, test.text == ""); !strings.Contains(got, test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	told := map[string]bool{}
	for _, b := range refused() {
		told[b.Host] = true
	}
	if !told["evil.example:80"] || !told["127.0.0.1:1"] || !told["evil:80"] {
		t.Error(told)
	}
}

func FuzzSOCKS(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x04evil\x00\x50"))
	f.Add([]byte("\x05\x02\x00\x02\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var answer bytes.Buffer
		name, port, err := sandbox.ReadSOCKS(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(data), &answer})
		if err == nil && (port < 0 || port > 65535 || len(name) > 255) {
			t.Errorf("%q, %d", name, port)
		}
		if answer.Len() > 2 {
			t.Errorf("it answered %q", answer.Bytes())
		}
	})
}

// Nothing that is said to a proxy without hosts makes it connect or fall.
func FuzzProxy(f *testing.F) {
	f.Add([]byte("GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x04evil\x00\x50"))
	address, _ := proxied(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := say(t, address, string(data), true); strings.HasPrefix(got, "HTTP/1.1 2") {
			t.Errorf("%q got %q", data, got)
		}
	})
}
