package decoding

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

func readAnthropic(ctx context.Context, h *http.Client, f func(text string)) error {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey(key), anthropicoption.WithHTTPClient(h))
	events := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: claude, MaxTokens: longest, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("?"))},
	})
	defer events.Close()
	for events.Next() {
		if e := events.Current(); e.Type == "content_block_delta" && e.Delta.Type == "text_delta" {
			f(e.Delta.Text)
		}
	}
	return events.Err()
}

func openaiClient(h *http.Client) openai.Client {
	return openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey(key), option.WithHTTPClient(h))
}

func readChat(ctx context.Context, h *http.Client, f func(text string)) error {
	client := openaiClient(h)
	events := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: gpt, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("?")},
	})
	defer events.Close()
	for events.Next() {
		for _, choice := range events.Current().Choices {
			f(choice.Delta.Content)
		}
	}
	return events.Err()
}

func readResponses(ctx context.Context, h *http.Client, f func(text string)) error {
	client := openaiClient(h)
	events := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: gpt, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("?")},
	})
	defer events.Close()
	for events.Next() {
		if e := events.Current(); e.Type == "response.output_text.delta" {
			f(e.Delta)
		}
	}
	return events.Err()
}

func readGemini(ctx context.Context, h *http.Client, f func(text string)) error {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: h, HTTPOptions: genai.HTTPOptions{BaseURL: base},
	})
	if err != nil {
		return err
	}
	for chunk, err := range client.Models.GenerateContentStream(ctx, flash, genai.Text("?"), nil) {
		if err != nil {
			return err
		}
		for _, c := range chunk.Candidates {
			if c.Content == nil {
				continue
			}
			for _, p := range c.Content.Parts {
				f(p.Text)
			}
		}
	}
	return nil
}

func readBedrock(ctx context.Context, h *http.Client, f func(text string)) error {
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: region, BaseEndpoint: aws.String(base), HTTPClient: h,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIATEST", SecretAccessKey: key}, nil
		}),
	})
	out, err := client.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId:  aws.String(nova),
		Messages: []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "?"}}}},
	})
	if err != nil {
		return err
	}
	events := out.GetStream()
	defer events.Close()
	for e := range events.Events() {
		if d, ok := e.(*types.ConverseStreamOutputMemberContentBlockDelta); ok {
			if t, ok := d.Value.Delta.(*types.ContentBlockDeltaMemberText); ok {
				f(t.Value)
			}
		}
	}
	return events.Err()
}
