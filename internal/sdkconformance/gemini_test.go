package sdkconformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"google.golang.org/genai"

	"github.com/tenon-agent/tenon/llm"
)

func geminiClient(ctx context.Context, base string, h *http.Client) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: h, HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: "v1beta"},
	})
}

// geminiParams is conversation() in the SDK's types.
func geminiParams() ([]*genai.Content, *genai.GenerateContentConfig) {
	signed, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		panic(err)
	}
	call := func(id, name string, args map[string]any) *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
	}
	result := func(id, name string, response map[string]any) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: response}}
	}
	read := call("call_1", "read", map[string]any{"path": "a.txt"})
	read.ThoughtSignature = signed
	text := func(s string) *genai.Part { return &genai.Part{Text: s} }
	budget := int32(8192)
	contents := []*genai.Content{
		{Role: genai.RoleUser, Parts: []*genai.Part{text(question), genai.NewPartFromBytes(picture(), "image/png")}},
		{Role: genai.RoleModel, Parts: []*genai.Part{text(looking), read, call("call_2", "list", map[string]any{})}},
		{Role: genai.RoleUser, Parts: []*genai.Part{
			result("call_1", "read", map[string]any{"output": "first"}), result("call_2", "list", map[string]any{"error": "no such directory"}),
		}},
		{Role: genai.RoleModel, Parts: []*genai.Part{text(answer)}},
		{Role: genai.RoleUser, Parts: []*genai.Part{text(more)}},
	}
	return contents, &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Parts: []*genai.Part{text(system)}},
		MaxOutputTokens:   16000, ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: &budget},
		ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}},
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: "list", Description: "Lists files.", ParametersJsonSchema: listSchema()},
			{Name: "read", Description: "Reads a file.", ParametersJsonSchema: readSchema()},
		}}},
	}
}

func askGemini(ctx context.Context, base string, h *http.Client, stream bool) (reading, error) {
	client, err := geminiClient(ctx, base, h)
	if err != nil {
		return reading{}, err
	}
	contents, config := geminiParams()
	r := &geminiReader{}
	if !stream {
		answer, err := client.Models.GenerateContent(ctx, "gemini-2.5-flash", contents, config)
		if err != nil {
			return reading{}, err
		}
		r.add(answer)
		return r.end()
	}
	for chunk, err := range client.Models.GenerateContentStream(ctx, "gemini-2.5-flash", contents, config) {
		if err != nil {
			return reading{}, err
		}
		r.add(chunk)
	}
	return r.end()
}

// geminiReader puts chunks together, which the SDK leaves to its callers.
type geminiReader struct {
	reading
	reason genai.FinishReason
}

func (r *geminiReader) add(chunk *genai.GenerateContentResponse) {
	if u := chunk.UsageMetadata; u != nil && u.TotalTokenCount > 0 {
		r.Usage = llm.Usage{
			Input: int64(u.PromptTokenCount - u.CachedContentTokenCount + u.ToolUsePromptTokenCount), CacheRead: int64(u.CachedContentTokenCount),
			Output: int64(u.CandidatesTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
		}
	}
	for _, c := range chunk.Candidates {
		if c.Index != 0 {
			continue
		}
		if c.FinishReason != "" && c.FinishReason != genai.FinishReasonUnspecified {
			r.reason = c.FinishReason
		}
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			r.part(p)
		}
	}
}

func (r *geminiReader) part(p *genai.Part) {
	switch {
	case p.FunctionCall != nil && p.FunctionCall.Name != "":
		args := p.FunctionCall.Args
		if args == nil {
			args = map[string]any{}
		}
		data, err := json.Marshal(args)
		if err != nil {
			panic(err) // it was read from JSON
		}
		r.call(p.FunctionCall.ID, p.FunctionCall.Name, string(data))
	case p.Thought:
		r.Thinking += p.Text
	default:
		r.Text += p.Text
	}
	if len(p.ThoughtSignature) > 0 {
		r.sign(base64.StdEncoding.EncodeToString(p.ThoughtSignature))
	}
}

func (r *geminiReader) end() (reading, error) {
	switch r.reason {
	case "":
		return r.reading, errNoEnd
	case genai.FinishReasonStop:
		r.Stop = llm.StopEnd
		if len(r.Calls) > 0 {
			r.Stop = llm.StopCalls
		}
	case genai.FinishReasonMaxTokens:
		r.Stop = llm.StopLength
	case genai.FinishReasonSafety, genai.FinishReasonProhibitedContent, genai.FinishReasonBlocklist, genai.FinishReasonRecitation, genai.FinishReasonSPII:
		r.Stop = llm.StopRefused
	default:
		return r.reading, fmt.Errorf("finish reason %q", r.reason)
	}
	return r.reading, nil
}
