package recorded

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// dialect is how one server speaks one protocol.
type dialect struct {
	name     string // of the protocol and the server, for people
	protocol string
	provider string

	// client returns our client of the server at that address.
	client func(m llm.Model, at *url.URL, e wire.Endpoint, stream bool) llm.Client

	// request and answer are the second reading of what was recorded.
	request func(t *testing.T, m llm.Model, body []byte) *llm.Request
	answer  func(t *testing.T, i *interaction) answer

	// served returns the response as our client gets it, where it does not speak what was recorded.
	served func(t *testing.T, i *interaction) (contentType string, body []byte)

	// also are further checks of what was recorded.
	also []func(t *testing.T, m llm.Model, i *interaction, req *llm.Request, want answer)
}

func dialectOf(t *testing.T, address string) dialect {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	switch host, path := u.Hostname(), u.Path; {
	case host == "api.anthropic.com":
		return messagesDialect()
	case strings.HasPrefix(host, "bedrock-runtime."):
		return bedrockDialect()
	case host == "generativelanguage.googleapis.com", strings.HasSuffix(host, "-aiplatform.googleapis.com"):
		return geminiDialect(host)
	case strings.HasSuffix(path, "/responses"):
		return responsesDialect(host)
	case strings.HasSuffix(path, "/chat/completions"):
		if provider := chatProvider(host); provider != "" {
			return chatDialect(provider)
		}
	}
	t.Fatalf("no client is known for %s", address)
	return dialect{}
}

func messagesDialect() dialect {
	return dialect{
		name: "anthropic", protocol: "messages", provider: "anthropic", request: messagesRequest, answer: messagesAnswer,
		client: func(m llm.Model, _ *url.URL, e wire.Endpoint, stream bool) llm.Client {
			return anthropic.New(m, anthropic.Options{Endpoint: e, NoStream: !stream})
		},
	}
}

// bedrockDialect is of recordings in which Bedrock was asked by InvokeModel, whose bodies are those of Anthropic, while our client
// asks by Converse: the bodies are translated, and their frames are read.
func bedrockDialect() dialect {
	return dialect{
		name: "bedrock", protocol: "converse", provider: "bedrock", request: messagesRequest, answer: messagesAnswer, served: converse,
		client: func(m llm.Model, at *url.URL, e wire.Endpoint, stream bool) llm.Client {
			region := strings.Split(at.Hostname(), ".")[1]
			return bedrock.New(m, bedrock.Options{Endpoint: e, Region: region, NoStream: !stream})
		},
		also: []func(*testing.T, llm.Model, *interaction, *llm.Request, answer){readAsMessages, readFrames},
	}
}

func geminiDialect(host string) dialect {
	d := dialect{name: "gemini", protocol: "gemini", provider: "gemini", request: geminiRequest, answer: geminiAnswer}
	d.client = func(m llm.Model, _ *url.URL, e wire.Endpoint, stream bool) llm.Client {
		return google.New(m, google.Options{Endpoint: e, NoStream: !stream})
	}
	if strings.HasSuffix(host, "-aiplatform.googleapis.com") {
		d.name, d.provider = "vertex", "vertex"
		d.client = func(m llm.Model, at *url.URL, e wire.Endpoint, stream bool) llm.Client {
			step := strings.Split(at.Path, "/") // /VERSION/projects/PROJECT/locations/LOCATION/...
			return google.NewVertex(m, step[3], step[5], google.Options{Endpoint: e, NoStream: !stream})
		}
	}
	return d
}

// azureOf says how Azure is addressed; nil for other hosts.
func azureOf(host string, e *wire.Endpoint) *openai.Azure {
	if !strings.HasSuffix(host, ".openai.azure.com") {
		return nil
	}
	e.BaseURL = "https://" + host
	return &openai.Azure{}
}

