package openapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// The defaults of the options.
const (
	DefaultMaxAnswer = 1 << 20
	DefaultTimeout   = 30 * time.Second
)

// Options describe an API. Name and Document are required.
type Options struct {
	Name      string            // in the names of the tools: 1 to 24 of a-z A-Z 0-9 _ -
	Document  []byte            // JSON or YAML; New keeps no reference to it
	Files     fs.FS             // the directory of a document in a file, for references to other files; nil: New reads no other file
	File      string            // the name of the document in Files
	Base      string            // the address from which the document came, for relative servers; empty: it is a file
	Server    string            // the base URL of all requests; empty: the servers of the document
	Variables map[string]string // of the servers of the document

	Include, Exclude Filter // which operations become tools; Exclude wins

	// Auth maps the security schemes of the document to credentials. A credential with another name goes with every operation that demands
	// a scheme or none.
	Auth map[string]Credential

	// Transport sends the requests; it decides which hosts may be reached. Calls fail without one.
	Transport http.RoundTripper

	Workspace *workspace.Workspace // has the files that bodies upload; nil: there are none
	MaxAnswer int                  // bytes of an answer that are read; default [DefaultMaxAnswer]
	Timeout   time.Duration        // of a call; default [DefaultTimeout]

	// Obtained gets each access token that the package obtains, so that the caller can hide it. May be nil.
	Obtained func(secret string)
}

// Filter selects operations. An empty list selects all of them for Include, none for Exclude.
type Filter struct {
	Tags       []string
	Paths      []string // prefixes of whole segments: /users has /users/{id}, but not /users-list
	Operations []string // operationIds, or "METHOD /path"
}

func (f Filter) empty() bool { return len(f.Tags)+len(f.Paths)+len(f.Operations) == 0 }

