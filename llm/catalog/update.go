package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// updateTime is how long a download may take.
const updateTime = time.Minute

// Update downloads a catalog into a file, for [Open]. It reports whether the file changed, and believes a server that
// reports nothing new. The address must be https, or http on this machine; redirects must be too. The answer must be JSON
// of at most 8 MiB with only valid models. On any failure the file stays unchanged. The directory of the file must exist.
// Concurrent updates are safe. Update takes at most one minute. A nil client means [http.DefaultClient].
func Update(ctx context.Context, client *http.Client, address, file string) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, updateTime)
	defer cancel()
	u, err := url.Parse(address)
	if err != nil {
		return false, errors.New("catalog: update: the address is not a URL") // the parse error could show a password
	}
	source := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	l, err := download(ctx, client, u, source, tag(file, source))
	if err != nil {
		return false, fmt.Errorf("catalog: update from %s: %w", source, hideAddress(err))
	}
	if l.text == "" {
		return false, nil
	}
	if err := replace(file, l.text); err != nil {
		return false, fmt.Errorf("catalog: update: %w; the old catalog is still there", err)
	}
	return true, nil
}

// tag returns the ETag that the server gave the file before, when it came from the same place and is still good.
func tag(file, source string) string {
	text, err := read(file)
	if err != nil {
		return ""
	}
	if l, err := open(text); err == nil && l.Source == source {
		return l.ETag
	}
	return ""
}

// hideAddress takes the address out of an error: it may have a secret in it.
func hideAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// download gets a catalog. It returns an empty layer when the server says that the one with the tag is the newest.
func download(ctx context.Context, client *http.Client, u *url.URL, source, tag string) (layer, error) {
	if err := checkAddress(u); err != nil {
		return layer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return layer{}, err
	}
	req.Header.Set("Accept", "application/json")
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	res, err := careful(client).Do(req)
	if err != nil {
		return layer{}, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && tag != "":
		return layer{}, nil
	case res.StatusCode != http.StatusOK:
		return layer{}, fmt.Errorf("the server answered %s", res.Status)
	case !isJSON(res.Header.Get("Content-Type")):
		return layer{}, fmt.Errorf("the server sent %.60q, not application/json; check the address", res.Header.Get("Content-Type"))
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxSize+1))
	if err != nil {
		return layer{}, fmt.Errorf("the answer broke off after %d bytes: %w", len(data), err)
	}
	l, err := parse(data, source, keepable(res.Header.Get("ETag")))
	if err != nil {
		return layer{}, err
	}
	if l.Updated > time.Now().AddDate(0, 0, 2).Format(time.DateOnly) {
		return layer{}, fmt.Errorf("it says that it is of %s, which is yet to come", l.Updated)
	}
	return l, nil
}

// careful returns the client, following a few redirects to addresses that are allowed.
func careful(client *http.Client) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	c := *client
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > 4 {
			return errors.New("more than 4 redirects")
		}
		return checkAddress(req.URL)
	}
	return &c
}

// checkAddress refuses what others could read or change on the way.
func checkAddress(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Hostname() == "" {
		return errors.New("that is no address: it must begin with https:// and a host")
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return fmt.Errorf("%s://%s is refused: the address must be https, or http of this machine", u.Scheme, u.Host)
	}
	return nil
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// keepable returns the tag if it is one worth keeping.
func keepable(tag string) string {
	if len(tag) > maxName || !isText(tag) {
		return ""
	}
	return tag
}

// replace puts text in a file, whole or not at all.
func replace(file, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
