package modelserver

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// localWindow is the context window of a local model if the configuration has none.
const localWindow = 32768

// running answers /api/ps: the models that requests in the protocol of Ollama loaded, with the window of the last request, the last one first.
func (s *Server) running() any {
	models, seen := []any{}, map[string]bool{}
	for _, r := range slices.Backward(s.Requests()) {
		if r.Protocol != Ollama || r.Tokens == 0 || seen[r.Model] { // a request with a mistake loads no model, and has no count
			continue
		}
		seen[r.Model] = true
		name := r.Model
		if !strings.Contains(name, ":") {
			name += ":latest"
		}
		models = append(models, object{
			"name": name, "model": name, "size": 4_000_000_000, "size_vram": 4_000_000_000, "digest": "sha256:0",
			"details": object{"family": "test"}, "context_length": cmp.Or(s.window(r), localWindow),
		})
	}
	return object{"models": models}
}

// show answers /api/show: the abilities of a model, and the largest window that it can have.
func (s *Server) show(r *http.Request) (status int, body any) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler) // the client left while it asked
	}
	p := &problems{}
	model := parseBody(p, data).need("model").filled()
	switch {
	case p.err() != nil:
		return http.StatusBadRequest, ollamaError(p.err().Error())
	case len(s.config.Models) > 0 && !slices.Contains(s.config.Models, model):
		return http.StatusNotFound, ollamaError(fmt.Sprintf("model '%s' not found", model))
	}
	return http.StatusOK, object{
		"parameters": "", "template": "{{ .Prompt }}", "details": object{"family": "test"},
		"model_info":   object{"general.architecture": "test", "test.context_length": cmp.Or(s.config.Window, localWindow)},
		"capabilities": []string{"completion", "tools", "thinking", "vision"},
	}
}
