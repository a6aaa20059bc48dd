package wire

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
)

// names are the names that servers give to errors, by the kind of the error, in the spelling of [normal]. They come from the
// references of Anthropic, OpenAI, Google (google.rpc.Code), Amazon Bedrock, Moonshot, llama.cpp and the gateways. Some are less
// than clear: OpenAI names the limit that was reached ("tokens"), llama.cpp calls a model that is still loading unavailable, and
// an invalid prompt violates OpenAI's usage policy.
var names = map[llm.Kind]string{
	llm.KindRateLimited: "ratelimiterror ratelimitexceeded ratelimitreached toomanyrequests resourceexhausted throttling throttlingexception " +
		"throttled tokens requests",
	llm.KindQuota: "insufficientquota billingerror billinghardlimit billinghardlimitreached paymentrequired insufficientcredits " +
		"insufficientbalance exceededcurrentquotaerror servicequotaexceededexception",
	llm.KindOverloaded: "overloadederror overloaded engineoverloadederror serverisoverloaded slowdown apierror timeouterror servererror " +
		"internalerror internal internalservererror internalserverexception unavailable unavailableerror serviceunavailable " +
		"serviceunavailableexception deadlineexceeded aborted modelstreamerrorexception modelerrorexception " +
		"modelnotreadyexception modeltimeoutexception vectorstoretimeout",
	llm.KindAuth: "authenticationerror unauthenticated unauthorized invalidapikey invalidauthenticationerror apikeyinvalid permissionerror " +
		"permissiondenied permissiondeniederror accessdeniedexception accountdeactivated unrecognizedclientexception " +
		"expiredtokenexception invalidsignatureexception incompletesignature missingauthenticationtoken",
	llm.KindContextOverflow: "contextlengthexceeded exceedcontextsizeerror requesttoolarge modelcontextwindowexceeded stringabovemaxlength",
	llm.KindRefused: "contentfilter contentpolicyviolation responsibleaipolicyviolation datainspectionfailed cyberpolicyviolation " +
		"invalidprompt imagecontentpolicyviolation",
	llm.KindInvalidRequest: "invalidrequesterror invalidrequest badrequest badrequesterror invalidargument failedprecondition outofrange notfound " +
		"notfounderror modelnotfound validationexception resourcenotfoundexception unsupportedparameter invalidimage " +
		"invalidimageformat invalidbase64image invalidimageurl invalidimagemode imagetoolarge imagetoosmall imageparseerror " +
		"imagefiletoolarge unsupportedimagemediatype emptyimagefile unsupportedvalue",
}

// meanings returns the kind of each name.
var meanings = sync.OnceValue(func() map[string]llm.Kind {
	kinds := make(map[string]llm.Kind)
	for kind, all := range names {
		for name := range strings.FieldsSeq(all) {
			kinds[name] = kind
		}
	}
	return kinds
})

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
	"prompt is too long", "input is too long", "exceeds the context window", "exceeds the context length", "exceed the context window",
	"maximum prompt length", "reduce the length", "maximum context length", "exceeds the available context size",
	"greater than the context length", "context window exceeds limit", "exceeded model token limit", "context length exceeded",
	"context_length_exceeded", "too many tokens", "token limit exceeded", "exceed context limit", "context size exceeded",
	"input length and `max_tokens` exceed", "larger than the maximum context", "too large for model", "context_window_exceeded",
	"input token count", "prompt token count", "longer than the model's context", "exceeds model context", "request_too_large",
	"when context the overflows", "with context length of only", "`max_new_tokens` must be <=", // LM Studio, and TGI and Together
}

// tooLong reports whether a text says that a request is longer than the context window. Only limits of input tokens count: an image
// that is too large must not cause a compaction.
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
	named, known := meanings()[normal(code)]
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
