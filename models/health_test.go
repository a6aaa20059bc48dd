package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/redact"
)

// A key that rests is known by its name and a mark: another key under that name does not rest, and the file contains no part of a key.
func TestRestingKeys(t *testing.T) {
	const first, second, third = "sk-planted-first-0123456789", "sk-planted-second-0123456789", "sk-planted-third-0123456789"
	srv := modelserver.New(t, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if r.Key == first {
			return modelserver.Fail(429).RetryAfter(10 * time.Minute).Message("the key " + first + " is limited")
		}
		return modelserver.Say("yes")
	}))
	dir := t.TempDir()
	mine := first
	registry := func() *models.Registry {
		return models.New(models.Options{DataDir: dir, Getenv: func(string) string { return "" }, Providers: map[string]models.Provider{"anthropic": {
			BaseURL: redact.Literal(srv.URL, ""),
			APIKeys: []models.Key{{Name: "mine", Key: redact.Literal(mine, "")}, {Name: "ours", Key: redact.Literal(second, "")}},
		}}})
	}
	ask := func(r *models.Registry) string {
		t.Helper()
		c, err := r.Choose("anthropic/claude-sonnet-4-6")
		if err != nil {
			t.Fatal(err)
		}
		before := len(srv.Requests())
		for _, err := range c.Client.Stream(t.Context(), &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var keys []string
		for _, q := range srv.Requests()[before:] {
			keys = append(keys, q.Key)
		}
		return strings.Join(keys, " ")
	}
	if got := ask(registry()); got != first+" "+second {
		t.Errorf("it asked with %s", got)
	}
	r := registry()
	resting := models.Resting(r)
	if len(resting) != 1 || resting[0].Key != "mine" || resting[0].Model != "anthropic/claude-sonnet-4-6" || resting[0].State != "cooling" ||
		resting[0].Cause.Kind != llm.KindRateLimited || time.Until(resting[0].Until) < 9*time.Minute {
		t.Errorf("resting: %+v", resting)
	}
	if got := ask(r); got != second {
		t.Errorf("the second time it asked with %s", got)
	}
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"planted", "first", "6789"} {
		if strings.Contains(string(data), part) {
			t.Errorf("the file contains %q of a key: %s", part, data)
		}
	}
	mine = third
	if all := models.Resting(registry()); len(all) != 0 {
		t.Errorf("another key rests: %+v", all)
	}
	if got := ask(registry()); got != third {
		t.Errorf("with another key it asked with %s", got)
	}
	mine = first
	state.In(dir).Forget(state.Rest + "anthropic")
	if got := ask(registry()); got != first+" "+second {
		t.Errorf("awake, it asked with %s", got)
	}
}
