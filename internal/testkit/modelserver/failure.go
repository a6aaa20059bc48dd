package modelserver

import (
	"fmt"
	"net/http"
	"time"
)

// failure returns the body and the headers with which a provider answers a status other than 200.
func failure(r *Request, status int, message string, retry time.Duration) (body any, header http.Header) {
	header = http.Header{}
	long := message == overflow
	switch {
	case long:
		message = overflowText(r.Protocol)
	case message == "" && r.Protocol == Ollama:
		message = ollamaReason(r, status)
	case message == "":
		message = reason(status)
	}
	switch r.Protocol {
	case Anthropic:
		return anthropicError(status, message), header
	case AnthropicVertex:
		if status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusTooManyRequests {
			return googleError(status, message, 0), header // the gateway answers, not the model
		}
		return anthropicError(status, message), header
	case OpenAIChat, OpenAIResponses:
		if r.Azure && status != http.StatusBadRequest {
			return object{"error": object{"code": fmt.Sprint(status), "message": message}}, header
		}
		return openAIError(status, message, long), header
	case Bedrock:
		header.Set("X-Amzn-Errortype", bedrockErrorType(status)+":http://internal.amazon.com/coral/com.amazon.bedrock/")
		return object{"message": message}, header
	case Ollama:
		return ollamaError(message), header
	default:
		return googleError(status, message, retry), header
	}
}

func anthropicError(status int, message string) object {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusPaymentRequired:
		kind = "billing_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		kind = "request_too_large"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case http.StatusGatewayTimeout:
		kind = "timeout_error"
	case 529:
		kind = "overloaded_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": requestID}
}

// requestID is the name that every answer bears.
const requestID = "req_011CTestModelServer"

func openAIError(status int, message string, long bool) object {
	kind, code := "server_error", any(nil)
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind, code = "invalid_request_error", "invalid_api_key"
	case http.StatusForbidden:
		kind, code = "invalid_request_error", "unsupported_country_region_territory"
	case http.StatusNotFound:
		kind, code = "invalid_request_error", "model_not_found"
	case http.StatusPaymentRequired:
		kind, code = "insufficient_quota", "insufficient_quota"
	case http.StatusTooManyRequests:
		kind, code = "tokens", "rate_limit_exceeded"
	}
	if long {
		code = "context_length_exceeded"
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": code}}
}

func googleError(status int, message string, retry time.Duration) object {
	name := "INTERNAL"
	switch status {
	case http.StatusBadRequest:
		name = "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		name = "UNAUTHENTICATED"
	case http.StatusForbidden:
		name = "PERMISSION_DENIED"
	case http.StatusNotFound:
		name = "NOT_FOUND"
	case http.StatusTooManyRequests:
		name = "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable, 529:
		name, status = "UNAVAILABLE", http.StatusServiceUnavailable
	case http.StatusGatewayTimeout:
		name = "DEADLINE_EXCEEDED"
	}
	e := object{"code": status, "message": message, "status": name}
	if retry > 0 {
		e["details"] = []any{object{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", retry.Seconds()),
		}}
	}
	return object{"error": e}
}

func bedrockErrorType(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return "ValidationException"
	case http.StatusUnauthorized:
		return "UnrecognizedClientException"
	case http.StatusForbidden:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusRequestTimeout:
		return "ModelTimeoutException"
	case http.StatusFailedDependency:
		return "ModelErrorException"
	case http.StatusTooManyRequests:
		return "ThrottlingException"
	case http.StatusServiceUnavailable, 529:
		return "ServiceUnavailableException"
	default:
		return "InternalServerException"
	}
}
