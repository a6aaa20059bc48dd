package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"
)

// asked is what a search engine was sent.
type asked struct {
	method, path, query string
	header              http.Header
	body                map[string]any
}

func standIn(t *testing.T, status int, answer string) (*httptest.Server, *asked) {
	got := &asked{}
	return site(t, func(w http.ResponseWriter, r *http.Request) {
		*got = asked{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, header: r.Header}
		_ = json.NewDecoder(r.Body).Decode(&got.body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}), got
}

func TestEngines(t *testing.T) {
	tests := []struct {
		name, path, answer string
		check              func(*asked) bool
		want               Hit
	}{
		{
			"searxng", "/search", `{"query":"q","results":[{"url":"https://a.org/","title":"A","content":"about  A","publishedDate":"2026-01-02T03:04:05"}]}`,
			func(a *asked) bool {
				return a.method == "GET" && a.query == "format=json&q=go+%22x%22" && a.header.Get("Authorization") == "Bearer key"
			},
			Hit{"A", "https://a.org/", "about A", "2026-01-02"},
		},
		{
			"brave", "/res/v1/web/search", `{"type":"search","web":{"results":[{"url":"https://a.org/","title":"A &amp; <strong>B</strong>","description":"x &lt; y","page_age":"2026-01-02T03:04:05"}]}}`,
			func(a *asked) bool {
				return a.method == "GET" && a.query == "count=3&q=go+%22x%22&text_decorations=false" && a.header.Get("X-Subscription-Token") == "key"
			},
			Hit{"A & B", "https://a.org/", "x < y", "2026-01-02"},
		},
		{
			"exa", "/search", `{"results":[{"url":"https://a.org/","title":"A","highlights":["one","two"],"publishedDate":"2026-01-02T03:04:05.000Z"}]}`,
			func(a *asked) bool {
				return a.method == "POST" && a.header.Get("x-api-key") == "key" && a.body["query"] == `go "x"` && a.body["numResults"] == 3.0
			},
			Hit{"A", "https://a.org/", "one … two", "2026-01-02"},
		},
		{
			"tavily", "/search", `{"results":[{"url":"https://a.org/","title":"A","content":"about A","score":0.9}]}`,
			func(a *asked) bool {
				return a.method == "POST" && a.header.Get("Authorization") == "Bearer key" && a.body["query"] == `go "x"` && a.body["max_results"] == 3.0
			},
			Hit{"A", "https://a.org/", "about A", ""},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server, got := standIn(t, 200, test.answer)
			engine, err := NewEngine(test.name, server.URL+"/", "key", nil)
			if err != nil {
				t.Fatal(err)
			}
			hits, err := engine.Search(t.Context(), `go "x"`, 3)
			if err != nil || len(hits) != 1 || hits[0] != test.want {
				t.Errorf("hits %+v, error %v", hits, err)
			}
			if got.path != test.path || got.header.Get("User-Agent") != "tenon" || !test.check(got) {
				t.Errorf("asked %+v", got)
			}
			if "http://"+engine.Host() != server.URL {
				t.Errorf("host %s", engine.Host())
			}
		})
	}
}

