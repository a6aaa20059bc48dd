package sdkconformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tenon-agent/tenon/llm"
)

// openaiOptions are those of both protocols of OpenAI. They go to the services and not to a client, which would read the
// environment.
func openaiOptions(base string, h *http.Client) []option.RequestOption {
	return []option.RequestOption{option.WithBaseURL(base + "/v1"), option.WithAPIKey(key), option.WithHTTPClient(h), option.WithMaxRetries(0)}
}

func pictureURL() string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture())
}

// readSchema is the schema of the tool read.
func readSchema() map[string]any {
	return map[string]any{
		"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}}, "required": []string{"path"},
	}
}

func listSchema() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{}}
}

// chatParams is conversation() in the SDK's types, which have no reasoning.
func chatParams() openai.ChatCompletionNewParams {
	tool := func(name, description string, schema map[string]any) openai.ChatCompletionToolUnionParam {
		return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: name, Description: openai.String(description), Parameters: schema,
		})
	}
	call := func(id, name, arguments string) openai.ChatCompletionMessageToolCallUnionParam {
		return openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: name, Arguments: arguments},
		}}
	}
	calling := openai.AssistantMessage(looking)
	calling.OfAssistant.ToolCalls = []openai.ChatCompletionMessageToolCallUnionParam{
		call("call_1", "read", `{"path":"a.txt"}`), call("call_2", "list", `{}`),
	}
	return openai.ChatCompletionNewParams{
		Model: "gpt-5", MaxCompletionTokens: openai.Int(16000), ReasoningEffort: shared.ReasoningEffortLow,
		Tools: []openai.ChatCompletionToolUnionParam{tool("list", "Lists files.", listSchema()), tool("read", "Reads a file.", readSchema())},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.DeveloperMessage(system),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart(question),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: pictureURL()}),
			}),
			calling,
			openai.ToolMessage("first", "call_1"),
			openai.ToolMessage("no such directory", "call_2"),
			openai.AssistantMessage(answer),
			openai.UserMessage(more),
		},
	}
}

func askChat(ctx context.Context, base string, h *http.Client, stream bool) (reading, error) {
	service, params := openai.NewChatCompletionService(openaiOptions(base, h)...), chatParams()
	if !stream {
		c, err := service.New(ctx, params)
		if err != nil {
			return reading{}, err
		}
		return readChat(c, "")
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	chunks := service.NewStreaming(ctx, params)
	defer chunks.Close()
	all, thought, usage := openai.ChatCompletionAccumulator{}, "", openai.CompletionUsage{}
	for chunks.Next() {
		chunk := chunks.Current()
		if !all.AddChunk(chunk) {
			return reading{}, errors.New("the SDK does not add a chunk to those before it: " + chunk.RawJSON())
		}
		if chunk.JSON.Usage.Valid() {
			usage = chunk.Usage // the sum of the SDK lacks what was written to the cache
		}
		for _, choice := range chunk.Choices {
			thought += extraText(choice.Delta.JSON.ExtraFields)
		}
	}
	if err := chunks.Err(); err != nil {
		return reading{}, err
	}
	all.Usage = usage
	return readChat(&all.ChatCompletion, thought)
}

// readChat reads an answer whose reasoning, when it was streamed, is thought: no SDK of OpenAI has a name for it.
func readChat(c *openai.ChatCompletion, thought string) (reading, error) {
	u := c.Usage
	cached, written, reasoned := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens, u.CompletionTokensDetails.ReasoningTokens
	r := reading{Usage: llm.Usage{
		Input: u.PromptTokens - cached - written, CacheRead: cached, CacheWrite: written,
		Output: u.CompletionTokens - reasoned, Reasoning: reasoned,
	}}
	if len(c.Choices) == 0 {
		return r, errNoEnd
	}
	choice := c.Choices[0]
	m := choice.Message
	r.Text, r.Thinking = m.Content+m.Refusal, thought+extraText(m.JSON.ExtraFields)
	for _, call := range m.ToolCalls {
		r.call(call.ID, call.Function.Name, call.Function.Arguments)
	}
	switch choice.FinishReason {
	case "":
		return r, errNoEnd
	case "stop", "tool_calls":
		r.Stop = llm.StopEnd
	case "length":
		r.Stop = llm.StopLength
	case "content_filter":
		r.Stop = llm.StopRefused
	default:
		return r, fmt.Errorf("finish reason %q", choice.FinishReason)
	}
	switch {
	case r.Stop == llm.StopEnd && len(r.Calls) > 0:
		r.Stop = llm.StopCalls
	case r.Stop == llm.StopEnd && m.Refusal != "":
		r.Stop = llm.StopRefused
	}
	return r, nil
}

// extraText returns the reasoning among the fields that the SDK does not know.
func extraText(fields map[string]respjson.Field) string {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var s string
		if f, ok := fields[name]; ok && json.Unmarshal([]byte(f.Raw()), &s) == nil {
			return s
		}
	}
	return ""
}
