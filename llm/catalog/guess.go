package catalog

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Guess returns the probable facts about a model that providers spell in many ways. It takes the entry of the model, else that
// of the model of which it is a dated snapshot, else that of the same model at its maker or at another provider, such as
// "claude-sonnet-4-5" of anthropic for "us.anthropic.claude-sonnet-4-5-20250929-v1:0" of bedrock. The result has the names
// that were asked for. It has a price only if that is of the same provider, because providers set their own prices. When
// nothing fits, it is the model with nothing but its names, which can be used, and false.
//
// Guess reads the whole catalog when there is no such entry; ask [Catalog.Model] where that matters.
func (c *Catalog) Guess(provider, id string) (llm.Model, bool) {
	if m, ok := c.Model(provider, id); ok || len(id) > maxName {
		return m, ok
	}
	best, line := none, ""
	asked := fold(id)
	bare := strip(asked)
	for l := range c.lines() {
		p, other, _ := names(l)
		if k := kinship(provider, asked, bare, p, other); k > best {
			best, line = k, l
		}
	}
	e, ok := decode(line)
	if !ok {
		return llm.Model{Provider: provider, ID: id}, false
	}
	m := e.Model
	m.Provider, m.ID = provider, id
	if best != same {
		m.Price = llm.Price{}
	}
	return m, true
}

// How near two models are, the nearer the higher.
const (
	none      = iota
	elsewhere // the same model, at a provider that did not make it
	maker     // the same model, at its maker
	relative  // the same model of the same provider, in another region or tier
	same      // another spelling or a dated snapshot of the same model of the same provider
)

// kinship compares a model that was asked for, folded and stripped, with one of the catalog.
func kinship(provider, asked, bare, p, id string) int {
	id = fold(id)
	switch {
	case provider == p && asked == id:
		return same
	case bare != strip(id):
		return none
	case provider == p:
		return relative
	case slices.Contains([]string{"anthropic", "openai", "gemini", "xai", "mistral", "deepseek", "moonshot", "zai"}, p):
		return maker
	default:
		return elsewhere
	}
}

// fold takes away what does not make another model: case, dots, a minor version of 0, and the date of a snapshot.
func fold(id string) string {
	id = strings.ToLower(strings.ReplaceAll(id, ".", "-"))
	id, at, _ := strings.Cut(id, "@")
	if at != "" && at != "default" && at != "latest" && !allDigits(at) {
		id += "@" + at
	}
	id = strings.TrimSuffix(id, "-latest")
	return strings.TrimSuffix(cutDate(cutDate(id, "-????-??-??"), "-????????"), "-0")
}

// strip takes away what providers put around the name of a model: folders, regions, the maker, tiers, versions of their own.
func strip(id string) string {
	id = id[strings.LastIndexByte(id, '/')+1:]
	id, _, _ = strings.Cut(id, ":")
	for _, region := range []string{"us-gov-", "us-", "eu-", "apac-", "jp-", "au-", "global-"} {
		if rest, ok := strings.CutPrefix(id, region); ok {
			id = rest
			break
		}
	}
	for _, vendor := range []string{"anthropic-", "openai-", "meta-", "google-"} {
		id = strings.TrimPrefix(id, vendor)
	}
	for _, suffix := range []string{"-v1", "-v2", "-001", "-002", "-preview", "-customtools", "-preview"} {
		id = strings.TrimSuffix(id, suffix)
	}
	return points(cutDate(id, "-????????"))
}

// cutDate takes a date off the end of id. In its pattern a ? is a digit.
func cutDate(id, pattern string) string {
	start := len(id) - len(pattern)
	if start <= 0 || id[start:start+3] != "-20" { // this century
		return id
	}
	for i := range len(pattern) {
		if c := id[start+i]; c != pattern[i] && !(pattern[i] == '?' && isDigit(c)) {
			return id
		}
	}
	return id[:start]
}

// points writes "k2p6" as "k2-6": a "p" between digits is a point where names may have none.
func points(id string) string {
	for i := 1; i+1 < len(id); i++ {
		if id[i] == 'p' && isDigit(id[i-1]) && isDigit(id[i+1]) {
			id = id[:i] + "-" + id[i+1:]
		}
	}
	return id
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
