package models

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm/wire"
)

// Context windows of local models, in tokens.
const (
	leastWindow = 8_000   // below, the system prompt and the tools leave no room for work
	goodWindow  = 16_000  // below, the window is full after a few files
	usualWindow = 32_768  // that Tenon asks for or suggests: more takes much of the memory of a usual computer
	maxWindow   = 1 << 27 // a larger number is nonsense
)

const maxDescribed = 64 // models of a server of which Tenon asks the facts

// Window is what a local server says about the context window of a model. Zero is unknown.
type Window struct {
	Tokens int `json:"tokens,omitzero"` // in force
	Most   int `json:"most,omitzero"`   // of the model, if the server gave it all
}

// localServer is a local server that answers questions about its models.
type localServer struct {
	kind   string // of the profile: ollama, lmstudio, llamacpp, vllm
	base   string // base URL
	key    string
	client *http.Client
	header http.Header
}

// Measure asks the servers of the local models of a name for their context windows. Later results of [Registry.Choose] have them. It
// reports the windows that are too small for an agent or unknown, each with a remedy. The error is an [*UnavailableError] if no model of the
// name can work. Measure does not ask about models whose context the configuration gives. Ollama gives a model the window that the requests name:
// the one in force if it is large enough, otherwise a usual one.
func (r *Registry) Measure(ctx context.Context, name string) (warnings []string, _ error) {
	refs, _ := r.candidates(strings.TrimSpace(name)) // Choose reports the error
	var failed error
	small := 0
	for _, ref := range refs {
		p, _ := r.server(ref.Provider)
		f, _ := r.facts(ref)
		if !p.isLocal() || f.Context > 0 {
			continue
		}
		title := ref.Provider + "/" + ref.Model
		w, ok := r.measure(ctx, p, ref.Model)
		switch text := p.tooSmall(ref.Model, w); {
		case !ok: // the first request reports that no server answers
		case w.Tokens == 0 && p.profile == "ollama": // the others refuse what is too long
			warnings = append(warnings, fmt.Sprintf("cannot determine the context window of %s; %s, and set models.%s.context in tenon.json",
				title, p.remedy(ref.Model, w), title))
		case text != "":
			warnings = append(warnings, title+": "+text)
			if w.Tokens < leastWindow {
				small++
				failed = cmp.Or(failed, error(&UnavailableError{Name: title, Reason: text}))
			}
		}
	}
	if small < len(refs) {
		failed = nil
	}
	return warnings, failed
}

// MeasureFound asks found servers for the context windows of their models, within two seconds. It returns the servers with what they said, and
// the windows that are too small for an agent. Later results of [Registry.Choose] have the windows.
func (r *Registry) MeasureFound(ctx context.Context, found []Found) (_ []Found, warnings []string) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	client := loopbackClient()
	defer client.CloseIdleConnections()
	found = slices.Clone(found)
	for i, f := range found {
		p, _ := r.server(f.Provider)
		windows, err := localServer{kind: p.profile, base: f.BaseURL, client: client}.windows(ctx, f.Models)
		if !p.isLocal() || err != nil {
			continue
		}
		found[i].Windows = windows
		for _, id := range f.Models {
			w := p.given(windows[id])
			r.windows.keep(f.Provider+"/"+id, w)
			if text := p.tooSmall(id, w); text != "" {
				warnings = append(warnings, f.Provider+"/"+id+": "+text)
			}
		}
	}
	return found, warnings
}

// given is the window that the requests of Tenon lead to. Ollama loads a model again for another window than the one in force.
func (p server) given(w Window) Window {
	if p.protocol == Ollama && w.Tokens < goodWindow {
		w.Tokens = min(usualWindow, cmp.Or(w.Most, usualWindow))
	}
	return w
}

// tooSmall says that a window is too small for an agent, and the remedy. The text is empty if the window is large enough or unknown.
func (p server) tooSmall(id string, w Window) string {
	if w.Tokens == 0 || w.Tokens >= goodWindow {
		return ""
	}
	return fmt.Sprintf("its context window has %d tokens, and an agent needs at least %d; %s", w.Tokens, goodWindow, p.remedy(id, w))
}

// isLocal reports whether a provider is a local server that Tenon can ask about its models.
func (p server) isLocal() bool {
	return slices.Contains([]string{"ollama", "lmstudio", "llamacpp", "vllm"}, p.profile)
}

// remedy says how to give a model a larger context window.
func (p server) remedy(id string, w Window) string {
	n := min(usualWindow, cmp.Or(w.Most, usualWindow))
	if n < goodWindow {
		return fmt.Sprintf("the model itself has no more than %d, choose another one", n)
	}
	switch p.profile {
	case "ollama":
		return fmt.Sprintf("restart Ollama with OLLAMA_CONTEXT_LENGTH=%d", n)
	case "lmstudio":
		return fmt.Sprintf("load the model again with: lms load %s --context-length %d", id, n)
	case "llamacpp":
		return fmt.Sprintf("restart llama-server with --ctx-size %d for each slot", n)
	default:
		return fmt.Sprintf("restart vLLM with --max-model-len %d", n)
	}
}

