package mcp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The browser comes back with its parameters. Other pages and further visits change nothing.
func TestCallback(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := newCallback(l)
	for _, path := range []string{"/favicon.ico", callbackPath + "?code=one&state=s", callbackPath + "?code=two"} {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	got, err := c.wait(t.Context())
	if err != nil || got.Get("code") != "one" || got.Get("state") != "s" {
		t.Errorf("%v, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the person left")
	cancel(left)
	if _, err := c.wait(ctx); !errors.Is(err, left) {
		t.Errorf("%v", err)
	}
	c.close()
}
