package wire_test

import (
	"net"
	"net/url"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// A proxy that is down is not taken for a server that is.
func TestAProxyThatDoesNotListen(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &url.URL{Scheme: "http", Host: listener.Addr().String()}
	_ = listener.Close()
	client := wire.NewClient(wire.NewTransport(proxy))
	defer client.CloseIdleConnections()
	for _, base := range []string{"http://models.invalid", "https://models.invalid"} {
		_, err := post(t.Context(), wire.Endpoint{BaseURL: base, HTTP: client})
		problem(t, err, llm.KindNetwork, "models.invalid: not reached, for the proxy in between: connection refused")
	}
}
