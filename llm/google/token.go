package google

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/oauth2"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// transport sends the requests of one fetch under its context: some token sources do not do that themselves. It remembers the
// last failure, because they report it as text only.
type transport struct {
	ctx  context.Context
	base http.RoundTripper

	mu  sync.Mutex
	err error
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r.WithContext(t.ctx))
	t.mu.Lock()
	t.err = err
	t.mu.Unlock()
	return resp, err
}

func (t *transport) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// file is what of a file of credentials matters here.
type file struct {
	Type  string `json:"type"`
	Quota string `json:"quota_project_id"`
}

func aboutFile(data []byte) (f file) {
	if len(data) > 0 {
		_ = wire.Unmarshal(data, &f) // it was read before
	}
	return f
}

// unusable is the error of credentials that are not there or cannot be read.
func unusable(err error) *llm.Error {
	what := "the Google credentials cannot be used: " + err.Error()
	if strings.Contains(err.Error(), "could not find default credentials") {
		what = "there are no Google credentials"
	}
	return &llm.Error{Kind: llm.KindAuth, Message: what + ": " + logIn, Err: err}
}

// untold is the error of a token that was not given. Network is how the last request failed, if it did.
func untold(ctx context.Context, err, network error) error {
	switch refused, ok := errors.AsType[*oauth2.RetrieveError](err); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &llm.Error{Kind: llm.KindNetwork, Message: "no Google access token came within " + tokenTimeout.String(), Err: err}
	case ctx.Err() != nil:
		return ctx.Err()
	case ok:
		return notGiven(refused)
	case network != nil:
		return &llm.Error{Kind: llm.KindNetwork, Message: fmt.Sprintf("no Google access token could be fetched: %v", network), Err: err}
	default:
		return unusable(err)
	}
}

// notGiven is the error of a token server that answered.
func notGiven(r *oauth2.RetrieveError) *llm.Error {
	status := 0
	if r.Response != nil {
		status = r.Response.StatusCode
	}
	var body struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = wire.Unmarshal(r.Body, &body) // a body that is not JSON has no details
	code := cmp.Or(r.ErrorCode, body.Code, http.StatusText(status))
	if d := cmp.Or(r.ErrorDescription, body.Description); d != "" {
		code += ": " + d[:min(len(d), 300)]
	}
	e := &llm.Error{Status: status, Err: r}
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		e.Kind, e.Message = llm.KindOverloaded, "Google's token server gave no access token ("+code+")"
	} else {
		e.Kind, e.Message = llm.KindAuth, "Google does not accept the credentials ("+code+"): "+logIn
	}
	return e
}
