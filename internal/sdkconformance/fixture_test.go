package sdkconformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/openai"
)

// fixture is an answer in the testdata of a client of ours.
type fixture struct {
	name        string // without its directories
	contentType string
	data        []byte
	model       string // when the fixture is of a certain one
}

func (f fixture) stream() bool { return f.contentType != jsonMIME }

const (
	jsonMIME   = "application/json"
	bedrockMIM = "application/vnd.amazon.eventstream"
)

// fixturesOf returns all fixtures of a protocol.
func fixturesOf(t *testing.T, protocol string) []fixture {
	t.Helper()
	var all []fixture
	for _, pattern := range map[string][]string{
		"anthropic": {"anthropic/testdata/answers/*.sse", "anthropic/testdata/answers/*.json"},
		"chat":      {"openai/testdata/chat/answers/*.sse", "openai/testdata/chat/answers/*.json"},
		"responses": {"openai/testdata/responses/answers/*.sse"},
		"gemini":    {"google/testdata/stream/*.sse"},
		"bedrock":   {"bedrock/testdata/stream/*.txtar"},
	}[protocol] {
		for _, path := range files(t, pattern) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f := fixture{name: filepath.Base(path), contentType: eventMIM, data: data}
			switch {
			case protocol == "bedrock":
				all = append(all, bedrockFixtures(t, f)...)
				continue
			case protocol == "gemini":
				f.data = bytes.TrimSuffix(data, []byte("<cut>\n"))
			case strings.HasSuffix(path, ".json"):
				f.contentType = jsonMIME
			}
			all = append(all, f)
			if whole := finalResponse(data); protocol == "responses" && whole != nil {
				all = append(all, fixture{name: f.name + " whole", contentType: jsonMIME, data: whole})
			}
		}
	}
	return all
}

// finalResponse returns what the final event of a stream of Responses repeats: the whole answer, or nothing.
func finalResponse(data []byte) (response []byte) {
	for line := range bytes.Lines(data) {
		var e struct {
			Type     string
			Response json.RawMessage
		}
		line, ok := bytes.CutPrefix(line, []byte("data: "))
		if ok && json.Unmarshal(line, &e) == nil && (e.Type == "response.completed" || e.Type == "response.incomplete") {
			response = e.Response
		}
	}
	return response
}

// bedrockFixtures returns the stream and the whole answer of a file in the form that package bedrock's tests have.
func bedrockFixtures(t *testing.T, f fixture) []fixture {
	t.Helper()
	head, rest, ok := strings.Cut(string(f.data), "-- stream --\n")
	body, _, ended := strings.Cut(rest, "-- want --\n")
	if !ok || !ended {
		t.Fatalf("%s has no stream", f.name)
	}
	stream, whole, both := strings.Cut(body, "-- whole --\n")
	f.model, f.contentType, f.data = strings.TrimSpace(head), bedrockMIM, eventStream(t, stream)
	all := []fixture{f}
	if both {
		all = append(all, fixture{name: f.name + " whole", contentType: jsonMIME, data: []byte(whole), model: f.model})
	}
	return all
}

// eventStream encodes lines of a kind and a payload: "! kind" is an exception, "!! code message" an error.
func eventStream(t *testing.T, lines string) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := eventstream.NewEncoder()
	for line := range strings.Lines(lines) {
		var m eventstream.Message
		set := func(name, value string) { m.Headers.Set(name, eventstream.StringValue(value)) }
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, payload, _ := strings.Cut(rest, " ")
		switch kind {
		case "!":
			set(":message-type", "exception")
			set(":exception-type", name)
			m.Payload = []byte(payload)
		case "!!":
			set(":message-type", "error")
			set(":error-code", name)
			set(":error-message", payload)
		default:
			set(":message-type", "event")
			set(":event-type", kind)
			set(":content-type", jsonMIME)
			m.Payload = []byte(rest)
		}
		if err := encoder.Encode(&out, m); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// readers returns how the SDK and how we read a fixture.
func readers(p protocol, f fixture) (theirs, ours func(ctx context.Context) (reading, error)) {
	h := saying(f.contentType, f.data)
	client := p.ours("http://127.0.0.1", h, f.stream())
	switch p.name {
	case "chat":
		name, _, _ := strings.Cut(f.name, ".")
		profile, _ := openai.ProfileOf(name)
		client = openai.NewChat(facts(name, "m"), openai.ChatOptions{
			Endpoint: endpoint("http://127.0.0.1/v1", h), Profile: profile, NoStream: !f.stream(),
		})
	case "bedrock":
		if f.model != "" {
			client = bedrock.New(facts("bedrock", f.model), bedrock.Options{
				Endpoint: endpoint("http://127.0.0.1", h), Region: "us-east-1", NoStream: !f.stream(),
			})
		}
	}
	theirs = func(ctx context.Context) (r reading, err error) {
		defer func() {
			if v := recover(); v != nil { // genai does where the shape is wrong
				err = fmt.Errorf("the SDK panics: %v", v)
			}
		}()
		return p.sdk(ctx, "http://127.0.0.1", h, f.stream())
	}
	ours = func(ctx context.Context) (reading, error) {
		m, err := llm.Collect(ctx, client, &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}})
		return readMessage(m), err
	}
	return theirs, ours
}

