package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// operation is one usable operation.
type operation struct {
	id, method, path string
	tags             []string
	server           *url.URL
	parameters       []*parameter // in the order of the document
	body             *body        // nil: none
	security         [][]*scheme  // alternatives, each with all of its schemes; nil: none
	selects          string       // the argument that selects parts of an answer; empty: none
	spec             llm.Tool
}

func (o *operation) label() string {
	return line(cmp.Or(o.id, strings.TrimSpace(o.method+" "+o.path)), 100)
}

// reads reports whether the operation only reads.
func (o *operation) reads() bool { return o.method == http.MethodGet || o.method == http.MethodHead }

// parameter is a parameter of an operation.
type parameter struct {
	field, name, in string // the argument; the name in the request; path, query, header or cookie
	style           string
	explode         bool
	required        bool
	reserved        bool   // reserved characters stay
	media           string // of the value as a text; empty: see style
	text            string // describes it
	schema          any
}

// styles are the styles of each location, the default first.
var styles = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	"header": {"simple"},
	"cookie": {"form", "cookie"},
}

func (a *API) readOperation(o *operation, item, raw object) (err error) {
	if !strings.HasPrefix(o.path, "/") || strings.ContainsAny(o.path, "?#") {
		return errors.New("its path does not begin with a slash, or has a query or a fragment")
	}
	if o.server, err = a.server(raw["servers"], item["servers"], a.doc.root["servers"]); err != nil {
		return err
	}
	if o.parameters, err = a.doc.readParameters(item["parameters"], raw["parameters"]); err != nil {
		return err
	}
	if err := o.checkPath(); err != nil {
		return err
	}
	if raw["requestBody"] != nil {
		if o.body, err = a.doc.readBody(raw["requestBody"]); err != nil {
			return err
		}
	}
	security, own := raw["security"]
	if !own {
		security = a.doc.root["security"]
	}
	if o.security, err = a.requirements(list(security)); err != nil {
		return err
	}
	return a.describe(o, raw)
}

// readParameters reads the parameters of a path and of its operation, which replace those of the path.
func (d *document) readParameters(lists ...any) ([]*parameter, error) {
	var all []*parameter
	for _, l := range lists {
		var own []*parameter
		for _, raw := range list(l) {
			o, err := d.resolve(raw)
			if err != nil {
				return nil, fmt.Errorf("a parameter cannot be read: %w", err)
			}
			p, err := d.readParameter(o)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			same := func(q *parameter) bool { return q.name == p.name && q.in == p.in }
			if slices.ContainsFunc(own, same) {
				return nil, fmt.Errorf("its parameter %s occurs twice", quote(p.name))
			}
			own = append(own, p)
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i] = p
			} else {
				all = append(all, p)
			}
		}
	}
	if len(all) > 200 {
		return nil, errors.New("it has more than 200 parameters")
	}
	return all, nil
}

// readParameter returns nil for a header that the specification lets no parameter set.
func (d *document) readParameter(o object) (*parameter, error) {
	p := &parameter{name: word(o["name"]), in: word(o["in"]), required: truth(o["required"]), reserved: truth(o["allowReserved"]), text: word(o["description"])}
	known, ok := styles[p.in]
	switch {
	case p.name == "":
		return nil, errors.New("a parameter has no name")
	case !ok:
		return nil, fmt.Errorf("its parameter %s is in %s, which is unknown", quote(p.name), quote(p.in))
	case p.in == "header" && (slices.Contains([]string{"Accept", "Content-Type", "Authorization"}, http.CanonicalHeaderKey(p.name)) || transportOwn(p.name)):
		return nil, nil
	case (p.in == "header" || p.in == "cookie") && !isToken(p.name):
		return nil, fmt.Errorf("its parameter %s is no name of a %s", quote(p.name), p.in)
	}
	p.required = p.required || p.in == "path"
	content := fields(o["content"])
	schema, has := o["schema"]
	switch {
	case has && content != nil:
		return nil, fmt.Errorf("its parameter %s has both a schema and a content", quote(p.name))
	case !has && len(content) != 1:
		return nil, fmt.Errorf("its parameter %s has neither a schema nor one content", quote(p.name))
	}
	for media, raw := range content {
		m, err := d.resolve(raw)
		if err != nil {
			return nil, err
		}
		p.media, schema = media, m["schema"]
	}
	if err := d.sound(schema); err != nil {
		return nil, fmt.Errorf("the schema of its parameter %s cannot be read: %w", quote(p.name), err)
	}
	p.schema = schema
	p.style = cmp.Or(word(o["style"]), known[0])
	if !slices.Contains(known, p.style) {
		return nil, fmt.Errorf("its parameter %s has the style %s, which is not for %s", quote(p.name), quote(p.style), p.in)
	}
	p.explode = p.style == "form" || p.style == "cookie"
	if e, set := o["explode"].(bool); set {
		p.explode = e
	}
	return p, nil
}

// transportOwn reports whether the transport alone sets a header.
func transportOwn(name string) bool {
	return slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Proxy-Authorization", "Cookie"}, http.CanonicalHeaderKey(name))
}

// isToken reports whether HTTP accepts a text as the name of a header or a cookie.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// sound checks that a schema leads to one.
func (d *document) sound(schema any) error {
	if _, ok := schema.(bool); ok || schema == nil {
		return nil
	}
	_, err := d.resolve(schema)
	return err
}

// checkPath checks that the path and its parameters fit.
func (o *operation) checkPath() error {
	names := templates(o.path)
	for _, n := range names {
		if !slices.ContainsFunc(o.parameters, func(p *parameter) bool { return p.in == "path" && p.name == n }) {
			return fmt.Errorf("its path has {%s}, which no parameter defines", line(n, 60))
		}
	}
	for _, p := range o.parameters {
		if p.in == "path" && !slices.Contains(names, p.name) {
			return fmt.Errorf("its path parameter %s is not in the path", quote(p.name))
		}
	}
	return nil
}

// templates returns the names in braces of a path.
func templates(path string) (names []string) {
	for {
		_, after, ok := strings.Cut(path, "{")
		name, rest, closed := strings.Cut(after, "}")
		if !ok || !closed {
			return names
		}
		names, path = append(names, name), rest
	}
}