func TestEnginesThatFail(t *testing.T) {
	tests := []struct {
		name   string
		engine string
		status int
		answer string
		want   string
	}{
		{"a wrong key", "brave", 401, `{"error":"the key sesame is wrong"}`, `401 Unauthorized; the user must check the API key in the setting web.search.api_key: {"error":"the key … is wrong"}`},
		{"no format", "searxng", 403, "", "403 Forbidden; the server must allow the format json"},
		{"too many", "exa", 429, "slow <b>down</b>", "too many searches, try again later: slow down"},
		{"broken", "tavily", 500, "\x00\x01", "500 Internal Server Error"},
		{"a redirect", "tavily", 302, "", "302 Found"},
		{"no JSON", "searxng", 200, "<html>", "cannot read the answer"},
		{"other JSON", "searxng", 200, "{}", "it has no results"},
		{"other JSON", "brave", 200, `[]`, "cannot read the answer"},
		{"too long", "exa", 200, `{"results":[` + strings.Repeat(" ", maxAnswer), "more than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server, got := standIn(t, test.status, test.answer)
			engine, err := NewEngine(test.engine, server.URL, "sesame", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = engine.Search(t.Context(), "q", 3)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "sesame") || got.path == "/elsewhere" {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	server := site(t, http.NotFound)
	server.Close()
	engine, err := NewEngine("searxng", server.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Search(t.Context(), "q", 3); err == nil || !strings.HasPrefix(err.Error(), "searxng at 127.0.0.1:") {
		t.Errorf("error %v", err)
	}
}

func TestEnginesThatCannotBe(t *testing.T) {
	for _, test := range []struct{ name, address, key, want string }{
		{"google", "", "k", "no search engine"},
		{"searxng", "", "", "needs the address"},
		{"brave", "", "", "needs an API key"},
		{"exa", "ftp://x", "k", "only http and https"},
		{"tavily", "", "a\nb", "more than one line"},
	} {
		if _, err := NewEngine(test.name, test.address, test.key, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
	for name, host := range map[string]string{"brave": "api.search.brave.com:443", "exa": "api.exa.ai:443", "tavily": "api.tavily.com:443"} {
		if engine, err := NewEngine(name, "", "k", nil); err != nil || engine.Host() != host {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// fixed is an engine that always finds the same.
type fixed struct {
	hits []Hit
	err  error
}

func (fixed) Host() string { return "engine.example.org:443" }

func (f fixed) Search(ctx context.Context, _ string, _ int) ([]Hit, error) { return f.hits, f.err }

func TestWebSearch(t *testing.T) {
	hits := []Hit{{"A", "https://a.org/", "about A", "2026"}, {"", "https://b.org/", "", ""}, {"C", "https://c.org/", "c", ""}}
	one := search("web_search", searchText, fixed{hits: hits})
	call, err := one.Prepare(t.Context(), `{"query":"q","count":2}`)
	if err != nil || len(call.Effects.Hosts) != 1 || call.Effects.Hosts[0] != "engine.example.org:443" {
		t.Fatalf("effects %+v, error %v", call.Effects, err)
	}
	result, err := call.Run(t.Context(), nil)
	if want := "1. A\nhttps://a.org/\n2026: about A\n\n2. (no title)\nhttps://b.org/"; err != nil || result.Content.Text() != want {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
	if details := result.Details.(Found); details.Query != "q" || len(details.Hits) != 2 {
		t.Errorf("details %+v", details)
	}
	if result, err := run(t, search("web_search", searchText, fixed{}), `{"query":"q"}`); err != nil || result.Content.Text() != "[no results]" {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
	broken := errors.New("broken")
	if _, err := run(t, search("web_search", searchText, fixed{err: broken}), `{"query":"q"}`); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	for _, query := range []string{"", " ", strings.Repeat("ü", maxQuery+1)} {
		if _, err := one.Prepare(t.Context(), fmt.Sprintf(`{"query":%q}`, query)); err == nil {
			t.Errorf("the query %q is taken", query)
		}
	}
}

func TestToolsThatExist(t *testing.T) {
	for want, o := range map[string]Options{"download fetch": {}, "download fetch web_search": {Engine: fixed{}}} {
		tools := New(nil, o)
		var names []string
		for _, one := range tools {
			names = append(names, one.Spec().Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Whatever an engine answers, hits are few, short, valid and lead to the web.
func FuzzHits(f *testing.F) {
	for _, seed := range []string{
		`{"results":[{"url":"https://a","title":"<b>","content":"&#0;"}]}`, `{"type":"s","web":{"results":[{"url":"javascript:x","title":"\ud800"}]}}`,
		`{"results":[{"url":"http://a","highlights":["",null],"page_age":"T"}]}`, `{"results":null}`, `[`, `{"web":{"results":[{"url":"http://[::1"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hits, _ := readHits(data)
		if len(hits) > maxHits {
			t.Fatalf("%d hits", len(hits))
		}
		for _, h := range hits {
			all := h.Title + h.Text + h.Date
			if !strings.HasPrefix(h.URL, "http") || !utf8.ValidString(all) || strings.ContainsAny(all, "\x00\x1b\n") || utf8.RuneCountInString(all) > 800 {
				t.Fatalf("%+v", h)
			}
		}
	})
}