// The SDK reads in each fixture what we read there, and fails where we fail, except where deviations says why not.
func TestFixtures(t *testing.T) {
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			agree, fail, left := 0, 0, deviations()[p.name]
			for _, f := range fixturesOf(t, p.name) {
				t.Run(f.name, func(t *testing.T) {
					difference, failed := compareReadings(t.Context(), p, f)
					reason, listed := left[f.name]
					delete(left, f.name)
					switch {
					case listed && difference == "":
						t.Errorf("it agrees now, although %s", reason)
					case !listed && difference != "":
						t.Error(difference)
					case failed:
						fail++
					case !listed:
						agree++
					}
				})
			}
			t.Logf("%d fixtures are read alike, %d fail for both, %d are listed", agree, fail, len(deviations()[p.name]))
			for name := range left {
				t.Errorf("there is no fixture %s", name)
			}
		})
	}
}

// compareReadings says where the SDK and we differ, or nothing, and whether both fail.
func compareReadings(ctx context.Context, p protocol, f fixture) (difference string, failed bool) {
	read, own := readers(p, f)
	theirs, err := read(ctx)
	ours, ownErr := own(ctx)
	for i := range min(len(theirs.Calls), len(ours.Calls)) {
		if theirs.Calls[i].ID == "" {
			ours.Calls[i].ID = "" // the server gave none: ours is made up
		}
	}
	switch {
	case err != nil && ownErr != nil:
		return "", true
	case err != nil:
		return fmt.Sprintf("the SDK fails: %v\nwe read\n%v", err, ours), false
	case ownErr != nil:
		return fmt.Sprintf("we fail: %v\nthe SDK reads\n%v", ownErr, theirs), false
	case !theirs.equal(ours):
		return fmt.Sprintf("the SDK reads\n%v\nwe read\n%v", theirs, ours), false
	}
	return "", false
}

// deviations are the fixtures in which the SDK reads something else than we do, with the reason.
func deviations() map[string]map[string]string {
	const (
		ids    = "calls without an index or with the same one, which we tell apart; the SDK makes one call of them"
		tags   = "reasoning between tags in the text, which we look for"
		parts  = "a list of parts where the protocol has a string"
		count  = "counts of this server's own, or such that do not add up, which we read with care"
		old    = "a reason of this server's own or of old"
		other  = "a field of other servers, which the SDK does not know"
		status = "no status of the response, which other servers leave out"
		strip  = "the SDK wants each chunk to have the id and the shape of the first"
	)
	return map[string]map[string]string{
		"anthropic": {
			"length_in_call.sse": "the SDK takes half arguments for none; we keep them and say that they are cut",
			"no_names.sse":       "no event lines, as of some gateways; the SDK goes by them",
			"unknown.sse":        "a block of a kind that is not known, which the SDK cannot put together",
		},
		"chat": {
			"azure.prompt-filter.sse": strip, "moonshot.cache.sse": strip, "openai.second-choice.sse": strip, "openai.message-repeated.sse": strip,
			"deepseek.cache.sse": count, "openai.no-total.sse": count, "xai.apart.sse": count, "xai.no-total.sse": count,
			"mistral.model-length.sse": old, "zai.sensitive.sse": old,
			"openai-compatible.function-call.sse": old, "openai-compatible.function-call.json": old,
			"mistral.parts.sse": parts, "mistral.parts.json": parts, "openai-compatible.refusal-part.json": parts,
			"openai-compatible.name-repeated.sse": ids, "openai-compatible.no-index-no-id.sse": ids, "openai-compatible.no-index.sse": ids,
			"openai-compatible.object-arguments-repeated.sse": ids, "openai-compatible.same-index.sse": ids,
			"openai-compatible.same-id.sse":            "calls with the same id, of which we make two",
			"openai-compatible.same-ids.json":          "calls with the same id, of which we make two",
			"openai-compatible.think-tag-unclosed.sse": tags, "openai-compatible.think-tags.sse": tags, "openai-compatible.think-tags.json": tags,
			"openai-compatible.thinking-tags-twice.sse": tags,
			"openai-compatible.thinking-field.sse":      other, "openrouter.details-only.sse": other,
			"openai.message-in-stream.sse":   other,
			"openai.done-without-reason.sse": "the mark of the end, but no reason; we take it for the end",
		},
		"responses": {
			"late_text.sse":      "the final response has more than the deltas, and we add the rest",
			"nameless_calls.sse": status, "nameless_calls.sse whole": status, "open_model.sse": status, "open_model.sse whole": status,
			"no_deltas.sse": status,
		},
		"gemini": {
			"thoughts_counted_twice.sse": count,
			"unknown_things.sse":         "a comment, which the SDK takes for a chunk",
		},
		"bedrock": {
			"cache_within_input.txtar": count,
			"half_rune.txtar":          "bytes that are no UTF-8, which the SDK keeps and we replace",
			"unknown.txtar":            "a stop reason of a later version, which we take for the end",
			"without_stops.txtar":      "no stop reason, which we take for the end",
		},
	}
}
