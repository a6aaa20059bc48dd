//go:build linux || darwin

package attach

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// Whatever a client sends, the server answers with an error or closes the connection, and serves the next client.
func FuzzServer(f *testing.F) {
	c := local(f, says("Well."))
	client := serve(f, c, dataDir(f), c.Session())
	for _, seed := range []string{
		`{"protocol":1,"op":"state"}`, `{"protocol":1,"op":"follow","args":[-1]}` + "\n" + `{"cancel":true}`, `{"protocol":2,"op":"state"}`, `{"protocol":1,"op":"answer","args":["q",[{}]]}`,
		`{"protocol":1,"op":"edit","args":["d",{"role":"user","content":[{"type":"x"}]}]}`, `{"protocol":1,"op":"none"}`, `[[[[`, "\x00\xff", `{"protocol":1,"op":"move","args":7}`,
		`{"protocol":1,"name":"` + strings.Repeat("é", 100) + `","op":"hello"}`, `{"protocol":1,"op":"pin","args":["x",true,1]}`, "", "\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		conn, err := net.Dial("unix", client.session.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(append(data, '\n')); err != nil {
			return // the server has seen enough
		}
		_ = conn.(*net.UnixConn).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Fatal(err)
		}
		if _, err := client.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// Lines are bounded, and a name has a bounded length.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"protocol":1,"name":"a","op":"state","args":[]}`))
	f.Add([]byte(`{"protocol":1e3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		line, err := readLine(bufio.NewReader(bytes.NewReader(append(data, '\n'))), 1000)
		if err != nil {
			if !errors.Is(err, errLong) {
				t.Error(err)
			}
			return
		}
		if c, err := parse(line); err == nil && (len(c.Name) > maxName || c.Protocol != protocol) {
			t.Errorf("got %+v", c)
		}
	})
}
