package sdkconformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// unlike are the differences that the SDK's request and ours may have for the same conversation, with the reason.
func unlike() map[string]map[string]string {
	return map[string]map[string]string{
		"anthropic": {"only theirs: .messages[2].content[0].is_error": "the SDK writes false, which is the default"},
		"responses": {"only ours: .prompt_cache_key": "ours names the conversation by a sum of its beginning"},
		"gemini": {
			"only ours: .contents[1].parts[2].functionCall.args": "the SDK leaves out what is empty",
			"only theirs: .systemInstruction.role":               "the SDK says user, which means nothing there",
		},
	}
}

// The SDK and our client make the same JSON of the conversation.
func TestRequestsAreAlike(t *testing.T) {
	each(t, func(t *testing.T, p protocol, stream bool) {
		theirs := parsed(t, sent(t, func(h *http.Client) error {
			_, err := p.sdk(t.Context(), "http://127.0.0.1", h, stream)
			return err
		}))
		client := p.ours("http://127.0.0.1", nil, stream)
		ours := parsed(t, sentByUs(t, p, stream, conversation(client.Model())))
		compareAllowed(t, differences("", theirs, ours), unlike()[p.name])
	})
}

// compareAllowed complains of differences that are not allowed, and of allowances that nothing needs.
func compareAllowed(t *testing.T, found []string, allowed map[string]string) {
	t.Helper()
	for _, difference := range found {
		if allowed[difference] == "" {
			t.Error(difference)
		}
	}
	for _, difference := range slices.Sorted(maps.Keys(allowed)) {
		if !slices.Contains(found, difference) {
			t.Errorf("there is no difference %q any more", difference)
		}
	}
}

// known reads a request into the SDK's types and writes it again. Bedrock is not here because its SDK cannot read requests.
// TestRequestsAreAlike covers it.
func known(protocol string, body []byte) ([]byte, error) {
	switch protocol {
	case "anthropic":
		return again[anthropic.MessageNewParams](body)
	case "chat":
		return again[openai.ChatCompletionNewParams](body)
	case "responses":
		return again[responses.ResponseNewParams](body)
	case "gemini":
		return again[geminiRequest](bytes.ReplaceAll(body, []byte(skip), []byte(skipStandard))) // Go's JSON knows one alphabet
	default:
		return nil, fmt.Errorf("nothing reads requests of %s", protocol)
	}
}

