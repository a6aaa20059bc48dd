package wire

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
)

// network is the error of a connection that was not made or broke.
func (w *watch) network(err error) *llm.Error {
	e := &llm.Error{Kind: llm.KindNetwork, Model: w.model, Err: nil}
	host := ""
	if u, ok := errors.AsType[*url.Error](err); ok {
		if parsed, bad := url.Parse(u.URL); bad == nil {
			host = parsed.Host
		}
		err = u.Err
	}
	what, kind := inWords(err)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" { // as net/http calls it
		what = "not reached, for the proxy in between: " + what
	}
	e.Kind = kind
	e.Message = what
	if host != "" {
		e.Message = host + ": " + what
	}
	e.Message = w.redact(e.Message)
	return e
}

// inWords returns the meaning of a network error, and its kind.
func inWords(err error) (string, llm.Kind) {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || isCertificate(err) {
		return fmt.Sprintf("the server's certificate is not accepted: %v", err), llm.KindOther
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(err.Error(), "gave HTTP response to HTTPS client") {
		return "the server does not speak TLS: does the base URL begin with https where it should be http?", llm.KindOther
	}
	if strings.Contains(err.Error(), "unsupported protocol scheme") || strings.Contains(err.Error(), "no Host in request URL") {
		return "the base URL must begin with http:// or https:// and a host", llm.KindInvalidRequest
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("the name %s cannot be resolved (%s): is there a network?", dns.Name, dns.Err), llm.KindNetwork
	}
	switch timeout, ok := errors.AsType[net.Error](err); {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there", llm.KindNetwork
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset", llm.KindNetwork
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was closed in the middle of an answer", llm.KindNetwork
	case ok && timeout.Timeout():
		return fmt.Sprintf("no connection in time: %v", err), llm.KindNetwork
	default:
		return err.Error(), llm.KindNetwork
	}
}

func isCertificate(err error) bool {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return unknown || name || invalid
}

// httpFailure converts a response with an error status into an error.
func httpFailure(resp *http.Response, media string, body []byte) *llm.Error {
	e := &llm.Error{Status: resp.StatusCode}
	if isHTML(media, body) {
		e.Kind = kindOf(resp.StatusCode, "", "")
		e.Message = "the server sent a web page" + titled(body) + " instead of an answer; check the base URL and the proxy"
	} else {
		code, message := errorBody(body)
		if code == "" {
			code, _, _ = strings.Cut(resp.Header.Get("X-Amzn-Errortype"), ":") // AWS names an error in a header
		}
		e.Kind = kindOf(resp.StatusCode, code, message)
		if len(bytes.TrimSpace(body)) == 0 && (resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusRequestEntityTooLarge) {
			e.Kind = llm.KindContextOverflow // what some servers say of a request that is too long: nothing
		}
		e.Message = cmp.Or(message, code, http.StatusText(resp.StatusCode))
	}
	if e.Kind == llm.KindContextOverflow {
		if e.Tokens, e.Window = figures(e.Message); e.Window == 0 {
			e.Tokens, e.Window = figures(string(body))
		}
	}
	e.RetryAfter = retryAfter(resp.Header, body)
	if e.Kind == llm.KindQuota && e.RetryAfter > 0 {
		e.Kind = llm.KindRateLimited // it says when to come back, so it is no matter of money
	}
	return e
}

// Failed converts an error that a server sent within a stream: a name and a text, either may be empty. It means the same as the
// HTTP status that it corresponds to.
func (r *Response) Failed(code, message string) *llm.Error {
	e := &llm.Error{Kind: kindOf(0, code, message), Message: clip(cmp.Or(message, code, "the server failed without saying why"), maxMessage)}
	if e.Kind == llm.KindContextOverflow {
		e.Tokens, e.Window = figures(message)
	}
	e.RetryAfter = retryAfter(nil, []byte(message))
	return r.fail(e)
}

// FailedWith is [Response.Failed] for the JSON of an error, in any of the shapes that servers use.
func (r *Response) FailedWith(data []byte) *llm.Error {
	code, message := errorBody(data)
	e := r.Failed(code, message)
	if after := retryAfter(nil, data); after > 0 {
		e.RetryAfter = after
	}
	return e
}

// maxMessage bounds the text of an error.
const maxMessage = 2000

// errorBody finds an error's name and text in the body of a response:
//
//	{"error":{"type":"...","code":"...","status":"...","message":"..."}}
//	{"error":"..."}   {"message":"..."}   {"detail":"..."}   [{"error":{...}}]
func errorBody(data []byte) (code, message string) { return errorWithin(data, maxErrorDepth) }

// maxErrorDepth bounds the nesting of errors. Each level costs a parse of its own, so unlimited nesting would take unlimited time.
const maxErrorDepth = 4

func errorWithin(data []byte, depth int) (code, message string) {
	data = bytes.TrimSpace(data)
	var list []jsontext.Value
	if bytes.HasPrefix(data, []byte("[")) && Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var body map[string]jsontext.Value
	if !bytes.HasPrefix(data, []byte("{")) || Unmarshal(data, &body) != nil {
		return "", clip(string(data), maxMessage)
	}
	if inner := body["error"]; depth > 0 && bytes.HasPrefix(inner, []byte("{")) {
		if c, m := errorWithin(inner, depth-1); c != "" || m != "" {
			return cmp.Or(c, word(body["type"])), m
		}
	}
	code = cmp.Or(codeOf(word(body["code"]), word(body["type"]), word(body["status"])), word(body["__type"]))
	for _, name := range []string{"message", "Message", "error", "detail", "msg", "errors"} {
		message = cmp.Or(message, word(body[name]))
	}
	if message == "" && code == "" {
		message = string(data)
	}
	return code, clip(message, maxMessage)
}

// codeOf chooses the name that says most about an error.
func codeOf(code, kind, status string) string {
	for _, c := range []string{code, kind, status} {
		if _, known := meanings()[normal(c)]; known {
			return c
		}
	}
	if _, err := strconv.Atoi(code); err == nil && status != "" {
		return status
	}
	return cmp.Or(code, kind, status)
}

// word returns the value of a JSON string, and the text of any other value.
func word(v jsontext.Value) string {
	var s string
	if len(v) == 0 || string(v) == "null" {
		return ""
	}
	if Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

func isHTML(media string, body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n\ufeff")
	return media == "text/html" || media == "application/xhtml+xml" || bytes.HasPrefix(body, []byte("<"))
}

// titled returns the title of a web page for an error, with a space before it.
func titled(page []byte) string {
	lower := bytes.ToLower(page)
	_, rest, ok := bytes.Cut(lower, []byte("<title"))
	if !ok {
		return ""
	}
	begin := bytes.IndexByte(rest, '>')
	if begin < 0 {
		return ""
	}
	start := len(lower) - len(rest) + begin + 1
	length := bytes.IndexByte(lower[start:], '<')
	if length < 0 || len(lower) != len(page) {
		return ""
	}
	title := strings.Join(strings.Fields(string(page[start:start+length])), " ")
	if title == "" {
		return ""
	}
	return fmt.Sprintf(" titled %q", clip(title, 100))
}

// clip shortens s to about n bytes, and makes it one valid line of text.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
