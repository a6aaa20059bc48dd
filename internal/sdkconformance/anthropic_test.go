package sdkconformance

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/tenon-agent/tenon/llm"
)

func anthropicClient(base string, h *http.Client) anthropic.Client {
	return anthropic.NewClient(
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(base), option.WithAPIKey(key), option.WithHTTPClient(h), option.WithMaxRetries(0),
	)
}

// anthropicParams is conversation() in the SDK's types.
func anthropicParams() anthropic.MessageNewParams {
	tool := func(name, description string, properties map[string]any, required ...string) anthropic.ToolUnionParam {
		tool := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: properties, Required: required}, name)
		tool.OfTool.Description = anthropic.String(description)
		return tool
	}
	mark := anthropic.NewCacheControlEphemeralParam()
	read := tool("read", "Reads a file.", map[string]any{"path": map[string]any{"type": "string"}}, "path")
	wrong := anthropic.NewToolResultBlock("call_2", "no such directory", true)
	last := anthropic.NewTextBlock(more)
	read.OfTool.CacheControl, wrong.OfToolResult.CacheControl, last.OfText.CacheControl = mark, mark, mark
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 16000,
		System:   []anthropic.TextBlockParam{{Text: system, CacheControl: mark}},
		Thinking: anthropic.ThinkingConfigParamOfEnabled(8192),
		Tools: []anthropic.ToolUnionParam{
			tool("list", "Lists files.", map[string]any{}), read,
		},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(
				anthropic.NewTextBlock(question), anthropic.NewImageBlockBase64("image/png", base64.StdEncoding.EncodeToString(picture())),
			),
			anthropic.NewAssistantMessage(
				anthropic.NewThinkingBlock(signature, thought), anthropic.NewTextBlock(looking),
				anthropic.NewToolUseBlock("call_1", map[string]any{"path": "a.txt"}, "read"),
				anthropic.NewToolUseBlock("call_2", map[string]any{}, "list"),
			),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("call_1", "first", false), wrong),
			anthropic.NewAssistantMessage(anthropic.NewTextBlock(answer)),
			anthropic.NewUserMessage(last),
		},
	}
}

func askAnthropic(ctx context.Context, base string, h *http.Client, stream bool) (reading, error) {
	client := anthropicClient(base, h)
	if !stream {
		m, err := client.Messages.New(ctx, anthropicParams())
		if err != nil {
			return reading{}, err
		}
		return readAnthropic(m)
	}
	events := client.Messages.NewStreaming(ctx, anthropicParams())
	defer events.Close()
	m, ended := anthropic.Message{}, false
	for events.Next() {
		e := events.Current()
		if err := m.Accumulate(e); err != nil {
			return reading{}, err
		}
		_, stop := e.AsAny().(anthropic.MessageStopEvent)
		ended = ended || stop
	}
	if err := events.Err(); err != nil {
		return reading{}, err
	}
	if !ended {
		return reading{}, errNoEnd
	}
	return readAnthropic(&m)
}

func readAnthropic(m *anthropic.Message) (reading, error) {
	u := m.Usage
	r := reading{Usage: llm.Usage{
		Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
		Output: u.OutputTokens - u.OutputTokensDetails.ThinkingTokens, Reasoning: u.OutputTokensDetails.ThinkingTokens,
	}}
	switch m.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonPauseTurn:
		r.Stop = llm.StopEnd
	case anthropic.StopReasonToolUse:
		r.Stop = llm.StopCalls
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		r.Stop = llm.StopLength
	case anthropic.StopReasonRefusal:
		r.Stop = llm.StopRefused
	default:
		return r, fmt.Errorf("stop reason %q", m.StopReason)
	}
	for _, block := range m.Content {
		switch b := block.AsAny().(type) {
		case anthropic.TextBlock:
			r.Text += block.Text
		case anthropic.ThinkingBlock:
			r.Thinking += block.Thinking
			r.sign(block.Signature)
		case anthropic.RedactedThinkingBlock:
			r.sign(b.Data)
		case anthropic.ToolUseBlock:
			r.call(block.ID, block.Name, string(block.Input))
		}
	}
	return r, nil
}
