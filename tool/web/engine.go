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
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxAnswer  = 2 << 20 // bytes of an engine's answer
	maxSnippet = 500     // characters of a hit's text
)

// NewEngine returns the client of a search engine: "searxng", "brave", "exa" or "tavily".
//
// address is where its API is; it may be empty for all but searxng, which everybody runs for themselves with the format json
// allowed. key is the API key, which searxng needs none of. The address is the person's choice and may be private. A nil
// transport is one that takes its proxy from the environment; redirects are not followed, so that the key goes nowhere else.
func NewEngine(name, address, key string, transport http.RoundTripper) (Engine, error) {
	k, ok := kinds()[name]
	if !ok {
		return nil, fmt.Errorf("web: there is no search engine %q; there are brave, exa, searxng and tavily", name)
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
	if base := strings.TrimSuffix(t.url.Path, "/"); !strings.HasSuffix(base, "/search") {
		t.url.Path = base + k.path
	}
	return &engine{name: name, kind: k, at: t, key: key, client: http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// kind is how one kind of search engine is asked.
type kind struct {
	address, path string
	keyed         bool
	ask           func(e *engine, query string, count int) (*http.Request, error)
	read          func(data []byte) ([]Hit, error)
}

func kinds() map[string]kind {
	return map[string]kind{
		"searxng": {"", "/search", false, askSearXNG, readList},
		"brave":   {"https://api.search.brave.com", "/res/v1/web/search", true, askBrave, readBrave},
		"exa":     {"https://api.exa.ai", "/search", true, askExa, readList},
		"tavily":  {"https://api.tavily.com", "/search", true, askTavily, readList},
	}
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
	r, err := e.kind.ask(e, query, count)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", "application/json")
	answer, err := e.client.Do(r.WithContext(ctx))
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
	hits, err := e.kind.read(data)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: the answer cannot be understood: %w", e.name, e.at, err)
	}
	return hits, nil
}

// refused says what a status means, with what the engine says about it.
func (e *engine) refused(status int, data []byte) error {
	what := fmt.Sprintf("%s at %s: %d %s", e.name, e.at, status, http.StatusText(status))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusPaymentRequired || status == http.StatusForbidden && e.kind.keyed:
		what += "; the person has to look at the API key, the setting web.search.api_key"
	case status == http.StatusForbidden:
		what += "; the server has to allow the format json"
	case status == http.StatusTooManyRequests:
		what += "; too many searches, try again later"
	}
	said := string(data)
	if e.key != "" {
		said = strings.ReplaceAll(said, e.key, "…")
	}
	if said = plain(said, 200); said != "" && !tool.Binary(said) {
		what += ": " + said
	}
	return errors.New(what)
}

func (e *engine) get(values url.Values) (*http.Request, error) {
	u := *e.at.url
	u.RawQuery = values.Encode()
	return http.NewRequest(http.MethodGet, u.String(), nil)
}

func (e *engine) post(body any) (*http.Request, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, e.at.url.String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func askSearXNG(e *engine, query string, _ int) (*http.Request, error) {
	r, err := e.get(url.Values{"q": {query}, "format": {"json"}})
	if err == nil && e.key != "" { // some servers stand behind something that wants one
		r.Header.Set("Authorization", "Bearer "+e.key)
	}
	return r, err
}

func askBrave(e *engine, query string, count int) (*http.Request, error) {
	r, err := e.get(url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "text_decorations": {"false"}})
	if err == nil {
		r.Header.Set("X-Subscription-Token", e.key)
	}
	return r, err
}

func askExa(e *engine, query string, count int) (*http.Request, error) {
	r, err := e.post(map[string]any{"query": query, "numResults": count, "contents": map[string]any{"highlights": true}})
	if err == nil {
		r.Header.Set("x-api-key", e.key)
	}
	return r, err
}

func askTavily(e *engine, query string, count int) (*http.Request, error) {
	r, err := e.post(map[string]any{"query": query, "max_results": count})
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+e.key)
	}
	return r, err
}

// found is a hit as one engine or another writes it.
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

func readList(data []byte) ([]Hit, error) {
	var answer struct {
		Results *[]found `json:"results"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	if answer.Results == nil {
		return nil, errors.New("it has no results")
	}
	return hitsOf(*answer.Results), nil
}

func readBrave(data []byte) ([]Hit, error) {
	var answer struct {
		Type string `json:"type"`
		Web  struct {
			Results []found `json:"results"`
		} `json:"web"` // absent when nothing was found
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	if answer.Type == "" && answer.Web.Results == nil {
		return nil, errors.New("it has no results")
	}
	return hitsOf(answer.Web.Results), nil
}

// hitsOf keeps what leads somewhere, as plain short text.
func hitsOf(all []found) []Hit {
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
	return hits
}

// plain takes the marks of HTML from a text and cuts it.
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
	text = strings.Map(noControl, strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return text
}
