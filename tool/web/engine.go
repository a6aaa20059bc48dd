package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxAnswer  = 2 << 20 // bytes of an engine's answer
	maxSnippet = 500     // characters of a hit's text
)

// NewEngine returns the client of a search engine: "searxng", "brave", "exa" or "tavily" for pages, "sourcegraph" for code.
//
// address is the address of the API. Only searxng needs one, because everyone runs their own server; it must allow the format json. The
// address may be private, because the person chose it. key is the API key, optional for searxng and sourcegraph. A nil transport takes its proxy from
// the environment. The client follows no redirect, so that no other server sees the key.
func NewEngine(name, address, key string, transport http.RoundTripper) (Engine, error) {
	k, ok := kinds()[name]
	if !ok {
		return nil, fmt.Errorf("web: no search engine %q; use brave, exa, searxng or tavily, and sourcegraph for code", name)
	}
	switch {
	case address == "" && k.address == "":
		return nil, fmt.Errorf("web: the search engine %s needs the address of a server", name)
	case key == "" && k.keyed:
		return nil, fmt.Errorf("web: the search engine %s needs an API key", name)
	case strings.ContainsAny(key, "\r\n"):
		return nil, fmt.Errorf("web: the API key of the search engine %s has more than one line", name)
	}
	t, err := parseTarget(cmp.Or(address, k.address))
	if err != nil {
		return nil, fmt.Errorf("web: the address of the search engine %s: %w", name, err)
	}
	if transport == nil {
		own := newTransport()
		own.Proxy = http.ProxyFromEnvironment
		transport = own
	}
	if base := strings.TrimSuffix(t.url.Path, "/"); !strings.HasSuffix(base, path.Base(k.path)) {
		t.url.Path = base + k.path
	}
	return &engine{name: name, kind: k, at: t, key: key, client: http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// kind describes the API of a search engine. It has values for a GET or a body for a POST.
type kind struct {
	address, path string
	keyed         bool   // it needs a key
	header, word  string // of the key
	values        func(query string, count int) url.Values
	body          func(query string, count int) map[string]any
	read          func(data []byte) ([]Hit, error) // nil: readHits
}

func kinds() map[string]kind {
	return map[string]kind{
		"searxng": {path: "/search", header: "Authorization", word: "Bearer ", values: func(query string, _ int) url.Values {
			return url.Values{"q": {query}, "format": {"json"}}
		}},
		"brave": {"https://api.search.brave.com", "/res/v1/web/search", true, "X-Subscription-Token", "", func(query string, count int) url.Values {
			return url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "text_decorations": {"false"}}
		}, nil, nil},
		"exa": {"https://api.exa.ai", "/search", true, "x-api-key", "", nil, func(query string, count int) map[string]any {
			return map[string]any{"query": query, "numResults": count, "contents": map[string]any{"highlights": true}}
		}, nil},
		"tavily": {"https://api.tavily.com", "/search", true, "Authorization", "Bearer ", nil, func(query string, count int) map[string]any {
			return map[string]any{"query": query, "max_results": count}
		}, nil},
		"sourcegraph": {"https://sourcegraph.com", "/.api/graphql", false, "Authorization", "token ", nil, sourcegraphBody, readCode},
	}
}

// setting is where the person configures the engine.
func (k *kind) setting() string {
	if k.read != nil {
		return "web.code"
	}
	return "web.search"
}

type engine struct {
	name   string
	kind   kind
	at     target
	key    string
	client http.Client
}

func (e *engine) Host() string { return e.at.String() }

func (e *engine) Search(ctx context.Context, query string, count int) ([]Hit, error) {
	r, err := e.request(ctx, query, count)
	if err != nil {
		return nil, err
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", e.name, e.at, reason(ctx, err))
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s at %s: the answer broke off: %w", e.name, e.at, broken(ctx, err))
	case answer.StatusCode != http.StatusOK:
		return nil, e.refused(answer.StatusCode, data)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%s at %s: the answer has more than %d bytes", e.name, e.at, maxAnswer)
	}
	read := e.kind.read
	if read == nil {
		read = readHits
	}
	hits, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: cannot read the answer: %w", e.name, e.at, err)
	}
	for i, h := range hits {
		if strings.HasPrefix(h.URL, "/") {
			hits[i].URL = e.at.url.Scheme + "://" + e.at.url.Host + h.URL
		}
	}
	return hits, nil
}

