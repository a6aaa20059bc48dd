package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/catalog"
	"github.com/tenon-agent/tenon/tool/openapi"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/workspace"
)

// apisName is the directory of the data that has the fetched documents of APIs, and the remembered descriptions of their tools.
const apisName = "openapi"

// API is an API of the configuration.
type API struct {
	Name     string
	Source   string // the file or the address of the document
	Specs    []llm.Tool
	Problems []openapi.Problem
	Err      error // why it has no tools

	document string // the file to read
	address  string // the address that the document came from; empty: it is a file
	setting  config.OpenAPI
	setup    *Setup
}

// remembered is the description of the tools of an API, so that a start does not read its document. Key changes with everything that they
// depend on.
type remembered struct {
	Key      string            `json:"key"`
	Files    map[string]string `json:"files,omitzero"` // to which the document refers, and their states
	Specs    []llm.Tool        `json:"specs"`
	Problems []openapi.Problem `json:"problems,omitzero"`
}

// APIs returns the APIs of the configuration with their tools, for work in a directory. It reads files and uses no network.
func APIs(s *Setup, dir string) (all []*API) {
	for _, name := range slices.Sorted(maps.Keys(s.Config.OpenAPI)) {
		c := s.Config.OpenAPI[name]
		if c.Disabled {
			continue
		}
		a := &API{Name: name, Source: c.File, setting: c, setup: s}
		if a.Err = a.locate(dir); a.Err == nil {
			a.Err = a.recall()
		}
		all = append(all, a)
	}
	return all
}

// locate finds the file of the document.
func (a *API) locate(dir string) error {
	if a.setting.URL.IsSet() == (a.setting.File != "") {
		return &openapi.DocumentError{Name: a.Name, Err: fmt.Errorf("set either openapi.%s.file or openapi.%s.url", a.Name, a.Name)}
	}
	if a.setting.File != "" {
		a.document = a.setup.paths(dir, []string{a.setting.File})[0]
		return nil
	}
	a.Source = a.setting.URL.String()
	data, err := DataDir(a.setup.getenv)
	if err != nil {
		return err
	}
	a.document = filepath.Join(data, apisName, a.Name+".document")
	return nil
}

// recall returns the remembered tools, or reads the document and remembers them.
func (a *API) recall() error {
	info, err := os.Stat(a.document)
	switch {
	case errors.Is(err, fs.ErrNotExist) && a.setting.File == "":
		return tool.Codef("openapi.document", "the document of the API %s has not been fetched; run 'tenon openapi update %s'", a.Name, a.Name)
	case err != nil:
		return &openapi.DocumentError{Name: a.Name, Err: err}
	case !info.Mode().IsRegular():
		return &openapi.DocumentError{Name: a.Name, Err: fmt.Errorf("%s is not a regular file", a.document)}
	}
	if a.setting.File == "" { // the address may need a command
		from, err := os.ReadFile(a.document + ".url")
		if err != nil {
			return err
		}
		a.address = string(from)
	}
	key, file := a.key(info), a.remembered()
	var r remembered
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &r) == nil && r.Key == key && a.unchanged(r.Files) {
		a.Specs, a.Problems = r.Specs, r.Problems
		return nil
	}
	files := map[string]string{}
	made, err := a.open(context.Background(), nil, nil, files)
	if err != nil {
		return err
	}
	r = remembered{Key: key, Problems: made.Problems(), Files: files}
	for _, t := range made.Tools() {
		r.Specs = append(r.Specs, t.Spec())
	}
	a.Specs, a.Problems = r.Specs, r.Problems
	if data, err := json.Marshal(r); err == nil && file != "" {
		_ = replaceFile(file, data) // the next start reads the document again
	}
	return nil
}

