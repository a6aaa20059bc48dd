package sdkconformance

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tenon-agent/tenon/llm"
)

// responsesParams is conversation() in the SDK's types.
func responsesParams() responses.ResponseNewParams {
	tool := func(name, description string, schema map[string]any) responses.ToolUnionParam {
		tool := responses.ToolParamOfFunction(name, schema, false)
		tool.OfFunction.Description = openai.String(description)
		return tool
	}
	result := func(id, text string) responses.ResponseInputItemUnionParam {
		result := responses.ResponseInputItemParamOfFunctionCallOutput(text)
		result.OfFunctionCallOutput.CallID = openai.String(id)
		return result
	}
	ask := func(content ...responses.ResponseInputContentUnionParam) responses.ResponseInputItemUnionParam {
		message := responses.ResponseInputItemParamOfInputMessage(content, "user")
		message.OfInputMessage.Type = "message"
		return message
	}
	say := func(text string) responses.ResponseInputItemUnionParam {
		message := responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleAssistant)
		message.OfMessage.Type = responses.EasyInputMessageTypeMessage
		return message
	}
	image := responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: openai.String(pictureURL())}
	reasoning := responses.ResponseInputItemParamOfReasoning("rs_1", []responses.ResponseReasoningItemSummaryParam{{Text: thought}})
	reasoning.OfReasoning.EncryptedContent = openai.String(signature)
	return responses.ResponseNewParams{
		Model: "gpt-5", Instructions: openai.String(system), MaxOutputTokens: openai.Int(16000), Store: openai.Bool(false),
		Include:   []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffortLow, Summary: shared.ReasoningSummaryAuto},
		Tools:     []responses.ToolUnionParam{tool("list", "Lists files.", listSchema()), tool("read", "Reads a file.", readSchema())},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			ask(responses.ResponseInputContentParamOfInputText(question), responses.ResponseInputContentUnionParam{OfInputImage: &image}),
			reasoning,
			say(looking),
			responses.ResponseInputItemParamOfFunctionCall(`{"path":"a.txt"}`, "call_1", "read"),
			responses.ResponseInputItemParamOfFunctionCall(`{}`, "call_2", "list"),
			result("call_1", "first"),
			result("call_2", "no such directory"),
			say(answer),
			ask(responses.ResponseInputContentParamOfInputText(more)),
		}},
	}
}

func askResponses(ctx context.Context, base string, h *http.Client, stream bool) (reading, error) {
	service := responses.NewResponseService(openaiOptions(base, h)...)
	if !stream {
		r, err := service.New(ctx, responsesParams())
		if err != nil {
			return reading{}, err
		}
		return readResponse(r)
	}
	events := service.NewStreaming(ctx, responsesParams())
	defer events.Close()
	var final *responses.Response
	said, saidThought := "", ""
	for events.Next() {
		switch e := events.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			said += e.Delta
		case responses.ResponseRefusalDeltaEvent:
			said += e.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			saidThought += e.Delta
		case responses.ResponseReasoningTextDeltaEvent:
			saidThought += e.Delta
		case responses.ResponseCompletedEvent:
			final = &e.Response
		case responses.ResponseIncompleteEvent:
			final = &e.Response
		case responses.ResponseFailedEvent:
			return reading{}, fmt.Errorf("response failed: %s", e.Response.Error.Message)
		case responses.ResponseErrorEvent:
			return reading{}, fmt.Errorf("error: %s", e.Message)
		}
	}
	if err := events.Err(); err != nil {
		return reading{}, err
	}
	if final == nil {
		return reading{}, errNoEnd
	}
	r, err := readResponse(final)
	if err == nil && (said != "" && said != r.Text || saidThought != "" && squeezed(saidThought) != squeezed(r.Thinking)) {
		err = fmt.Errorf("the deltas say %q and %q, the final response %q and %q", said, saidThought, r.Text, r.Thinking)
	}
	return r, err
}

func readResponse(in *responses.Response) (reading, error) {
	u := in.Usage
	cached, written, reasoned := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens, u.OutputTokensDetails.ReasoningTokens
	r := reading{Usage: llm.Usage{
		Input: u.InputTokens - cached - written, CacheRead: cached, CacheWrite: written,
		Output: u.OutputTokens - reasoned, Reasoning: reasoned,
	}}
	refused := false
	for _, item := range in.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			for n, s := range item.Summary {
				if n > 0 {
					r.Thinking += "\n\n" // as ours joins them
				}
				r.Thinking += s.Text
			}
			if len(item.Summary) == 0 {
				for _, c := range item.Content {
					r.Thinking += c.Text
				}
			}
			r.sign(item.EncryptedContent)
		case responses.ResponseOutputMessage:
			for _, c := range item.Content {
				switch c := c.AsAny().(type) {
				case responses.ResponseOutputText:
					r.Text += c.Text
				case responses.ResponseOutputRefusal:
					r.Text += c.Refusal
					refused = true
				}
			}
		case responses.ResponseFunctionToolCall:
			r.call(item.CallID, item.Name, item.Arguments)
		}
	}
	switch {
	case in.Status == responses.ResponseStatusIncomplete && in.IncompleteDetails.Reason == "content_filter":
		r.Stop = llm.StopRefused
	case in.Status == responses.ResponseStatusIncomplete:
		r.Stop = llm.StopLength
	case in.Status != responses.ResponseStatusCompleted:
		return r, fmt.Errorf("status %q", in.Status)
	case len(r.Calls) > 0:
		r.Stop = llm.StopCalls
	case refused:
		r.Stop = llm.StopRefused
	default:
		r.Stop = llm.StopEnd
	}
	return r, nil
}
