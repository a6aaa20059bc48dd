package sdkconformance

import (
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/openai/openai-go/v3"
	"google.golang.org/genai"
)

// statusOf returns the status and the text of an SDK's error.
func statusOf(err error) (status int, text string) {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		return e.StatusCode, anthropicText(e.RawJSON())
	}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.StatusCode, e.Message
	}
	if e, ok := errors.AsType[genai.APIError](err); ok {
		return e.Code, e.Message
	}
	if e, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			return e.HTTPStatusCode(), api.ErrorMessage()
		}
		return e.HTTPStatusCode(), ""
	}
	return 0, ""
}

// anthropicText returns the message within the body of an error, which the SDK keeps as it came.
func anthropicText(body string) string {
	var e anthropic.ErrorResponse
	if json.Unmarshal([]byte(body), &e) != nil {
		return ""
	}
	return e.Error.Message
}