func again[T any](body []byte) ([]byte, error) {
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// geminiRequest is the body of generateContent. Of the SDK are all of its types but this one, which the SDK does not have.
type geminiRequest struct {
	Contents          []*genai.Content        `json:"contents"`
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             []*genai.Tool           `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
	SafetySettings    []*genai.SafetySetting  `json:"safetySettings,omitempty"`
}

// requestFixtures are the requests in the testdata of our clients.
func requestFixtures() map[string]string {
	return map[string]string{
		"anthropic": "anthropic/testdata/requests/*.json",
		"chat":      "openai/testdata/chat/requests/*.json",
		"responses": "openai/testdata/responses/requests/*.txt",
		"gemini":    "google/testdata/request/*.json",
	}
}

// unknown is a difference between a request of ours and what the SDK's types make of it.
type unknown struct{ protocol, in, path, reason string } // in are the fixtures that must have it; fixtures: all of them

func unknowns() []unknown {
	const (
		text  = "reasoning goes back to servers that need it; OpenAI's takes none in this protocol"
		marks = "the marks of Anthropic's cache, for servers that pass them on"
	)
	return []unknown{
		{
			"anthropic", "everything.json other.json without_cache.json", ".messages[].content[].input.path: a.go is not ours: b.go",
			"a model wrote a member twice, which goes back as it was; of two the SDK keeps the first, this test the last",
		},
		{
			"chat", "fixtures", ".messages[].tool_calls[].extra_content",
			"a signature of Google's, which goes back to the server that wrote it",
		},
		{
			"chat", "deepseek.json fireworks.json llamacpp.json moonshot.json vllm.json xai.json zai.json", ".messages[].reasoning_content", text,
		},
		{"chat", "openrouter.json vercel.json", ".messages[].reasoning_details", text},
		{"chat", "openrouter.json vercel.json", ".reasoning", "how these servers are asked to think"},
		{"chat", "deepseek.json moonshot.json zai.json", ".thinking", "how these servers are asked to think"},
		{"chat", "llamacpp.json vllm.json", ".chat_template_kwargs", "how these servers are asked to think"},
		{"chat", "openrouter.json", ".usage", "asks for the cost"},
		{"chat", "litellm.json openrouter.json vercel.json", ".messages[].content[].cache_control", marks},
		{"chat", "mistral.json", ".messages[].name", "Mistral's results have the name of the tool"},
		{
			"gemini", "conversation everything.json everything_strict.json everything_vertex.json schema_native.json schema_with_tools.json",
			".contents[].parts[].functionCall.args", "the SDK leaves out what is empty",
		},
		{
			"gemini", "everything.json everything_simple.json everything_strict.json everything_vertex.json schema_native.json schema_with_tools.json",
			".contents[].parts[].text", "the SDK leaves out what is empty",
		},
		{
			"gemini", "everything_strict.json schema_native.json", ".contents[].parts[].thoughtSignature: " + skipStandard + " is not ours: " + skip,
			"the word that Google documents for calls of other models; its letters are of the other alphabet for base64, see known",
		},
	}
}

const (
	skip         = "skip_thought_signature_validator"
	skipStandard = "skip/thought/signature/validator"
)

// unknownIn returns the differences that a request must have.
func unknownIn(protocol, name string) []string {
	var paths []string
	for _, u := range unknowns() {
		in := strings.Fields(u.in)
		if u.protocol == protocol && (u.in == "fixtures" && name != "conversation" || slices.Contains(in, name)) {
			paths = append(paths, u.path)
		}
	}
	return slices.Sorted(slices.Values(paths))
}

var number = regexp.MustCompile(`\[\d+\]`)

// The types of the SDK have all that our requests have, with the names and the kinds that we give it.
func TestRequestsAreKnown(t *testing.T) {
	for name, pattern := range requestFixtures() {
		t.Run(name, func(t *testing.T) {
			for _, path := range files(t, pattern) {
				t.Run(filepath.Base(path), func(t *testing.T) {
					compareKnown(t, name, filepath.Base(path), bodyOf(t, path))
				})
			}
			p := protocolOf(t, name)
			for _, stream := range []bool{true, false} {
				client := p.ours("http://127.0.0.1", nil, stream)
				compareKnown(t, name, "conversation", sentByUs(t, p, stream, conversation(client.Model())))
			}
		})
	}
}

func compareKnown(t *testing.T, protocol, name string, body []byte) {
	t.Helper()
	data, err := known(protocol, body)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ours := parsed(t, body)
	if protocol != "gemini" {
		delete(ours, "stream") // the SDKs add it themselves
	}
	for _, difference := range differences("", parsed(t, data), ours) {
		difference = number.ReplaceAllString(strings.TrimPrefix(difference, "only ours: "), "[]")
		if !slices.Contains(found, difference) {
			found = append(found, difference)
		}
	}
	want := unknownIn(protocol, name)
	if slices.Sort(found); !slices.Equal(found, want) {
		t.Errorf("the SDK does not know\n\t%s\nwe thought\n\t%s", strings.Join(found, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// files returns the paths that match a pattern below llm.
func files(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../llm", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures %s: %v", pattern, err)
	}
	return paths
}

// bodyOf returns the JSON of a fixture, which may follow headers.
func bodyOf(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.IndexByte(data, '{')
	if at < 0 {
		t.Fatalf("%s has no JSON", path)
	}
	return data[at:]
}