func (f Filter) has(o *operation) bool {
	for _, p := range f.Paths {
		rest, ok := strings.CutPrefix(o.path, strings.TrimSuffix(p, "/"))
		if ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return slices.ContainsFunc(o.tags, func(t string) bool { return slices.Contains(f.Tags, t) }) ||
		slices.Contains(f.Operations, o.method+" "+o.path) || o.id != "" && slices.Contains(f.Operations, o.id)
}

// Problem is a reason why operations of a document are no tools.
type Problem struct {
	Reason     string
	Operations []string // sorted; at most 5000
}

func (p Problem) String() string {
	names := p.Operations
	more := ""
	if len(names) > 3 {
		more = fmt.Sprintf(" and %d more", len(names)-3)
		names = names[:3]
	}
	return fmt.Sprintf("%s%s: %s", strings.Join(names, ", "), more, p.Reason)
}

// DocumentError reports a document or options that make no tools.
type DocumentError struct {
	Name string // of the API
	Err  error
}

// Code returns "openapi.document".
func (e *DocumentError) Code() string { return "openapi.document" }

func (e *DocumentError) Error() string {
	return fmt.Sprintf("cannot use the OpenAPI document of %s: %v", e.Name, e.Err)
}
func (e *DocumentError) Unwrap() error { return e.Err }

// API is an API with a tool for each of its usable operations. It is safe for concurrent use.
type API struct {
	o          Options
	doc        *document
	base       *url.URL // of all requests; nil: see server
	schemes    map[string]*scheme
	operations []*operation
	problems   []Problem
	client     *http.Client
	boundary   func() string // of multipart bodies

	mu     sync.Mutex
	tokens map[string]*token
}

// New reads a document and makes its tools. It uses no network. The error is a [*DocumentError] if there is no document, the options do not fit
// it, or none of its operations can be used.
func New(o Options) (*API, error) {
	a := &API{o: o, boundary: newBoundary, tokens: map[string]*token{}, schemes: map[string]*scheme{}}
	a.o.Document = nil
	a.o.MaxAnswer, a.o.Timeout = cmp.Or(o.MaxAnswer, DefaultMaxAnswer), cmp.Or(o.Timeout, DefaultTimeout)
	if err := a.read(o.Document); err != nil {
		return nil, &DocumentError{o.Name, err}
	}
	transport := o.Transport
	if transport == nil {
		transport = noTransport{}
	}
	a.client = &http.Client{Transport: transport, CheckRedirect: redirect}
	return a, nil
}

type noTransport struct{}

func (noTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("the network is not available")
}

func (a *API) read(data []byte) (err error) {
	if !validName(a.o.Name) {
		return errors.New("a name has 1 to 24 of a-z A-Z 0-9 _ -, begins with a letter or a digit, and has no __")
	}
	if a.doc, err = parse(data); err != nil {
		return err
	}
	a.doc.include(a.o.Files, a.o.File)
	a.o.Files = nil
	if a.o.Server != "" {
		u, err := url.Parse(a.o.Server)
		if err != nil {
			return errors.New("the URL of its server is invalid")
		}
		if a.base, err = base(u); err != nil {
			return err
		}
	}
	if err := a.readSchemes(); err != nil {
		return err
	}
	found := a.readPaths()
	if len(a.operations) == 0 && found > 0 && len(a.problems) > 0 {
		var reasons []string
		for _, p := range a.problems[:min(3, len(a.problems))] {
			reasons = append(reasons, p.String())
		}
		return fmt.Errorf("none of its %s can be used: %s", tool.Count(found, "operation"), strings.Join(reasons, "; "))
	}
	return nil
}

// Problems returns the operations that are no tools, by reason.
func (a *API) Problems() []Problem { return slices.Clone(a.problems) }

// Tools returns the tools in the order of paths and methods.
func (a *API) Tools() []tool.Tool {
	out := make([]tool.Tool, len(a.operations))
	for i, o := range a.operations {
		out[i] = &operationTool{a, o}
	}
	return out
}

// methods are the methods of operations in documents.
var methods = [...]string{"get", "head", "options", "post", "put", "patch", "delete", "trace"}

// readPaths reads the operations and returns the number of those that the filter selects, usable or not.
func (a *API) readPaths() (found int) {
	problems := map[string][]string{}
	wrong := func(o *operation, err error) {
		reason := line(err.Error(), 300)
		problems[reason] = append(problems[reason], o.label())
	}
	paths := fields(a.doc.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, err := a.doc.resolve(paths[path])
		if strings.HasPrefix(path, "x-") || paths[path] == nil {
			continue
		}
		if err != nil {
			found++
			wrong(&operation{path: path}, err)
			continue
		}
		for _, method := range methodsOf(item) {
			o := &operation{method: strings.ToUpper(method), path: path}
			raw, err := a.doc.resolve(item[method])
			if err == nil {
				o.id = strings.TrimSpace(word(raw["operationId"]))
				for _, t := range list(raw["tags"]) {
					o.tags = append(o.tags, word(t))
				}
			}
			if !a.o.Include.empty() && !a.o.Include.has(o) || a.o.Exclude.has(o) {
				continue
			}
			if found++; found > maxOperations {
				wrong(o, fmt.Errorf("the document has more than %d operations; select some with include", maxOperations))
				break
			}
			if err == nil && !slices.Contains(methods[:], method) {
				err = fmt.Errorf("the method %s is unknown", quote(method))
			}
			if err == nil {
				err = a.readOperation(o, item, raw)
			}
			if err != nil {
				wrong(o, err)
				continue
			}
			a.operations = append(a.operations, o)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(problems)) {
		slices.Sort(problems[reason])
		a.problems = append(a.problems, Problem{reason, problems[reason]})
	}
	slices.SortStableFunc(a.problems, func(p, q Problem) int { return len(q.Operations) - len(p.Operations) })
	a.nameAll()
	return found
}

// methodsOf returns the members of a path item that are operations: the known methods in their order, then other members that look like one.
func methodsOf(item object) []string {
	var out []string
	for _, m := range methods {
		if item[m] != nil {
			out = append(out, m)
		}
	}
	known := []string{"$ref", "summary", "description", "servers", "parameters", "additionalOperations"}
	for _, m := range slices.Sorted(maps.Keys(item)) {
		if !slices.Contains(out, m) && !slices.Contains(known, m) && !strings.HasPrefix(m, "x-") && fields(item[m])["responses"] != nil {
			out = append(out, m)
		}
	}
	return out
}

func (a *API) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, a.o.Timeout, tool.Codef("tool.timeout", "timed out after %v", a.o.Timeout))
}

// Lazy returns tools whose specs an API had before, such as those of a file that a program keeps. open makes the API for the first call that
// needs it. A tool that the API does not have any more fails.
func Lazy(specs []llm.Tool, open func() (*API, error)) []tool.Tool {
	open = sync.OnceValues(open)
	out := make([]tool.Tool, len(specs))
	for i, s := range specs {
		out[i] = &lazyTool{s, open}
	}
	return out
}

type lazyTool struct {
	spec llm.Tool
	open func() (*API, error)
}

// Spec implements [tool.Tool].
func (t *lazyTool) Spec() llm.Tool { return t.spec }

// Prepare implements [tool.Tool].
func (t *lazyTool) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	a, err := t.open()
	if err != nil {
		return nil, err
	}
	for _, o := range a.operations {
		if o.spec.Name == t.spec.Name {
			return (&operationTool{a, o}).Prepare(ctx, arguments)
		}
	}
	return nil, tool.Codef("openapi.document", "the document of the API %s does not have the operation any more; it takes effect in a new session", a.o.Name)
}
