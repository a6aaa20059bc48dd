package sdkconformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/tenon-agent/tenon/llm"
)

// secret belongs to the key where requests are signed.
const secret = "test-secret"

func bedrockClient(base string, h *http.Client) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(base), HTTPClient: h, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""), // a bearer token it sends by TLS only
	})
}

// bedrockParams is conversation() in the SDK's types.
func bedrockParams() *bedrockruntime.ConverseInput {
	text := func(s string) *types.ContentBlockMemberText { return &types.ContentBlockMemberText{Value: s} }
	call := func(id, name string, input map[string]any) *types.ContentBlockMemberToolUse {
		return &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
			ToolUseId: aws.String(id), Name: aws.String(name), Input: document.NewLazyDocument(input),
		}}
	}
	result := func(id, text string, status types.ToolResultStatus) *types.ContentBlockMemberToolResult {
		return &types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
			ToolUseId: aws.String(id), Status: status, Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: text}},
		}}
	}
	tool := func(name, description string, schema map[string]any) *types.ToolMemberToolSpec {
		return &types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String(name), Description: aws.String(description),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(schema)},
		}}
	}
	thinking := &types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{
		Value: types.ReasoningTextBlock{Text: aws.String(thought), Signature: aws.String(signature)},
	}}
	image := &types.ContentBlockMemberImage{Value: types.ImageBlock{
		Format: types.ImageFormatPng, Source: &types.ImageSourceMemberBytes{Value: picture()},
	}}
	point := types.CachePointBlock{Type: types.CachePointTypeDefault}
	mark := &types.ContentBlockMemberCachePoint{Value: point}
	message := func(role types.ConversationRole, blocks ...types.ContentBlock) types.Message {
		return types.Message{Role: role, Content: blocks}
	}
	return &bedrockruntime.ConverseInput{
		ModelId: aws.String("anthropic.claude-sonnet-4-5-20250929-v1:0"), InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(16000)},
		System: []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: system}, &types.SystemContentBlockMemberCachePoint{Value: point}},
		AdditionalModelRequestFields: document.NewLazyDocument(map[string]any{
			"thinking": map[string]any{"type": "enabled", "budget_tokens": 8192},
		}),
		ToolConfig: &types.ToolConfiguration{Tools: []types.Tool{
			tool("list", "Lists files.", listSchema()), tool("read", "Reads a file.", readSchema()),
			&types.ToolMemberCachePoint{Value: point},
		}},
		Messages: []types.Message{
			message(types.ConversationRoleUser, text(question), image),
			message(types.ConversationRoleAssistant, thinking, text(looking),
				call("call_1", "read", map[string]any{"path": "a.txt"}), call("call_2", "list", map[string]any{})),
			message(types.ConversationRoleUser, result("call_1", "first", types.ToolResultStatusSuccess),
				result("call_2", "no such directory", types.ToolResultStatusError), mark),
			message(types.ConversationRoleAssistant, text(answer)),
			message(types.ConversationRoleUser, text(more), mark),
		},
	}
}

func askBedrock(ctx context.Context, base string, h *http.Client, stream bool) (reading, error) {
	client, in := bedrockClient(base, h), bedrockParams()
	if !stream {
		out, err := client.Converse(ctx, in)
		if err != nil {
			return reading{}, err
		}
		return readBedrock(out)
	}
	out, err := client.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, InferenceConfig: in.InferenceConfig, System: in.System,
		AdditionalModelRequestFields: in.AdditionalModelRequestFields, ToolConfig: in.ToolConfig, Messages: in.Messages,
	})
	if err != nil {
		return reading{}, err
	}
	events := out.GetStream()
	defer events.Close()
	r := &bedrockReader{blocks: map[int32]*bedrockBlock{}}
	for e := range events.Events() {
		r.event(e)
	}
	if err := events.Err(); err != nil {
		return reading{}, err
	}
	return r.end()
}

func bedrockUsage(u *types.TokenUsage) llm.Usage {
	if u == nil {
		return llm.Usage{}
	}
	return llm.Usage{
		Input: int64(aws.ToInt32(u.InputTokens)), CacheRead: int64(aws.ToInt32(u.CacheReadInputTokens)),
		CacheWrite: int64(aws.ToInt32(u.CacheWriteInputTokens)), Output: int64(aws.ToInt32(u.OutputTokens)),
	}
}

