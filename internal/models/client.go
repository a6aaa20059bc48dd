package models

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// client makes the client of a model with one key. It fetches the key.
func (r *Registry) client(ctx context.Context, p provider, model llm.Model, k key) (llm.Client, error) {
	endpoint, err := r.endpoint(ctx, p, k)
	if err != nil {
		return nil, err
	}
	c := r.o.Config.Providers[p.name]
	switch protocol := protocolOf(p, endpoint.BaseURL); protocol {
	case config.Anthropic:
		return anthropic.New(model, anthropic.Options{Endpoint: endpoint, Bearer: strings.HasSuffix(k.name, "ANTHROPIC_AUTH_TOKEN")}), nil
	case config.OpenAIResponses:
		return openai.NewResponses(model, openai.ResponsesOptions{Endpoint: endpoint}), nil
	case config.OpenAIChat:
		profile, err := r.profile(p, endpoint.BaseURL)
		if err != nil {
			return nil, err
		}
		return openai.NewChat(model, openai.ChatOptions{Endpoint: endpoint, Profile: profile}), nil
	case config.AzureChat, config.AzureResponses:
		return r.azure(ctx, p, model, endpoint, protocol)
	case config.Gemini:
		return google.New(model, google.Options{Endpoint: endpoint}), nil
	case config.Vertex, config.VertexAnthropic:
		return r.vertex(ctx, p, model, endpoint)
	case config.Bedrock:
		region, err := r.text(ctx, c.Region)
		return bedrock.New(model, bedrock.Options{Endpoint: endpoint, Region: region}), err
	default:
		return nil, fmt.Errorf("the protocol %q is not known", protocol)
	}
}

// endpoint is how the server of a provider is reached with one key.
func (r *Registry) endpoint(ctx context.Context, p provider, k key) (e wire.Endpoint, err error) {
	c := r.o.Config.Providers[p.name]
	e.KeyName, e.UserAgent = k.name, "tenon/"+strings.TrimPrefix(r.o.Version, "v")
	if e.BaseURL, _, err = r.address(ctx, p); err != nil {
		return e, err
	}
	for _, password := range passwords(e.BaseURL) {
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

// silence is a timeout of the configuration as an endpoint has it: there 0 is no limit, here it is the default.
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

// httpClient returns the HTTP client that goes through a proxy; nil is the one that all share.
func (r *Registry) httpClient(ctx context.Context, proxy config.Value) (*http.Client, error) {
	address, err := proxy.Get(ctx)
	if err != nil || address == "" {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the proxy is not an address") // the cause would show its password
	}
	for _, password := range passwords(address) {
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

// profile returns what is peculiar about the server of a provider. The models of OpenAI at another address than its own are taken for
// those of any compatible server.
func (r *Registry) profile(p provider, base string) (openai.Profile, error) {
	name := p.profile
	if name == "openai" && !atHome(base, "api.openai.com") && r.o.Config.Providers[p.name].Profile == "" {
		name = "openai-compatible"
	}
	profile, ok := openai.ProfileOf(name)
	if !ok {
		var all []string
		for p := range openai.Profiles() {
			all = append(all, p.Name)
		}
		return profile, fmt.Errorf("providers.%s.profile in tenon.json is %q; there are %s", p.name, name, strings.Join(all, ", "))
	}
	return profile, nil
}

func (r *Registry) azure(ctx context.Context, p provider, model llm.Model, e wire.Endpoint, protocol config.Protocol) (llm.Client, error) {
	version, err := r.text(ctx, r.o.Config.Providers[p.name].APIVersion, "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
	if err != nil {
		return nil, err
	}
	if e.BaseURL == "" {
		return nil, fmt.Errorf("there is no address: set AZURE_OPENAI_ENDPOINT to that of your resource, such as https://NAME.openai.azure.com")
	}
	a := &openai.Azure{APIVersion: version}
	if protocol == config.AzureResponses {
		return openai.NewResponses(model, openai.ResponsesOptions{Endpoint: e, Azure: a}), nil
	}
	profile, err := r.profile(p, e.BaseURL)
	return openai.NewChat(model, openai.ChatOptions{Endpoint: e, Azure: a, Profile: profile}), err
}

func (r *Registry) vertex(ctx context.Context, p provider, model llm.Model, e wire.Endpoint) (llm.Client, error) {
	c := r.o.Config.Providers[p.name]
	project, err := r.text(ctx, c.Project, "GOOGLE_CLOUD_PROJECT", "GOOGLE_VERTEX_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
	if err != nil {
		return nil, err
	}
	location := c.Location
	if !location.IsSet() {
		location = c.Region
	}
	place, err := r.text(ctx, location, "GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_LOCATION", "CLOUD_ML_REGION")
	if err != nil {
		return nil, err
	}
	if place == "" {
		place = "global"
	}
	if protocolOf(p, "") != config.VertexAnthropic && !strings.HasPrefix(model.ID, "claude") {
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
