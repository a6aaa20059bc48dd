package wire

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// meanings is what the names that servers give to errors mean, in the spelling of [normal]. The names are those of the
// references of Anthropic, OpenAI, Google (google.rpc.Code), Amazon Bedrock, llama.cpp and the gateways.
var meanings = map[string]llm.Kind{
	"ratelimiterror":                llm.KindRateLimited,
	"ratelimitexceeded":             llm.KindRateLimited,
	"ratelimitreached":              llm.KindRateLimited,
	"toomanyrequests":               llm.KindRateLimited,
	"resourceexhausted":             llm.KindRateLimited,
	"throttling":                    llm.KindRateLimited,
	"throttlingexception":           llm.KindRateLimited,
	"throttled":                     llm.KindRateLimited,
	"tokens":                        llm.KindRateLimited, // OpenAI: which limit was reached
	"requests":                      llm.KindRateLimited,
	"insufficientquota":             llm.KindQuota,
	"billingerror":                  llm.KindQuota,
	"billinghardlimit":              llm.KindQuota,
	"billinghardlimitreached":       llm.KindQuota,
	"paymentrequired":               llm.KindQuota,
	"insufficientcredits":           llm.KindQuota,
	"insufficientbalance":           llm.KindQuota,
	"exceededcurrentquotaerror":     llm.KindQuota, // Moonshot
	"servicequotaexceededexception": llm.KindQuota,

	"overloadederror":             llm.KindOverloaded,
	"overloaded":                  llm.KindOverloaded,
	"engineoverloadederror":       llm.KindOverloaded,
	"serverisoverloaded":          llm.KindOverloaded,
	"slowdown":                    llm.KindOverloaded,
	"apierror":                    llm.KindOverloaded,
	"timeouterror":                llm.KindOverloaded,
	"servererror":                 llm.KindOverloaded,
	"internalerror":               llm.KindOverloaded,
	"internal":                    llm.KindOverloaded,
	"internalservererror":         llm.KindOverloaded,
	"internalserverexception":     llm.KindOverloaded,
	"unavailable":                 llm.KindOverloaded,
	"unavailableerror":            llm.KindOverloaded, // llama.cpp: the model is still being loaded
	"serviceunavailable":          llm.KindOverloaded,
	"serviceunavailableexception": llm.KindOverloaded,
	"deadlineexceeded":            llm.KindOverloaded,
	"aborted":                     llm.KindOverloaded,
	"modelstreamerrorexception":   llm.KindOverloaded,
	"modelerrorexception":         llm.KindOverloaded,
	"modelnotreadyexception":      llm.KindOverloaded,
	"modeltimeoutexception":       llm.KindOverloaded,
	"vectorstoretimeout":          llm.KindOverloaded,

	"authenticationerror":         llm.KindAuth,
	"unauthenticated":             llm.KindAuth,
	"unauthorized":                llm.KindAuth,
	"invalidapikey":               llm.KindAuth,
	"invalidauthenticationerror":  llm.KindAuth,
	"apikeyinvalid":               llm.KindAuth,
	"permissionerror":             llm.KindAuth,
	"permissiondenied":            llm.KindAuth,
	"permissiondeniederror":       llm.KindAuth,
	"accessdeniedexception":       llm.KindAuth,
	"accountdeactivated":          llm.KindAuth,
	"unrecognizedclientexception": llm.KindAuth,
	"expiredtokenexception":       llm.KindAuth,
	"invalidsignatureexception":   llm.KindAuth,
	"incompletesignature":         llm.KindAuth,
	"missingauthenticationtoken":  llm.KindAuth,

	"contextlengthexceeded":      llm.KindContextOverflow,
	"exceedcontextsizeerror":     llm.KindContextOverflow, // llama.cpp
	"requesttoolarge":            llm.KindContextOverflow,
	"modelcontextwindowexceeded": llm.KindContextOverflow,
	"stringabovemaxlength":       llm.KindContextOverflow,

	"contentfilter":                llm.KindRefused,
	"contentpolicyviolation":       llm.KindRefused,
	"responsibleaipolicyviolation": llm.KindRefused,
	"datainspectionfailed":         llm.KindRefused,
	"cyberpolicyviolation":         llm.KindRefused,
	"invalidprompt":                llm.KindRefused, // OpenAI: against the usage policy

	"invalidrequesterror":         llm.KindInvalidRequest,
	"invalidrequest":              llm.KindInvalidRequest,
	"badrequest":                  llm.KindInvalidRequest,
	"badrequesterror":             llm.KindInvalidRequest,
	"invalidargument":             llm.KindInvalidRequest,
	"failedprecondition":          llm.KindInvalidRequest,
	"outofrange":                  llm.KindInvalidRequest,
	"notfound":                    llm.KindInvalidRequest,
	"notfounderror":               llm.KindInvalidRequest,
	"modelnotfound":               llm.KindInvalidRequest,
	"validationexception":         llm.KindInvalidRequest,
	"resourcenotfoundexception":   llm.KindInvalidRequest,
	"unsupportedparameter":        llm.KindInvalidRequest,
	"invalidimage":                llm.KindInvalidRequest, // OpenAI: what an answer fails with that was begun
	"invalidimageformat":          llm.KindInvalidRequest,
	"invalidbase64image":          llm.KindInvalidRequest,
	"invalidimageurl":             llm.KindInvalidRequest,
	"invalidimagemode":            llm.KindInvalidRequest,
	"imagetoolarge":               llm.KindInvalidRequest,
	"imagetoosmall":               llm.KindInvalidRequest,
	"imageparseerror":             llm.KindInvalidRequest,
	"imagefiletoolarge":           llm.KindInvalidRequest,
	"unsupportedimagemediatype":   llm.KindInvalidRequest,
	"emptyimagefile":              llm.KindInvalidRequest,
	"imagecontentpolicyviolation": llm.KindRefused,
	"unsupportedvalue":            llm.KindInvalidRequest,
}

