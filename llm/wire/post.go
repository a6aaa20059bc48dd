package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Request is one HTTP request to a model server.
type Request struct {
	Model  string      // "provider/model", for errors
	URL    string      // absolute
	Header http.Header // of the protocol, proof of identity included
	Body   []byte      // JSON
	Accept string      // media type of a streamed answer; default text/event-stream
}

// Post sends r. The response has status 200 and a body of the media type that was asked for, or of JSON; everything else is
// an [*llm.Error]. While the request is under way, silence beyond the endpoint's limits ends it with [llm.KindStalled]. The
// caller closes the response.
func (e *Endpoint) Post(ctx context.Context, r Request) (*Response, error) {
	if r.Accept == "" {
		r.Accept = "text/event-stream"
	}
	ctx, w := newWatch(ctx, e, r.Model)
	resp, err := e.send(ctx, r, w)
	if err != nil {
		w.stop()
		return nil, err
	}
	return resp, nil
}

func (e *Endpoint) send(ctx context.Context, r Request, w *watch) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, &llm.Error{ // why it is none would show a password in it
			Kind: llm.KindInvalidRequest, Model: r.Model, Message: "the base URL is not an address such as https://host/path",
		}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", r.Accept+", application/json;q=0.5")
	req.Header.Set("User-Agent", "tenon")
	if e.UserAgent != "" {
		req.Header.Set("User-Agent", e.UserAgent)
	}
	maps.Copy(req.Header, r.Header)
	for name, values := range e.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if e.Authorize != nil {
		if err := e.Authorize(req, r.Body); err != nil {
			return nil, w.unauthorized(err)
		}
	}
	w.hideAll(req)
	resp, err := e.client().Do(req)
	if err != nil {
		return nil, w.failure(err)
	}
	out := newResponse(resp, r.Model, e.KeyName, w)
	if err := out.check(resp, r.Accept); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// check turns every response that is no answer into an error.
func (r *Response) check(resp *http.Response, accept string) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return r.fail(&llm.Error{
			Kind: llm.KindInvalidRequest, Status: resp.StatusCode,
			Message: "the server sends requests on to " + r.watch.redact(resp.Header.Get("Location")) +
				", and keys are not sent there: set the base URL to that address if it is right",
		})
	case resp.StatusCode != http.StatusOK:
		data, err := r.excuse()
		if err != nil {
			return err
		}
		return r.fail(httpFailure(resp, media, data))
	case media == accept:
		r.Streamed = true
		return nil
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return nil
	case media == "" || media == "text/plain" || media == "application/octet-stream" || media == "binary/octet-stream":
		return r.sniff() // small servers omit the media type
	default:
		return r.notAnAnswer(media)
	}
}

// sniff detects the type of a body without a useful media type.
func (r *Response) sniff() error {
	head, err := r.peek()
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		return err
	}
	switch trimmed := bytes.TrimLeft(head, " \t\r\n\ufeff"); {
	case bytes.HasPrefix(trimmed, []byte("<")):
		return r.notAnAnswer("text/html")
	case bytes.HasPrefix(trimmed, []byte("{")), bytes.HasPrefix(trimmed, []byte("[")):
		return nil
	default:
		r.Streamed = true
		return nil
	}
}

// notAnAnswer is the error of a page in place of an answer, such as that of a proxy which wants a login.
func (r *Response) notAnAnswer(media string) error {
	data, err := r.excuse()
	if err != nil {
		return err
	}
	what := "an answer of the type " + media
	if isHTML(media, data) {
		what = "a web page" + titled(data)
	}
	return r.fail(&llm.Error{
		Kind: llm.KindProtocol, Status: http.StatusOK,
		Message: "the server sent " + what + " where a model's answer was due: " +
			"check the base URL; a proxy or a login page may have answered",
	})
}

// excuse reads the beginning of a body that is no answer, as far as it comes soon: the status or the type is enough to continue.
// The error is that of a caller that has left.
func (r *Response) excuse() ([]byte, error) {
	late := time.AfterFunc(excuseTimeout, r.watch.stop)
	defer late.Stop()
	data, err := r.read(maxErrorBody)
	if err != nil && r.watch.parent.Err() != nil {
		return nil, err
	}
	return data, nil
}

// fail completes an error with the facts of the response.
func (r *Response) fail(e *llm.Error) *llm.Error {
	e.Model, e.RequestID = r.model, r.RequestID
	e.Message = r.watch.redact(e.Message)
	return e
}

// requestID is the name that the provider gave to a request.
func requestID(h http.Header) string {
	for _, name := range []string{
		"request-id", "x-request-id", "apim-request-id", "x-amzn-requestid", "x-goog-request-id", "x-generation-id", "cf-ray",
	} {
		if id := h.Get(name); id != "" {
			return clip(id, 200)
		}
	}
	return ""
}
