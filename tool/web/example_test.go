package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/host"
)

func Example() {
	ctx := context.Background()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<html><title>Tenons</title><nav>Home</nav><h1>Tenons</h1><p>A <b>joint</b> of <a href="/wood">wood</a>.</html>`)
	}))
	defer site.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()

	fetch := func(o web.Options) {
		call, err := web.New(ws, o)[1].Prepare(ctx, fmt.Sprintf(`{"url": %q}`, site.URL))
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := call.Run(ctx, nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.ReplaceAll(result.Content.Text(), site.URL, "http://site"))
	}
	fetch(web.Options{})
	listed, err := host.Parse("127.0.0.1")
	if err != nil {
		panic(err)
	}
	fetch(web.Options{Hosts: func() host.List { return listed }})
	// Output:
	// 127.0.0.1 is not a public address (loopback); only the user can allow it: use --network 127.0.0.1, or add 127.0.0.1 to sandbox.network in tenon.json
	// # Tenons
	//
	// A **joint** of [wood](http://site/wood).
	// [http://site]
}
