package redact

import (
	"net/url"
	"strings"
)

// InURL returns the secrets of a URL, escaped and unescaped: the password, or the user name if there is no password, and the values of
// the query.
func InURL(address string) []string {
	var all []string
	add := func(written string, meaning func(string) (string, error)) {
		all = append(all, written)
		if meant, err := meaning(written); err == nil && meant != written {
			all = append(all, meant)
		}
	}
	address, query, _ := strings.Cut(address, "?")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	host, _, _ := strings.Cut(address, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		name, password, ok := strings.Cut(host[:at], ":")
		if !ok {
			password = name
		}
		add(password, url.PathUnescape)
	}
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok {
			add(value, url.QueryUnescape)
		}
	}
	return all
}
