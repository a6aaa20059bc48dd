package web

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

//go:embed code.md
var codeText string

const (
	maxPreviews = 8   // lines of a file in a hit
	maxPreview  = 300 // characters of a line
)

// sourcegraphQuery asks for files with the lines that match, and for repositories. See
// https://sourcegraph.com/docs/api/graphql and its schema, field search.
const sourcegraphQuery = `query Search($query: String!) { search(query: $query, version: V3) { results { limitHit results { __typename
... on FileMatch { repository { name } file { path url } lineMatches { preview lineNumber } }
... on Repository { name url description } } } } }`

func sourcegraphBody(query string, count int) map[string]any {
	if !strings.Contains(query, "count:") {
		query += fmt.Sprintf(" count:%d", count)
	}
	return map[string]any{"query": sourcegraphQuery, "variables": map[string]any{"query": query}}
}

// codeMatch is a result of Sourcegraph: a file, or a repository.
type codeMatch struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Repository  struct {
		Name string `json:"name"`
	} `json:"repository"`
	File struct {
		Path string `json:"path"`
		URL  string `json:"url"` // from the root of the site
	} `json:"file"`
	LineMatches []struct {
		Preview string `json:"preview"`
		Number  int    `json:"lineNumber"` // from 0
	} `json:"lineMatches"`
}

// readCode reads an answer of Sourcegraph.
func readCode(data []byte) ([]Hit, error) {
	var answer struct {
		Data struct {
			Search *struct {
				Results struct {
					Results []codeMatch `json:"results"`
				} `json:"results"`
			} `json:"search"`
		} `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, err
	}
	if answer.Data.Search == nil {
		if len(answer.Errors) > 0 {
			return nil, errors.New(plain(answer.Errors[0].Message, 200))
		}
		return nil, errors.New("it has no results")
	}
	var hits []Hit
	for _, m := range answer.Data.Search.Results.Results {
		if hit, ok := m.hit(); ok && len(hits) < maxHits {
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

func (m *codeMatch) hit() (Hit, bool) {
	h := Hit{Title: plain(m.Name, 200), URL: m.URL, Text: plain(m.Description, maxSnippet)}
	if m.File.Path != "" {
		h = Hit{Title: oneLine(tool.Clip(m.Repository.Name+": "+m.File.Path, 300)), URL: m.File.URL}
		var lines []string
		for _, l := range m.LineMatches[:min(len(m.LineMatches), maxPreviews)] {
			lines = append(lines, fmt.Sprintf("%d: %s", l.Number+1, tool.Clip(strings.TrimRight(strings.Map(noControl, strings.ToValidUTF8(l.Preview, "")), " "), maxPreview)))
		}
		if more := len(m.LineMatches) - maxPreviews; more > 0 {
			lines = append(lines, fmt.Sprintf("and %d more lines", more))
		}
		h.Text = strings.Join(lines, "\n")
	}
	u, err := url.Parse(h.URL)
	return h, err == nil && (u.Scheme == "" || u.Scheme == "https" || u.Scheme == "http") && h.Title != "" && len(h.URL) <= maxLink
}