func bedrockStop(r *reading, reason types.StopReason) error {
	switch reason {
	case types.StopReasonEndTurn, types.StopReasonStopSequence:
		r.Stop = llm.StopEnd
	case types.StopReasonToolUse:
		r.Stop = llm.StopCalls
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		r.Stop = llm.StopLength
	case types.StopReasonContentFiltered, types.StopReasonGuardrailIntervened:
		r.Stop = llm.StopRefused
	default:
		return fmt.Errorf("stop reason %q", reason)
	}
	return nil
}

func readBedrock(out *bedrockruntime.ConverseOutput) (reading, error) {
	r := reading{Usage: bedrockUsage(out.Usage)}
	m, ok := out.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		return r, fmt.Errorf("the output is %T", out.Output)
	}
	for _, block := range m.Value.Content {
		switch b := block.(type) {
		case *types.ContentBlockMemberText:
			r.Text += b.Value
		case *types.ContentBlockMemberToolUse:
			input, err := b.Value.Input.MarshalSmithyDocument()
			if err != nil {
				return r, err
			}
			r.call(aws.ToString(b.Value.ToolUseId), aws.ToString(b.Value.Name), string(input))
		case *types.ContentBlockMemberReasoningContent:
			switch v := b.Value.(type) {
			case *types.ReasoningContentBlockMemberReasoningText:
				r.Thinking += aws.ToString(v.Value.Text)
				r.sign(aws.ToString(v.Value.Signature))
			case *types.ReasoningContentBlockMemberRedactedContent:
				r.sign(encoded(v.Value))
			}
		}
	}
	return r, bedrockStop(&r, out.StopReason)
}

// encoded returns bytes as they stand in JSON.
func encoded(data []byte) string {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // bytes can always be written
	}
	return strings.Trim(string(text), `"`)
}

// bedrockReader puts events together, which the SDK leaves to its callers.
type bedrockReader struct {
	blocks map[int32]*bedrockBlock
	usage  llm.Usage
	reason types.StopReason
}

type bedrockBlock struct {
	call            types.ToolUseBlockStart
	text, input     string
	thought, signed string
	redacted        []byte
}

func (r *bedrockReader) block(index *int32) *bedrockBlock {
	at := aws.ToInt32(index)
	if r.blocks[at] == nil {
		r.blocks[at] = &bedrockBlock{}
	}
	return r.blocks[at]
}

func (r *bedrockReader) event(e types.ConverseStreamOutput) {
	switch e := e.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			r.block(e.Value.ContentBlockIndex).call = start.Value
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		b := r.block(e.Value.ContentBlockIndex)
		switch d := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			b.text += d.Value
		case *types.ContentBlockDeltaMemberToolUse:
			b.input += aws.ToString(d.Value.Input)
		case *types.ContentBlockDeltaMemberReasoningContent:
			switch v := d.Value.(type) {
			case *types.ReasoningContentBlockDeltaMemberText:
				b.thought += v.Value
			case *types.ReasoningContentBlockDeltaMemberSignature:
				b.signed += v.Value
			case *types.ReasoningContentBlockDeltaMemberRedactedContent:
				b.redacted = append(b.redacted, v.Value...)
			}
		}
	case *types.ConverseStreamOutputMemberMessageStop:
		r.reason = e.Value.StopReason
	case *types.ConverseStreamOutputMemberMetadata:
		r.usage = bedrockUsage(e.Value.Usage)
	}
}

func (r *bedrockReader) end() (reading, error) {
	out := reading{Usage: r.usage}
	for _, at := range slices.Sorted(maps.Keys(r.blocks)) {
		b := r.blocks[at]
		out.Text += b.text
		out.Thinking += b.thought
		out.sign(b.signed)
		if len(b.redacted) > 0 {
			out.sign(encoded(b.redacted))
		}
		if b.call.ToolUseId != nil {
			out.call(aws.ToString(b.call.ToolUseId), aws.ToString(b.call.Name), b.input)
		}
	}
	if r.reason == "" {
		return out, errNoEnd
	}
	return out, bedrockStop(&out, r.reason)
}
