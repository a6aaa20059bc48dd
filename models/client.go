package models

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/ollama"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
	"github.com/tenon-agent/tenon/redact"
)

// connector makes clients and shares their connections.
type connector struct {
	o      *Options
	google *google.Credentials

	mu   sync.Mutex
	http map[string]*http.Client // by proxy
}

// client makes the client of a model with one key. It fetches the key.
// window is the known context window of the model, or 0.
func (r *connector) client(ctx context.Context, p server, model llm.Model, window int, k key) (llm.Client, error) {
	endpoint, err := r.endpoint(ctx, p, k)
	if err != nil {
		return nil, err
	}
	c := p.settings
	switch protocol := protocolOf(p.provider, endpoint.BaseURL); protocol {
	case Anthropic:
		return anthropic.New(model, anthropic.Options{Endpoint: endpoint, Bearer: strings.HasSuffix(k.name, "ANTHROPIC_AUTH_TOKEN")}), nil
	case OpenAIResponses:
		return openai.NewResponses(model, openai.ResponsesOptions{Endpoint: endpoint}), nil
	case OpenAIChat:
		profile, err := p.profileAt(endpoint.BaseURL)
		if err != nil {
			return nil, err
		}
		return openai.NewChat(model, openai.ChatOptions{Endpoint: endpoint, Profile: profile}), nil
	case Ollama:
		return ollama.New(model, ollama.Options{Endpoint: endpoint, Window: window}), nil
	case AzureChat, AzureResponses:
		return r.azure(ctx, p, model, endpoint, protocol)
	case Gemini:
		return google.New(model, google.Options{Endpoint: endpoint}), nil
	case Vertex, VertexAnthropic:
		return r.vertex(ctx, p, model, endpoint)
	case Bedrock:
		region, err := p.text(ctx, c.Region)
		return bedrock.New(model, bedrock.Options{Endpoint: endpoint, Region: region}), err
	default:
		return nil, fmt.Errorf("unknown protocol %q", protocol)
	}
}

// endpoint returns the connection of a provider with one key.
func (r *connector) endpoint(ctx context.Context, p server, k key) (e wire.Endpoint, err error) {
	c := p.settings
	e.KeyName, e.UserAgent = k.name, "tenon/"+strings.TrimPrefix(r.o.Version, "v")
	if e.BaseURL, _, err = p.address(ctx); err != nil {
		return e, err
	}
	for _, password := range redact.InURL(e.BaseURL) {
		r.o.Secret(password)
	}
	if k.get != nil {
		if e.Key, err = k.get(ctx); err != nil {
			return e, err
		}
		r.o.Secret(e.Key)
	}
	for name, v := range c.Headers {
		text, err := v.Get(ctx)
		if err != nil {
			return e, err
		}
		for _, word := range words(text) {
			r.o.Secret(word)
		}
		if e.Header == nil {
			e.Header = http.Header{}
		}
		e.Header.Set(name, text)
	}
	e.FirstByte, e.Idle = silence(c.Timeouts.FirstByte), silence(c.Timeouts.Idle)
	e.HTTP, err = r.httpClient(ctx, c.Proxy)
	return e, err
}

// silence converts a timeout: 0 means no limit in the configuration, and the default in an endpoint.
func silence(d *time.Duration) time.Duration {
	switch {
	case d == nil:
		return 0
	case *d == 0:
		return -1
	default:
		return *d
	}
}

// httpClient returns the HTTP client for a proxy; nil without one: the client that all providers share.
func (r *connector) httpClient(ctx context.Context, proxy redact.Value) (*http.Client, error) {
	address, err := proxy.Get(ctx)
	if err != nil || address == "" {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the proxy is not a URL") // the cause would show its password
	}
	for _, password := range redact.InURL(address) {
		r.o.Secret(password)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.http[address]
	if c == nil {
		c = wire.NewClient(wire.NewTransport(u))
		r.http[address] = c
	}
	return c, nil
}

// profileAt returns the differences of the server from other servers of its protocol. OpenAI at another address than its own is a compatible
// server.
func (p server) profileAt(base string) (openai.Profile, error) {
	name := p.profile
	if name == "openai" && !atHome(base, "api.openai.com") && p.settings.Profile == "" {
		name = "openai-compatible"
	}
	profile, ok := openai.ProfileOf(name)
	if !ok {
		var all []string
		for p := range openai.Profiles() {
			all = append(all, p.Name)
		}
		return profile, fmt.Errorf("unknown providers.%s.profile %q in tenon.json; known are %s", p.name, name, strings.Join(all, ", "))
	}
	return profile, nil
}

func (r *connector) azure(ctx context.Context, p server, model llm.Model, e wire.Endpoint, protocol Protocol) (llm.Client, error) {
	version, err := p.text(ctx, p.settings.APIVersion, "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
	if err != nil {
		return nil, err
	}
	if e.BaseURL == "" {
		return nil, fmt.Errorf("there is no address; set AZURE_OPENAI_ENDPOINT to the address of your resource, such as https://NAME.openai.azure.com")
	}
	a := &openai.Azure{APIVersion: version}
	if protocol == AzureResponses {
		return openai.NewResponses(model, openai.ResponsesOptions{Endpoint: e, Azure: a}), nil
	}
	profile, err := p.profileAt(e.BaseURL)
	return openai.NewChat(model, openai.ChatOptions{Endpoint: e, Azure: a, Profile: profile}), err
}

func (r *connector) vertex(ctx context.Context, p server, model llm.Model, e wire.Endpoint) (llm.Client, error) {
	c := p.settings
	project, err := p.text(ctx, c.Project, "GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
	if err != nil {
		return nil, err
	}
	location := c.Location
	if !location.IsSet() {
		location = c.Region
	}
	place, err := p.text(ctx, location, "GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_LOCATION", "CLOUD_ML_REGION")
	if err != nil {
		return nil, err
	}
	if place == "" {
		place = "global"
	}
	if protocolOf(p.provider, "") != VertexAnthropic && !strings.HasPrefix(model.ID, "claude") {
		return google.NewVertex(model, project, place, google.Options{Endpoint: e, Credentials: r.google}), nil
	}
	if project == "" {
		if project, err = r.google.Project(ctx); err != nil {
			return nil, err
		}
	}
	if e.Key == "" {
		e.Authorize = r.google.Authorize
	}
	return anthropic.NewVertex(model, project, place, anthropic.Options{Endpoint: e}), nil
}
