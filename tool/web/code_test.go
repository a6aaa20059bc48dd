package web

import (
	"strings"
	"testing"
)

const codeAnswer = `{"data":{"search":{"results":{"limitHit":true,"results":[
{"__typename":"FileMatch","repository":{"name":"github.com/a/b"},"file":{"path":"x/y.go","url":"/github.com/a/b/-/blob/x/y.go"},
 "lineMatches":[{"preview":"func \u001b[31mKeys() <int> {  ","lineNumber":11},{"preview":"\treturn 17","lineNumber":12}]},
{"__typename":"Repository","name":"github.com/c/d","url":"/github.com/c/d","description":"About <b>keys</b>"},
{"__typename":"Repository","name":"bad","url":"javascript:alert(1)"},
{"__typename":"CommitSearchResult"}]}}}}`

func TestSourcegraph(t *testing.T) {
	server, got := standIn(t, 200, codeAnswer)
	engine, err := NewEngine("sourcegraph", server.URL, "sesame", nil)
	if err != nil {
		t.Fatal(err)
	}
	call, err := search("code_search", codeText, engine).Prepare(t.Context(), `{"query":"Keys lang:go","count":3}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(call.Effects.Hosts) != 1 || call.Effects.Hosts[0] != engine.Host() {
		t.Errorf("effects %+v", call.Effects)
	}
	r, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "1. github.com/a/b: x/y.go\n" + server.URL + "/github.com/a/b/-/blob/x/y.go\n12: func [31mKeys() <int> {\n13: \treturn 17\n\n" +
		"2. github.com/c/d\n" + server.URL + "/github.com/c/d\nAbout keys"
	if text := r.Content.Text(); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	sent, _ := got.body["variables"].(map[string]any)
	if got.path != "/.api/graphql" || got.header.Get("Authorization") != "token sesame" || sent["query"] != "Keys lang:go count:3" {
		t.Errorf("asked %+v", got)
	}
}

func TestSourcegraphThatFails(t *testing.T) {
	for answer, want := range map[string]string{
		`{"errors":[{"message":"bad <b>regexp</b>"}]}`: "bad regexp",
		`{"data":{"search":null}}`:                     "no results",
		`[]`:                                           "cannot read the answer",
	} {
		server, _ := standIn(t, 200, answer)
		engine, err := NewEngine("sourcegraph", server.URL, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Search(t.Context(), "q", 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", answer, err)
		}
	}
	server, _ := standIn(t, 401, "")
	engine, err := NewEngine("sourcegraph", server.URL, "sesame", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Search(t.Context(), "q", 3); err == nil || !strings.Contains(err.Error(), "web.code.api_key") {
		t.Errorf("a wrong token: %v", err)
	}
}

func FuzzCode(f *testing.F) {
	f.Add([]byte(codeAnswer))
	f.Fuzz(func(t *testing.T, data []byte) {
		hits, _ := readCode(data)
		for _, h := range hits {
			if h.Title == "" || strings.ContainsRune(h.Title+h.Text+h.URL, 0x1b) {
				t.Errorf("%+v", h)
			}
		}
	})
}
