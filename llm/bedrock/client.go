package bedrock

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Options are the address and the credentials of Bedrock. The zero value has those of the AWS tools.
type Options struct {
	Endpoint wire.Endpoint // Key is an API key of Bedrock; empty: requests are signed with the credentials of AWS
	Region   string        // such as us-east-1; default: that of the base URL or the model's ARN, then that of the environment or the profile
	Profile  string        // of ~/.aws/config; default: AWS_PROFILE, then "default"
	NoStream bool          // ask for the whole answer at once
}

// Client is a model on Bedrock. It is safe for concurrent use.
type Client struct {
	model   llm.Model
	options Options
	family  family
	account *account
}

// New returns a client of model. It reads no file and no environment: the first answer reports problems with credentials or
// the region.
func New(model llm.Model, o Options) *Client {
	return &Client{model: model, options: o, family: familyOf(model.ID), account: newAccount(o.Profile)}
}

// Model implements [llm.Client].
func (c *Client) Model() llm.Model { return c.model }

// eventStream is the media type of a streamed answer.
const eventStream = "application/vnd.amazon.eventstream"

// errLeft ends the reading of an answer because its consumer has left.
var errLeft = errors.New("bedrock: the consumer has left")

// Stream implements [llm.Client].
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error {
		err := c.stream(ctx, req, yield)
		if err == nil || err == errLeft {
			return nil
		}
		e := llm.AsError(err)
		e.Model = cmp.Or(e.Model, c.model.Ref())
		return e
	})
}

func (c *Client) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	body, err := wire.Marshal(c.request(req))
	if err != nil {
		return &llm.Error{Kind: llm.KindInvalidRequest, Message: "the request cannot be written: " + err.Error(), Err: err}
	}
	place, err := c.place(ctx)
	if err != nil {
		return err
	}
	endpoint := c.options.Endpoint
	header := http.Header{"Accept": {eventStream}}
	if c.options.NoStream {
		header.Set("Accept", "application/json")
	}
	switch {
	case endpoint.Authorize != nil:
	case endpoint.Key != "":
		header.Set("Authorization", "Bearer "+endpoint.Key)
	default:
		endpoint.Authorize = func(r *http.Request, body []byte) error { return c.sign(r, body, place.region) }
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := endpoint.Post(reading, wire.Request{Model: c.model.Ref(), URL: place.url, Header: header, Body: body, Accept: eventStream})
	if err != nil {
		return c.advise(llm.AsError(err), place.region)
	}
	defer resp.Close()
	answer := wire.NewAnswer(c.model, resp, yield)
	if c.byTool(req) {
		answer.SchemaTool(fit.SchemaToolName)
	}
	if !resp.Streamed {
		return readWhole(resp, answer, c.family)
	}
	d := decoder{resp: resp, answer: answer, family: c.family, cancel: cancel}
	err = d.read()
	if err != nil && d.stopped && ctx.Err() == nil && err != errLeft {
		err = nil // the answer is whole, and only its usage is unknown
	}
	if err != nil {
		return answer.End(err)
	}
	answer.Finish()
	return nil
}

// place is the address and the region of a request.
type place struct {
	url    string
	region string
}

// place returns the target of a request. It reads the settings of AWS if the options are incomplete.
func (c *Client) place(ctx context.Context) (place, error) {
	o := &c.options
	p := place{region: cmp.Or(o.Region, regionOfHost(o.Endpoint.Host("")), regionOfARN(c.model.ID))}
	base := o.Endpoint.BaseURL
	if base == "" || p.region == "" && c.signs() {
		s, err := c.account.settings(ctx)
		switch {
		case err == nil:
		case c.signs() || p.region == "" || ctx.Err() != nil:
			return p, err
		default:
			s = new(settings) // with a key and a region, nothing of AWS's settings is needed
		}
		p.region = cmp.Or(p.region, s.region)
		base = cmp.Or(base, s.endpoint)
	}
	if p.region == "" && (base == "" || c.signs()) {
		return p, &llm.Error{Kind: llm.KindInvalidRequest, Message: noRegion}
	}
	verb := "/converse-stream"
	if o.NoStream {
		verb = "/converse"
	}
	at := wire.Endpoint{BaseURL: base}
	p.url = at.URL(host(p.region), "/model/"+escape(c.model.ID)+verb)
	return p, nil
}

const noRegion = "no AWS region is set: set AWS_REGION, such as us-east-1, or the region of the profile (aws configure set region), " +
	"or the region of the provider in the configuration"

// signs reports whether requests are signed with the credentials of AWS.
func (c *Client) signs() bool {
	return c.options.Endpoint.Key == "" && c.options.Endpoint.Authorize == nil
}

// host returns the address of Bedrock in a region.
func host(region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + "." + domain
}

// escape returns the ID of a model as one segment of a path. The signature covers the sent path, escaped once more, so escape
// encodes a colon as AWS's own tools do.
func escape(id string) string {
	return strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
}

// regionOfHost finds the region in the address of Bedrock: bedrock-runtime.REGION.amazonaws.com, with anything around it.
func regionOfHost(host string) string {
	if !strings.HasSuffix(host, ".amazonaws.com") && !strings.HasSuffix(host, ".amazonaws.com.cn") {
		return ""
	}
	_, rest, ok := strings.Cut(host, "bedrock-runtime")
	if !ok {
		return ""
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "-fips"), ".")
	region, _, _ := strings.Cut(rest, ".")
	return region
}

// regionOfARN finds the region in arn:aws:bedrock:REGION:ACCOUNT:...
func regionOfARN(id string) string {
	parts := strings.SplitN(id, ":", 6)
	if len(parts) == 6 && parts[0] == "arn" && parts[2] == "bedrock" {
		return parts[3]
	}
	return ""
}
