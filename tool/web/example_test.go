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
		tools, err := web.New(ws, o)
		if err != nil {
			panic(err)
		}
		call, err := tools[1].Prepare(ctx, fmt.Sprintf(`{"url": %q}`, site.URL))
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
	fetch(web.Options{Hosts: []string{"127.0.0.1"}})
	// Output:
	// 127.0.0.1 is not a public address (loopback); only the user can allow it, with the setting web.allow
	// # Tenons
	//
	// A **joint** of [wood](http://site/wood).
	// [http://site]
}
