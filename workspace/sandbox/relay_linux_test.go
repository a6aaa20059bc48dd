package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server of this machine that is listed with its port is at the same place inside, for programs that ask no proxy and for those
// that do; everything else of the loopback is the sandbox's own.
func TestAListedServerOfThisMachine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "reached") }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	get := func(port string) string {
		return fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%s && printf 'GET / HTTP/1.0\r\nHost: x\r\n\r\n' >&3 && cat <&3`, port)
	}
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port} {
		t.Run(host, func(t *testing.T) {
			g := newGround(t)
			g.policy.Network.Hosts = []string{host}
			if got := g.works(get(port)); !strings.HasSuffix(got.out, "reached") {
				t.Error(got)
			}
			other := strings.TrimPrefix(listen(t, "tcp", "127.0.0.1:0"), "127.0.0.1:")
			if got := g.run(get(other)); got.exit == 0 {
				t.Errorf("a server that is not listed: %v", got)
			}
			if got := g.works("echo $NO_PROXY $no_proxy"); got.out != "localhost,127.0.0.1,::1 localhost,127.0.0.1,::1\n" {
				t.Error(got)
			}
		})
	}
	t.Run("all ports", func(t *testing.T) {
		g := newGround(t)
		g.policy.Network.Hosts = []string{"127.0.0.1", "localhost"}
		if got := g.works("echo $NO_PROXY"); got.out != "::1\n" {
			t.Error(got)
		}
	})
	t.Run("nothing listens there", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, free, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		g := newGround(t)
		g.policy.Network.Hosts = []string{"127.0.0.1:" + free}
		if got := g.run(get(free)); strings.Contains(got.out, "HTTP") {
			t.Error(got)
		}
	})
}
