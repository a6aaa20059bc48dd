package modelserver

import (
	"net/http"
	"slices"
	"strings"
)

// discover answers what is asked to find out who is there: the lists of models, and the marks of local servers.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, s.discovery(r)
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/api/show") {
		status, body = s.show(r)
	}
	if body == nil {
		status = http.StatusNotFound
		body = object{"error": object{"message": "Not Found: " + r.Method + " " + r.URL.Path, "type": "invalid_request_error", "code": nil}}
	}
	if key := keyOf(r); len(s.config.Keys) > 0 && strings.HasSuffix(r.URL.Path, "/models") && !slices.Contains(s.config.Keys, key) {
		status, body = http.StatusUnauthorized, openAIError(http.StatusUnauthorized, reason(http.StatusUnauthorized), false)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body))
}

// discovery returns the body for a path, or nil.
func (s *Server) discovery(r *http.Request) any {
	if r.Method != http.MethodGet {
		return nil
	}
	models := s.config.Models
	if len(models) == 0 {
		models = []string{"test-model"}
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/v1beta/models"):
		return object{"models": each(models, func(id string) object {
			return object{"name": "models/" + id, "displayName": id, "supportedGenerationMethods": []string{"generateContent"}}
		})}
	case strings.HasSuffix(path, "/models"):
		return object{"object": "list", "data": each(models, func(id string) object {
			return object{"id": id, "object": "model", "created": 1782321905, "owned_by": "library"}
		})}
	case strings.HasSuffix(path, "/api/tags"):
		return object{"models": each(models, func(id string) object {
			return object{"name": id, "model": id, "size": 4_000_000_000, "digest": "sha256:0", "details": object{"family": "test"}}
		})}
	case strings.HasSuffix(path, "/api/ps"):
		return s.running()
	case strings.HasSuffix(path, "/api/version"):
		return object{"version": "0.17.4"}
	case strings.HasSuffix(path, "/props"):
		return object{"default_generation_settings": object{"n_ctx": localWindow}, "total_slots": 1, "model_path": models[0]}
	case strings.HasSuffix(path, "/health"):
		return object{"status": "ok"}
	}
	return nil
}

func each(models []string, f func(id string) object) []any {
	out := []any{}
	for _, id := range models {
		out = append(out, f(id))
	}
	return out
}
