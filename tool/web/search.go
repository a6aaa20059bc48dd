package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

const (
	defaultHits = 8
	maxHits     = 20
	maxQuery    = 400 // characters; every engine accepts them
)

// Engine is a search engine. Implementations are safe for concurrent use.
type Engine interface {
	// Host is the host that a search reaches, as host:port.
	Host() string

	// Search returns at most count pages for a query, the best first. It returns soon after ctx ends. The model sees the error, so it
	// contains no key.
	Search(ctx context.Context, query string, count int) ([]Hit, error)
}

// Hit is a page that a search found.
type Hit struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text,omitzero"` // an excerpt for the query, plain
	Date  string `json:"date,omitzero"` // in the form of the engine
}

// Found is the details of a search.
type Found struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"`
}

type searchArguments struct {
	Query string `json:"query" jsonschema:"words to search for"`
	Count int    `json:"count,omitempty" jsonschema:"results, default 8"`
}

func search(name, text string, engine Engine) tool.Tool {
	return tool.New(name, text,
		func(_ context.Context, args searchArguments) (tool.Effects, error) {
			switch n := utf8.RuneCountInString(args.Query); {
			case strings.TrimSpace(args.Query) == "":
				return tool.Effects{}, tool.Codef("tool.arguments", "the query is empty")
			case n > maxQuery:
				return tool.Effects{}, tool.Codef("tool.arguments", "the query has %d characters, more than %d; shorten it", n, maxQuery)
			}
			return tool.Effects{Hosts: []string{engine.Host()}, Idempotent: true}, nil
		},
		func(ctx context.Context, args searchArguments, _ tool.Report) (tool.Result, error) {
			ctx, cancel := within(ctx, fetchTime)
			defer cancel()
			count := min(max(cmp.Or(args.Count, defaultHits), 1), maxHits)
			hits, err := engine.Search(ctx, args.Query, count)
			if err != nil {
				if late, ok := errors.AsType[timeoutError](context.Cause(ctx)); ok {
					err = late
				}
				return tool.Result{}, fmt.Errorf("%s: %w", name, err)
			}
			hits = hits[:min(len(hits), count)]
			return tool.TextResult(hitsText(hits)).With(tool.Count(len(hits), "hit"), Found{Query: args.Query, Hits: hits}), nil
		}, tool.WithTitle(func(args searchArguments) string { return args.Query }))
}

func hitsText(hits []Hit) string {
	if len(hits) == 0 {
		return "[no results]"
	}
	var b strings.Builder
	for i, hit := range hits {
		fmt.Fprintf(&b, "%d. %s\n%s\n", i+1, cmp.Or(hit.Title, "(no title)"), hit.URL)
		if hit.Date != "" {
			fmt.Fprintf(&b, "%s: ", hit.Date)
		}
		b.WriteString(hit.Text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}
