package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm/wire"
)

// Found is a model server on this machine.
type Found struct {
	Provider string   `json:"provider"`
	BaseURL  string   `json:"base_url"`
	Models   []string `json:"models"` // in the server's order

	// Windows are the context windows of the models, if [Registry.MeasureFound] asked for them.
	Windows map[string]Window `json:"windows,omitempty"`
}

// The bounds of a search for local servers.
const (
	discoverTimeout = 2 * time.Second // loopback answers at once, unless a server hangs
	maxModelList    = 4 << 20         // bytes
)

// Discover asks the default ports of local model servers, or the addresses in their variables, at the same time. It returns the servers that
// answer, in the order of the providers, within two seconds.
func (r *Registry) Discover(ctx context.Context) []Found {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	client := loopbackClient()
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	all := make([]*Found, len(r.servers))
	for i, p := range r.servers {
		if !p.local || p.port == 0 {
			continue
		}
		base, where, err := p.address(ctx)
		if err != nil || base == "" {
			continue
		}
		wg.Go(func() {
			if models, err := listModels(ctx, client, base, p.name, where == ""); err == nil {
				all[i] = &Found{Provider: p.name, BaseURL: base, Models: models}
			}
		})
	}
	wg.Wait()
	var found []Found
	for _, f := range all {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// loopbackClient returns an HTTP client for this machine, which needs no proxy.
func loopbackClient() *http.Client {
	transport := wire.NewTransport(nil)
	transport.Proxy = nil
	return wire.NewClient(transport)
}

var errNotOne = errors.New("this is not a model server")

// listModels asks a server for its models. At a guessed address the server must prove its identity, because other programs listen on the same
// ports.
func listModels(ctx context.Context, client *http.Client, base, name string, guessed bool) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, cmp.Or(err, fmt.Errorf("it answers with status %d", resp.StatusCode))
	}
	var list struct {
		Object string
		Data   []struct {
			ID      string
			OwnedBy string `json:"owned_by"`
		}
	}
	if json.Unmarshal(data, &list) != nil || list.Object != "list" || len(list.Data) == 0 {
		return nil, errNotOne
	}
	var ids []string
	for _, m := range list.Data {
		if m.ID != "" && !strings.Contains(m.ID, "embed") {
			ids = append(ids, m.ID)
		}
	}
	owner := map[string]string{"llamacpp": "llamacpp", "vllm": "vllm"}[name]
	if guessed && owner != "" && list.Data[0].OwnedBy != owner || len(ids) == 0 {
		return nil, errNotOne
	}
	return ids, nil
}

// FirstFound returns the reference of the first model of local servers, and the reason for people.
func FirstFound(found []Found) (ref, why string, ok bool) {
	i := slices.IndexFunc(found, func(f Found) bool { return len(f.Models) > 0 })
	if i < 0 {
		return "", "", false
	}
	f := found[i]
	return f.Provider + "/" + f.Models[0], fmt.Sprintf("found on this machine, at %s", f.BaseURL), true
}
