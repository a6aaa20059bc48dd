package openai

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Azure is how a resource of Azure OpenAI is addressed. The base URL is that of the resource, such as
// https://NAME.openai.azure.com; when it has a path from /openai on, that path is kept. The key travels in the header api-key;
// a token of Entra ID is put on requests by [github.com/tenon-agent/tenon/llm/wire.Endpoint.Authorize] instead.
type Azure struct {
	// APIVersion chooses the surface: empty or "v1" is the current one, "preview" the current one with what is not settled
	// yet, and a date such as "2024-10-21" or "2025-04-01-preview" the older one that has a path for each deployment.
	APIVersion string

	// Deployment is the name of the deployment; default: the ID of the model.
	Deployment string
}

// of returns a with the deployment that a model has by default. Nil stays nil.
func (a *Azure) of(model llm.Model) *Azure {
	if a == nil || a.Deployment != "" {
		return a
	}
	return &Azure{APIVersion: a.APIVersion, Deployment: model.ID}
}

// model returns the name by which a request asks for a model: that of the deployment, on Azure.
func (a *Azure) model(id string) string {
	if a == nil || a.Deployment == "" {
		return id
	}
	return a.Deployment
}

// url returns the address of a path such as "chat/completions" at a server. When a is nil, the server is not Azure's: the path goes
// behind that of the base URL, or behind /v1 when the base URL has none.
func (a *Azure) url(base, path string) string {
	base, query, _ := strings.Cut(base, "?")
	base = strings.TrimRight(base, "/")
	if a == nil {
		if u, err := url.Parse(base); err == nil && u.Path == "" {
			base += "/v1"
		}
		return withQuery(base+"/"+path, query)
	}
	version := ""
	if a.APIVersion != "" && a.APIVersion != "v1" && !strings.Contains("&"+query, "&api-version=") {
		version = "api-version=" + url.QueryEscape(a.APIVersion)
	}
	return withQuery(a.root(base, path)+"/"+path, query, version)
}

// root returns what comes before a path: as much of it as the base URL does not have already.
func (a *Azure) root(base, path string) string {
	before, rest, found := strings.Cut(base+"/", "/openai/")
	if found && rest != "" {
		return base
	}
	root := before
	if !found {
		root = base
	}
	root += "/openai"
	switch {
	case a.current():
		return root + "/v1"
	case path == "responses": // this one names the deployment in the body
		return root
	default:
		return root + "/deployments/" + url.PathEscape(a.Deployment)
	}
}

// current reports whether the surface is the one without dates.
func (a *Azure) current() bool {
	return a.APIVersion == "" || a.APIVersion == "v1" || a.APIVersion == "preview"
}

func withQuery(address string, queries ...string) string {
	separator := "?"
	for _, q := range queries {
		if q != "" {
			address += separator + q
			separator = "&"
		}
	}
	return address
}

// authorize returns the header with the endpoint's key, as the server wants it. It omits the key if the endpoint authorizes requests.
func (a *Azure) authorize(e *wire.Endpoint) http.Header {
	h := make(http.Header)
	switch {
	case e.Key == "", e.Authorize != nil:
	case a != nil:
		h.Set("Api-Key", e.Key)
	default:
		h.Set("Authorization", "Bearer "+e.Key)
	}
	return h
}
