package bedrock

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/tenon-agent/tenon/llm"
)

// Limits of the work before a request can be signed.
const (
	settingsTimeout    = 5 * time.Second  // reading the configuration of AWS, which is files
	credentialsTimeout = 90 * time.Second // getting credentials: a program of the user's may ask for a code
	metadataTimeout    = 2 * time.Second  // one question to the metadata service of EC2, which no other machine has
	maxMetadata        = 64 << 10         // bytes of its answer
)

// account is the settings and credentials of AWS. They are read when they are first needed, kept, and read again after they
// were refused. It is safe for concurrent use.
type account struct {
	profile string
	turn    chan struct{} // held while loaded is looked at or replaced
	loaded  *settings
}

// settings has the settings of AWS on this machine.
type settings struct {
	region      string
	endpoint    string // of the environment or the profile, or empty
	profile     string // that was asked for, or empty
	credentials aws.CredentialsProvider
}

func newAccount(profile string) *account {
	return &account{profile: profile, turn: make(chan struct{}, 1)}
}

// settings returns the settings, and reads them when that was not done yet.
func (a *account) settings(ctx context.Context) (*settings, error) {
	if err := a.lock(ctx); err != nil {
		return nil, err
	}
	defer a.unlock()
	if a.loaded != nil {
		return a.loaded, nil
	}
	s, err := load(ctx, a.profile)
	switch {
	case err == nil:
		a.loaded = s
		return s, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		return nil, &llm.Error{Kind: llm.KindAuth, Message: explain(err, a.profile)}
	}
}

// forget makes the next request read the settings again: refused credentials may have been renewed by then.
func (a *account) forget() {
	if a.lock(context.Background()) == nil {
		a.loaded = nil
		a.unlock()
	}
}

func (a *account) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *account) unlock() { <-a.turn }

func load(ctx context.Context, profile string) (*settings, error) {
	ctx, cancel := context.WithTimeout(ctx, settingsTimeout)
	defer cancel()
	var metadata metadataClient
	options := []func(*config.LoadOptions) error{
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = &metadata }),
	}
	if profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	metadata.client = imds.NewFromConfig(cfg, func(o *imds.Options) {
		o.Retryer = retry.AddWithMaxBackoffDelay(retry.AddWithMaxAttempts(retry.NewStandard(), 2), 100*time.Millisecond)
	})
	if c := ownProcess(cfg); c != nil {
		cfg.Credentials = c
	}
	s := &settings{region: cfg.Region, endpoint: configuredEndpoint(ctx, cfg), profile: profile, credentials: cfg.Credentials}
	return s, nil
}

// metadataClient asks the metadata service of EC2 with little patience: on any other machine the question leads nowhere.
type metadataClient struct {
	client *imds.Client
}

func (m *metadataClient) GetMetadata(ctx context.Context, in *imds.GetMetadataInput, options ...func(*imds.Options)) (*imds.GetMetadataOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	out, err := m.client.GetMetadata(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(out.Content, maxMetadata))
	_ = out.Content.Close() // the bytes read so far decide
	if err != nil {
		return nil, err
	}
	out.Content = io.NopCloser(bytes.NewReader(data))
	return out, nil
}

// configuredEndpoint is AWS_ENDPOINT_URL_BEDROCK_RUNTIME, its like in the profile, or the endpoint of all services.
func configuredEndpoint(ctx context.Context, cfg aws.Config) string {
	for _, source := range cfg.ConfigSources {
		s, ok := source.(interface {
			GetServiceBaseEndpoint(ctx context.Context, service string) (string, bool, error)
		})
		if !ok {
			continue
		}
		if url, found, err := s.GetServiceBaseEndpoint(ctx, "Bedrock Runtime"); err == nil && found {
			return url
		}
	}
	return aws.ToString(cfg.BaseEndpoint)
}

// sign puts the signature of AWS on a request.
func (c *Client) sign(r *http.Request, body []byte, region string) error {
	ctx := r.Context()
	s, err := c.account.settings(ctx)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	credentials, err := s.credentials.Retrieve(limited)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		c.account.forget()
		return &llm.Error{Kind: llm.KindAuth, Model: c.model.Ref(), Message: explain(err, s.profile)}
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "bedrock", region, time.Now())
}