func (e *engine) request(ctx context.Context, query string, count int) (*http.Request, error) {
	u, method, body := *e.at.url, http.MethodGet, []byte(nil)
	if e.kind.values != nil {
		u.RawQuery = e.kind.values(query, count).Encode()
	} else {
		data, err := json.Marshal(e.kind.body(query, count))
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, data
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.key != "" {
		r.Header.Set(e.kind.header, e.kind.word+e.key)
	}
	return r, nil
}

func (e *engine) refused(status int, data []byte) error {
	text := fmt.Sprintf("%s at %s: %d %s", e.name, e.at, status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusForbidden && e.kind.keyed:
		text += "; the user must check the API key in the setting " + e.kind.setting() + ".api_key"
	case status == http.StatusForbidden:
		text += "; the server must allow the format json"
	case status == http.StatusTooManyRequests:
		text += "; too many searches, try again later"
	}
	said := string(data)
	if e.key != "" {
		said = strings.ReplaceAll(said, e.key, "…")
	}
	if said = plain(said, 200); said != "" && !tool.Binary(said) {
		text += ": " + said
	}
	return tool.Codef("tool.http", "%s", text)
}

// found is a hit in the forms of all engines.
type found struct {
	Title       string   `json:"title"`
	URL         string   `json:"url"`
	Content     string   `json:"content"`     // SearXNG, Tavily
	Description string   `json:"description"` // Brave
	Text        string   `json:"text"`        // Exa
	Highlights  []string `json:"highlights"`  // Exa
	Published   string   `json:"publishedDate"`
	PublishedAt string   `json:"published_date"`
	Age         string   `json:"page_age"`
}

// readHits reads an answer. It keeps hits with an address, as plain short text.
func readHits(data []byte) ([]Hit, error) {
	var answer struct {
		Results *[]found `json:"results"`
		Type    string   `json:"type"` // Brave
		Web     struct {
			Results []found `json:"results"`
		} `json:"web"` // Brave; absent without hits
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	all := answer.Web.Results
	switch {
	case answer.Results != nil:
		all = *answer.Results
	case answer.Type == "" && all == nil:
		return nil, errors.New("it has no results")
	}
	hits := make([]Hit, 0, min(len(all), maxHits))
	for _, f := range all {
		u, err := url.Parse(f.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || len(f.URL) > maxLink {
			continue
		}
		if len(hits) == maxHits {
			break
		}
		text := cmp.Or(f.Content, f.Description, strings.Join(f.Highlights, " … "), f.Text)
		date, _, _ := strings.Cut(cmp.Or(f.Published, f.PublishedAt, f.Age), "T")
		hits = append(hits, Hit{Title: plain(f.Title, 200), URL: u.String(), Text: plain(text, maxSnippet), Date: plain(date, 40)})
	}
	return hits, nil
}

// plain removes HTML from a text and cuts it.
func plain(text string, most int) string {
	text = text[:min(len(text), 64<<10)]
	if strings.ContainsAny(text, "<&") {
		var b strings.Builder
		z := html.NewTokenizer(strings.NewReader(text))
		for z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type == html.TextToken {
				b.WriteString(token.Data)
			}
		}
		text = b.String()
	}
	return tool.Clip(oneLine(text), most)
}

// oneLine returns a foreign text without control characters and with single spaces.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(noControl, strings.ToValidUTF8(text, ""))), " ")
}