// normal spells the name of an error so that rate_limit_error, RateLimitError and "rate-limit error" are one.
func normal(code string) string {
	if _, name, ok := strings.Cut(code, "#"); ok {
		code = name // AWS: namespace#Name
	}
	code, _, _ = strings.Cut(code, ":")
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return -1
		}
	}, code)
}

// overflows are phrases with which servers say that a request is longer than the model's window. Some of them appear in texts
// about rate limits too ("too many tokens per minute"), so those are looked for first.
var overflows = []string{
	"prompt is too long", "input is too long", "exceeds the context window", "exceed the context window",
	"maximum prompt length", "reduce the length", "maximum context length", "exceeds the available context size",
	"greater than the context length", "context window exceeds limit", "exceeded model token limit", "context length exceeded",
	"context_length_exceeded", "too many tokens", "token limit exceeded", "exceed context limit", "context size exceeded",
	"input length and `max_tokens` exceed", "larger than the maximum context", "too large for model", "context_window_exceeded",
	"input token count", "prompt token count", "longer than the model's context", "exceeds model context", "request_too_large",
}

// tooLong reports whether a text says that a request is longer than the window. What is said of any limit counts only for one of
// tokens, and not for one of the answer: an image that is too large must not have the conversation shortened.
func tooLong(text string) bool {
	return mentions(text, overflows) || strings.Contains(text, "token") && mentions(text, anyLimit) && !mentions(text, answerLimits)
}

var (
	anyLimit     = []string{"exceeds the maximum", "exceeds the limit of"}
	answerLimits = []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "output token"}
)

var rates = []string{
	"rate limit", "rate_limit", "ratelimit", "too many requests", "per minute", "per second", "per hour", "requests/min", "tokens/min",
	"tpm", "rpm", "throttl",
}

var quotas = []string{
	"credit balance", "insufficient_quota", "insufficient credits", "insufficient balance", "exceeded your current quota",
	"billing", "payment required", "spending limit", "out of credits", "usage limit reached",
}

var badKeys = []string{"api key not valid", "invalid api key", "incorrect api key", "api_key_invalid", "api key expired"}

func mentions(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// kindOf decides what an error is: by its HTTP status first (0 when there is none), then by its name, then by its words.
func kindOf(status int, code, message string) llm.Kind {
	text := strings.ToLower(code + " " + message)
	named, known := meanings[normal(code)]
	if !known && status == 0 {
		if n, err := strconv.Atoi(code); err == nil && n >= 300 && n < 600 {
			status = n // gateways name an error by a status
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		if named == llm.KindQuota || !strings.Contains(text, "per minute") && mentions(text, quotas) {
			return llm.KindQuota
		}
		return llm.KindRateLimited
	case status == http.StatusPaymentRequired:
		return llm.KindQuota
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired:
		return llm.KindAuth
	case status == http.StatusForbidden:
		if named == llm.KindQuota || named == llm.KindRefused || named == llm.KindRateLimited {
			return named
		}
		return llm.KindAuth
	case status == http.StatusRequestEntityTooLarge:
		return llm.KindContextOverflow
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status == http.StatusFailedDependency:
		return llm.KindOverloaded
	case status >= 500:
		if named == llm.KindContextOverflow || !mentions(text, rates) && tooLong(text) {
			return llm.KindContextOverflow // local servers answer so
		}
		return llm.KindOverloaded
	}
	return kindOfWords(status, named, text)
}

// kindOfWords decides where the status says no more than that the request failed.
func kindOfWords(status int, named llm.Kind, text string) llm.Kind {
	switch {
	case named != "" && named != llm.KindInvalidRequest:
		if named == llm.KindRateLimited && !mentions(text, rates) && mentions(text, quotas) {
			return llm.KindQuota
		}
		return named
	case mentions(text, badKeys):
		return llm.KindAuth
	case mentions(text, rates):
		if status == 0 || named == "" {
			return llm.KindRateLimited
		}
	case tooLong(text):
		return llm.KindContextOverflow
	case mentions(text, quotas):
		return llm.KindQuota
	}
	switch {
	case named != "":
		return named
	case status >= 400:
		return llm.KindInvalidRequest
	default:
		return llm.KindOverloaded // an error of no known name within a stream is not taken for the fault of the request
	}
}