// remembered returns the file of the remembered tools; empty: there is no place for it.
func (a *API) remembered() string {
	data, err := DataDir(a.setup.getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(data, apisName, a.Name+".tools")
}

// key returns a text that changes with the document, the settings and the program.
func (a *API) key(info fs.FileInfo) string {
	program, _ := os.Executable()
	var built time.Time
	if p, err := os.Stat(program); err == nil {
		built = p.ModTime()
	}
	settings, _ := json.Marshal(a.setting) // without secrets
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s\n%s\n%s\n%d", a.document, info.Size(), info.ModTime().UnixNano(), settings, a.address, program, built.UnixNano()))
	return hex.EncodeToString(sum[:])
}

// open reads the document and makes the API. With a nil transport it has no network. Files gets the states of the other files of the document.
func (a *API) open(ctx context.Context, transport http.RoundTripper, ws *workspace.Workspace, files map[string]string) (*openapi.API, error) {
	c := a.setting
	document, err := readBounded(a.document, openapi.MaxDocument)
	if err != nil {
		return nil, &openapi.DocumentError{Name: a.Name, Err: err}
	}
	o := openapi.Options{
		Name: a.Name, Document: document, Base: a.address, Variables: c.Variables, Transport: transport, MaxAnswer: c.MaxAnswer, Timeout: c.Timeout,
		Include: openapi.Filter(c.Include), Exclude: openapi.Filter(c.Exclude), Auth: map[string]openapi.Credential{},
		Obtained: func(secret string) { a.setup.Secrets.Hide(secret) }, Workspace: ws,
	}
	if o.Server, err = c.Server.Get(ctx); err != nil {
		return nil, &openapi.DocumentError{Name: a.Name, Err: err}
	}
	a.setup.Secrets.Hide(redact.InURL(o.Server)...)
	if c.File != "" {
		root, err := os.OpenRoot(filepath.Dir(a.document))
		if err != nil {
			return nil, &openapi.DocumentError{Name: a.Name, Err: err}
		}
		defer root.Close()
		o.Files, o.File = besides{root, files}, filepath.Base(a.document)
	}
	for id, s := range c.Auth {
		one := openapi.Credential{Kind: openapi.Kind(s.Type), Name: s.Name, Scopes: s.Scopes, Secret: a.secret(s.Secret)}
		if !s.Secret.IsSet() {
			return nil, &openapi.DocumentError{Name: a.Name, Err: fmt.Errorf("set openapi.%s.auth.%s.secret", a.Name, id)}
		}
		if one.User, err = s.User.Get(ctx); err == nil {
			one.TokenURL, err = s.TokenURL.Get(ctx)
		}
		if err != nil {
			return nil, &openapi.DocumentError{Name: a.Name, Err: err}
		}
		o.Auth[id] = one
	}
	return openapi.New(o)
}

// besides is the directory of a document. It notes the states of the files that are opened in it, and has regular files only.
type besides struct {
	root   *os.Root
	states map[string]string
}

// Open implements [fs.FS].
func (b besides) Open(name string) (fs.File, error) {
	b.states[name] = stateOfFile(b.root, name)
	if b.states[name] == "" {
		return nil, fmt.Errorf("%s is not a file in the directory of the document", name)
	}
	return b.root.Open(name)
}

// stateOfFile returns a text that changes with a file; empty: there is no regular file of the name.
func stateOfFile(root *os.Root, name string) string {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}

// unchanged reports whether the other files of the document are as they were.
func (a *API) unchanged(files map[string]string) bool {
	if len(files) == 0 {
		return true
	}
	root, err := os.OpenRoot(filepath.Dir(a.document))
	if err != nil {
		return false
	}
	defer root.Close()
	for name, state := range files {
		if stateOfFile(root, name) != state {
			return false
		}
	}
	return true
}

// secret returns the function that resolves a secret for a request, and hides it everywhere.
func (a *API) secret(v redact.Value) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		text, err := v.Get(ctx)
		a.setup.Secrets.Hide(text)
		return text, err
	}
}

// apiTools returns the tools of the APIs. The first call of an API reads its document.
func apiTools(a *Agent, apis []*API, o web.Options) (groups []catalog.Group) {
	for _, one := range apis {
		if one.Err != nil {
			continue
		}
		groups = append(groups, catalog.Group{Name: one.Name, Tools: openapi.Lazy(one.Specs, func() (*openapi.API, error) {
			return one.open(context.Background(), web.Transport(o), a.site.workspace, map[string]string{}) // a referenced command has ten seconds
		})})
	}
	return groups
}

// apiWarnings names the APIs without tools. Operations that are no tools are in 'tenon openapi list'.
func apiWarnings(apis []*API) (out []conversation.Warning) {
	for _, a := range apis {
		if a.Err != nil {
			out = append(out, conversation.Warning{Code: "openapi.document", Text: a.Err.Error()})
		}
	}
	return out
}

// Update fetches the document of an API that has an address. It keeps the old copy if the new one makes no tools.
func (a *API) Update(ctx context.Context) error {
	address, err := a.setting.URL.Get(ctx)
	if err != nil {
		return err
	}
	a.setup.Secrets.Hide(redact.InURL(address)...)
	data, err := fetchDocument(ctx, address)
	if err != nil {
		return &openapi.DocumentError{Name: a.Name, Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(a.document), 0o700); err != nil {
		return err
	}
	next := *a
	next.document, next.address = a.document+".new", address
	defer func() { _ = os.Remove(next.document) }()
	if err := replaceFile(next.document, data); err != nil {
		return err
	}
	if _, err := next.open(ctx, nil, nil, map[string]string{}); err != nil {
		return err
	}
	if err := replaceFile(a.document+".url", []byte(address)); err != nil {
		return err
	}
	if err := os.Rename(next.document, a.document); err != nil {
		return err
	}
	return a.recall()
}

// Call calls an operation, or a tool by its name, for a person: without a question, to the hosts that tools may reach in the directory.
func (a *API) Call(ctx context.Context, dir, operation, arguments string) (_ tool.Result, err error) {
	if a.Err != nil {
		return tool.Result{}, a.Err
	}
	if dir, err = Directory(dir); err != nil {
		return tool.Result{}, err
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		return tool.Result{}, err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	o := a.setup.Web()
	o.Hosts = a.setup.Bounds(dir).hosts
	made, err := a.open(ctx, web.Transport(o), ws, map[string]string{})
	if err != nil {
		return tool.Result{}, err
	}
	for _, t := range made.Tools() {
		if name := t.Spec().Name; name == operation || name == "openapi__"+a.Name+"__"+operation {
			call, err := t.Prepare(ctx, arguments)
			if err != nil {
				return tool.Result{}, err
			}
			return call.Run(ctx, nil)
		}
	}
	return tool.Result{}, tool.Codef("tool.not_found", "the API %s has no operation %q; see 'tenon openapi list %s'", a.Name, operation, a.Name)
}

// IsRemote reports whether the document has an address.
func (a *API) IsRemote() bool { return a.setting.File == "" }

// fetchDocument gets a document. The person gave its address, so that it may be anywhere.
func fetchDocument(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("its address is invalid")
	}
	q.Header.Set("User-Agent", "tenon")
	q.Header.Set("Accept", "application/json, application/yaml, */*;q=0.8")
	answer, err := (&http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}).Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its server answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return readAll(answer.Body, openapi.MaxDocument)
}

func readBounded(file string, most int) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

func readAll(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return data, err
}

// replaceFile replaces a file, so that readers see the old or the new contents.
func replaceFile(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
