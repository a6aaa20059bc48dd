package google

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Credentials identify this program to Google Cloud. Tenon finds them where Google's own programs do ("application default credentials"):
// in the file that GOOGLE_APPLICATION_CREDENTIALS names, in that which `gcloud auth application-default login` writes, or on a machine of
// Google's from its metadata server. Nothing is read before the first use. Access tokens are kept until a minute before they
// end. The zero value is ready to use; a Credentials must not be copied and is safe for concurrent use.
type Credentials struct {
	HTTP *http.Client // for fetching tokens; default: proxies of the environment, no redirects

	mu      sync.Mutex
	found   *identity
	running *fetch
}

// identity has the facts that the search found.
type identity struct {
	token   *oauth2.Token
	project string // of the service account or the machine
	quota   string // project that a person's requests count for
}

const (
	tokenTimeout = 10 * time.Second // for finding credentials and fetching a token
	tokenMargin  = time.Minute      // before its end a token is used no more
	scope        = "https://www.googleapis.com/auth/cloud-platform"
)

// Hints for the person.
const (
	setProject = "set GOOGLE_CLOUD_PROJECT, or name the project in the configuration"
	logIn      = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"
)

// Authorize puts an access token on a request, as [wire.Endpoint] wants it. A token that must be fetched first is waited for until the
// request's context ends, and no longer than 10 s. Errors are those of the context and [*llm.Error].
func (c *Credentials) Authorize(r *http.Request, _ []byte) error {
	id, err := c.identity(r.Context())
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+id.token.AccessToken)
	if quota := environment("GOOGLE_CLOUD_QUOTA_PROJECT"); quota != "" {
		r.Header.Set("X-Goog-User-Project", quota)
	} else if id.quota != "" {
		r.Header.Set("X-Goog-User-Project", id.quota)
	}
	return nil
}

// Project returns the ID of the project to work in: that of GOOGLE_CLOUD_PROJECT, else that of the credentials. It waits as Authorize does.
func (c *Credentials) Project(ctx context.Context) (string, error) {
	if p := environment("GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"); p != "" {
		return p, nil
	}
	id, err := c.identity(ctx)
	switch {
	case err != nil:
		return "", err
	case id.project != "":
		return id.project, nil
	case id.quota != "":
		return id.quota, nil
	default:
		return "", &llm.Error{Kind: llm.KindInvalidRequest, Message: "the Google credentials name no project: " + setProject}
	}
}

// environment returns the first of these variables that is set.
func environment(names ...string) string {
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// identity returns the known identity if it is still valid, and otherwise looks for one.
func (c *Credentials) identity(ctx context.Context) (*identity, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if c.found != nil && (c.found.token.Expiry.IsZero() || time.Until(c.found.token.Expiry) > tokenMargin) {
		defer c.mu.Unlock()
		return c.found, nil
	}
	f := c.running
	if f == nil {
		f = c.start()
		c.running = f
	}
	f.waiting++
	c.mu.Unlock()

	defer c.leave(f)
	select {
	case <-f.done:
		return f.found, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fetch is one search for credentials with the fetching of a token, for all that wait for it.
type fetch struct {
	done    chan struct{} // closed when found or err is set
	found   *identity
	err     error
	cancel  context.CancelFunc
	waiting int
}

// start begins a fetch. It must not depend on the context of one request, because others may wait for it too.
func (c *Credentials) start() *fetch {
	ctx, cancel := context.WithTimeout(context.Background(), tokenTimeout)
	f := &fetch{done: make(chan struct{}), cancel: cancel}
	end := sync.OnceFunc(func() { close(f.done) })
	settle := func(id *identity, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.found != nil || f.err != nil {
			return
		}
		f.found, f.err = id, err
		if err == nil {
			c.found = id
		}
		if c.running == f {
			c.running = nil
		}
		end()
	}
	go func() {
		defer cancel()
		settle(find(ctx, c.HTTP))
	}()
	context.AfterFunc(ctx, func() { // the metadata server is asked without regard to the context
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			settle(nil, &llm.Error{Kind: llm.KindNetwork, Message: "no Google access token came within " + tokenTimeout.String()})
		}
	})
	return f
}

// leave cancels a fetch after its last waiter has left.
func (c *Credentials) leave(f *fetch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.cancel()
		if c.running == f {
			c.running = nil
		}
	}
}

// find looks for credentials and fetches a token with them.
func find(ctx context.Context, client *http.Client) (*identity, error) {
	if client == nil {
		client = wire.NewClient(http.DefaultTransport)
	}
	t := &transport{ctx: ctx, base: client.Transport}
	bound := *client
	bound.Transport = t
	credentials, err := google.FindDefaultCredentials(context.WithValue(ctx, oauth2.HTTPClient, &bound), scope)
	if err != nil {
		return nil, unusable(err)
	}
	about := aboutFile(credentials.JSON)
	if len(credentials.JSON) > 0 && about.Type == "" {
		return nil, unusable(errors.New("the file describes an OAuth client, which is not a credential"))
	}
	token, err := credentials.TokenSource.Token()
	if err != nil {
		return nil, untold(ctx, err, t.failure())
	}
	return &identity{token: token, project: credentials.ProjectID, quota: about.Quota}, nil
}