// measure asks a server for the window of a model, and keeps it. It reports false if the server does not answer.
func (r *Registry) measure(ctx context.Context, p server, id string) (Window, bool) {
	found, err := p.keysOf()
	if err != nil {
		return Window{}, false
	}
	e, err := r.connector.endpoint(ctx, p, append(found, key{})[0])
	if err != nil || e.BaseURL == "" {
		return Window{}, false
	}
	s := localServer{p.profile, e.BaseURL, e.Key, e.HTTP, e.Header}
	if s.client == nil {
		s.client = wire.NewClient(wire.NewTransport(nil))
		defer s.client.CloseIdleConnections()
	}
	quick, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	windows, err := s.windows(quick, []string{id})
	if err != nil {
		return Window{}, false
	}
	w := p.given(windows[id])
	r.windows.keep(p.name+"/"+id, w)
	return w, true
}

// measured are the known context windows of local models by reference.
type measured struct {
	mu     sync.Mutex
	tokens map[string]int
}

func (k *measured) keep(ref string, w Window) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.Tokens > 0 {
		k.tokens[ref] = w.Tokens
	}
}

// of returns the window of a model; 0: unknown.
func (k *measured) of(ref string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tokens[ref]
}

// windows asks a server for the context windows of its models. The error says that the server does not answer.
func (s localServer) windows(ctx context.Context, ids []string) (map[string]Window, error) {
	out := make(map[string]Window, len(ids))
	switch s.kind {
	case "ollama":
		return out, s.ollama(ctx, ids, out)
	case "llamacpp":
		var props struct {
			Settings struct {
				Context int `json:"n_ctx"`
			} `json:"default_generation_settings"`
		}
		err := s.ask(ctx, "/props", nil, &props)
		for _, id := range ids {
			out[id] = Window{Tokens: sane(props.Settings.Context)}
		}
		return out, err
	}
	path := "/v1/models"
	if s.kind == "lmstudio" {
		path = "/api/v0/models"
	}
	var list struct {
		Data []struct {
			ID     string
			Length int `json:"max_model_len"`
			Most   int `json:"max_context_length"`
			Loaded int `json:"loaded_context_length"`
		}
	}
	err := s.ask(ctx, path, nil, &list)
	for _, m := range list.Data {
		out[m.ID] = Window{Tokens: sane(cmp.Or(m.Length, m.Loaded, m.Most)), Most: sane(m.Most)}
	}
	return out, err
}

// ollama finds the windows of loaded models and of those whose description sets one. The window of another model depends on the variables and
// the memory of the server, which does not say before it loads the model.
func (s localServer) ollama(ctx context.Context, ids []string, out map[string]Window) error {
	running, err := s.running(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, id := range ids[:min(len(ids), maxDescribed)] {
		wg.Go(func() {
			var shown struct {
				Parameters string
				Info       map[string]any `json:"model_info"`
			}
			w := Window{Tokens: running[tagged(id)]}
			if s.ask(ctx, "/api/show", map[string]any{"model": id}, &shown) == nil {
				arch, _ := shown.Info["general.architecture"].(string)
				most, _ := shown.Info[arch+".context_length"].(float64)
				w.Most = sane(int(min(most, maxWindow+1)))
				w.Tokens = cmp.Or(w.Tokens, parameter(shown.Parameters, "num_ctx"))
			}
			if w.Most > 0 {
				w.Tokens = min(w.Tokens, w.Most)
			}
			mu.Lock()
			defer mu.Unlock()
			out[id] = w
		})
	}
	wg.Wait()
	return nil
}

// running returns the windows of the models that Ollama has loaded.
func (s localServer) running(ctx context.Context) (map[string]int, error) {
	var list struct {
		Models []struct {
			Name    string
			Context int `json:"context_length"`
		}
	}
	err := s.ask(ctx, "/api/ps", nil, &list)
	out := make(map[string]int, len(list.Models))
	for _, m := range list.Models {
		out[tagged(m.Name)] = sane(m.Context)
	}
	return out, err
}

// tagged returns the name of a model of Ollama with its tag.
func tagged(id string) string {
	if strings.Contains(id, ":") {
		return id
	}
	return id + ":latest"
}

// parameter returns the number of a parameter in the description of a model; 0: not set.
func parameter(text, name string) int {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return sane(n)
		}
	}
	return 0
}

// sane returns a number of tokens that a server sent; 0 if it makes no sense.
func sane(n int) int {
	if n < 0 || n > maxWindow {
		return 0
	}
	return n
}

// ask sends a question, with a body or without one, and reads the JSON of the answer.
func (s localServer) ask(ctx context.Context, path string, body map[string]any, to any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // a map of strings and booleans
	}
	root := strings.TrimSuffix(strings.TrimRight(s.base, "/"), "/v1")
	req, err := http.NewRequestWithContext(ctx, method, root+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, s.header)
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers with status %d", resp.StatusCode)
	}
	return json.Unmarshal(data, to)
}