func responsesDialect(host string) dialect {
	d := dialect{name: "openai responses", protocol: "responses", provider: "openai", request: responsesRequest, answer: responsesAnswer}
	if strings.HasSuffix(host, ".openai.azure.com") {
		d.name, d.provider = "azure responses", "azure"
	}
	d.client = func(m llm.Model, at *url.URL, e wire.Endpoint, stream bool) llm.Client {
		azure := azureOf(at.Hostname(), &e)
		return openai.NewResponses(m, openai.ResponsesOptions{Endpoint: e, NoStream: !stream, Azure: azure})
	}
	return d
}

// chatProvider returns the name of our profile for a host.
func chatProvider(host string) string {
	if strings.HasSuffix(host, ".openai.azure.com") {
		return "azure"
	}
	for p := range openai.Profiles() {
		if u, err := url.Parse(p.BaseURL); err == nil && u.Hostname() == host {
			return p.Name
		}
	}
	return ""
}

func chatDialect(provider string) dialect {
	return dialect{
		name: "chat " + provider, protocol: "chat", provider: provider, request: chatRequest, answer: chatAnswer,
		client: func(m llm.Model, at *url.URL, e wire.Endpoint, stream bool) llm.Client {
			profile, _ := openai.ProfileOf(provider)
			azure := azureOf(at.Hostname(), &e)
			if provider == "zai" { // its plan for coding has an address of its own, which a person sets as the base URL
				e.BaseURL = "https://" + at.Host + strings.TrimSuffix(at.Path, "/chat/completions")
			}
			return openai.NewChat(m, openai.ChatOptions{Endpoint: e, NoStream: !stream, Profile: profile, Azure: azure})
		},
	}
}

// modelOf returns the model that was asked: the body or the address names it.
func modelOf(t *testing.T, d dialect, i *interaction) llm.Model {
	t.Helper()
	var body struct{ Model string }
	if err := json.Unmarshal([]byte(i.Request.Body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Model == "" {
		u, err := url.Parse(i.Request.URL)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`/models?/([^/]+?)(:\w*[gG]enerateContent|/invoke.*)$`).FindStringSubmatch(u.Path)
		if found == nil {
			t.Fatalf("%s names no model", u)
		}
		body.Model = found[1]
	}
	return llm.Model{Provider: d.provider, ID: body.Model, Images: true}
}

// reading is what our client made of an exchange.
type reading struct {
	message llm.Message
	sent    []byte
	address string
}

// ask asks for an answer with our client; a server on this machine gives the recorded one.
func ask(t *testing.T, d dialect, m llm.Model, i *interaction, req *llm.Request) reading {
	t.Helper()
	contentType, body := i.contentType(), []byte(i.Response.Body)
	if d.served != nil {
		contentType, body = d.served(t, i)
	}
	var got reading
	s := serve(t, contentType, body, &got.sent)
	at, err := url.Parse(i.Request.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: detour{to: s, address: &got.address}}
	client := d.client(m, at, wire.Endpoint{Key: "key", HTTP: h}, streamed(i))
	got.message = collect(t, client, req)
	return got
}

// serve gives the same answer to all, in pieces that end anywhere, and notes what it was sent.
func serve(t *testing.T, contentType string, body []byte, sent *[]byte) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *sent, _ = io.ReadAll(r.Body); r.Method != http.MethodPost {
			t.Errorf("the method is %s", r.Method)
		}
		w.Header().Set("Content-Type", contentType)
		const piece = 997
		for rest := body; len(rest) > 0; {
			n, err := w.Write(rest[:min(piece, len(rest))])
			if err != nil {
				return
			}
			rest = rest[n:]
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// detour sends requests to a server on this machine, and notes where they would have gone.
type detour struct {
	to      *httptest.Server
	address *string
}

// RoundTrip implements http.RoundTripper.
func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	*d.address = r.URL.String()
	there, err := url.Parse(d.to.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = there.Scheme, there.Host, there.Host
	return d.to.Client().Transport.RoundTrip(r)
}

// streamed reports whether the recorded answer is a stream.
func streamed(i *interaction) bool {
	return strings.Contains(i.contentType(), "event-stream") || strings.Contains(i.contentType(), "eventstream")
}
