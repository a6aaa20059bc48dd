package sandbox_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// A name that is listed opens no way to an address that is not public: who answers for the name chooses where it leads.
func TestAListedNameThatLeadsInside(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.DefaultResolver.LookupHost(t.Context(), name)
	if err != nil {
		t.Skipf("the name of this machine leads nowhere: %v", err)
	}
	for _, a := range addresses {
		if ip := net.ParseIP(a); !ip.IsLoopback() && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() {
			t.Skipf("the name of this machine leads to %s, which may be public", a)
		}
	}
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "reached")
	})}}
	server.Start()
	defer server.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at := net.JoinHostPort(name, port)
	for _, ask := range []string{
		"GET http://" + at + "/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"CONNECT " + at + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET / HTTP/1.0\r\n\r\n",
	} {
		address, refused := proxied(t, at)
		if got := say(t, address, ask, false); !strings.Contains(got, "403") || strings.Contains(got, "reached") {
			t.Errorf("%q got %q", ask, got)
		}
		if told := refused(); len(told) != 1 || told[0].Host != at || !strings.Contains(told[0].Why, "is not public and not listed") {
			t.Errorf("reported %+v", told)
		}
		address, _ = proxied(t, append(addresses, at)...)
		if got := say(t, address, ask, false); !strings.Contains(got, "reached") {
			t.Errorf("with its addresses listed %q got %q", ask, got)
		}
	}
}
