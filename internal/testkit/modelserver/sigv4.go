package modelserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// authorization is an Authorization header of AWS Signature Version 4.
type authorization struct {
	accessKey, date, region, service string
	headers                          []string
	signature                        string
}

// parseAuthorization reads "AWS4-HMAC-SHA256 Credential=.../.../.../.../aws4_request, SignedHeaders=a;b, Signature=...".
func parseAuthorization(s string) (authorization, error) {
	var a authorization
	rest, ok := strings.CutPrefix(s, "AWS4-HMAC-SHA256 ")
	if !ok {
		return a, errors.New("the authorization is not AWS4-HMAC-SHA256")
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] == "" || scope[4] != "aws4_request" {
		return a, fmt.Errorf("the Credential must have 5 parts that end in aws4_request, not %q", fields["Credential"])
	}
	a.accessKey, a.date, a.region, a.service = scope[0], scope[1], scope[2], scope[3]
	a.headers, a.signature = strings.Split(fields["SignedHeaders"], ";"), fields["Signature"]
	if len(a.signature) != 64 {
		return a, errors.New("the Signature must be 64 hexadecimal digits")
	}
	return a, nil
}

// checkSignature checks the authorization of a Bedrock request: a bearer token, or a signature.
func (s *Server) checkSignature(r *http.Request, req *Request) error {
	header := r.Header.Get("Authorization")
	if header == "" {
		return errors.New("missing authentication token")
	}
	if strings.HasPrefix(header, "Bearer ") {
		return nil
	}
	a, err := parseAuthorization(header)
	if err != nil {
		return fmt.Errorf("the request signature does not conform to AWS standards: %w", err)
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case err != nil:
		return fmt.Errorf("the header X-Amz-Date: %w", err)
	case a.date != at.Format("20060102"):
		return errors.New("the date in the Credential is not that of X-Amz-Date")
	case a.service != "bedrock":
		return fmt.Errorf("the Credential should be scoped to the service bedrock, not %q", a.service)
	case !slices.Contains(a.headers, "host") || !slices.Contains(a.headers, "x-amz-date"):
		return errors.New("host and x-amz-date must be signed")
	case s.config.Secret == "":
		return nil
	}
	return verify(r, req.Body, a, s.config.Secret, at)
}

// verify signs the request once more, with what the client says that it signed.
func verify(r *http.Request, body []byte, a authorization, secret string, at time.Time) error {
	again := &http.Request{
		Method: r.Method, Host: r.Host, Header: http.Header{},
		URL: &url.URL{Scheme: "https", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
	}
	token := ""
	for _, name := range a.headers {
		switch name {
		case "host", "x-amz-date":
		case "content-length":
			again.ContentLength = int64(len(body))
		case "x-amz-security-token":
			token = r.Header.Get(name)
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	credentials := aws.Credentials{AccessKeyID: a.accessKey, SecretAccessKey: secret, SessionToken: token}
	if err := v4.NewSigner().SignHTTP(r.Context(), credentials, again, hex.EncodeToString(sum[:]), a.service, a.region, at); err != nil {
		return err
	}
	own, err := parseAuthorization(again.Header.Get("Authorization"))
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(own.signature), []byte(a.signature)) {
		return errors.New("the request signature we calculated does not match the signature you provided: check the secret access key")
	}
	return nil
}
