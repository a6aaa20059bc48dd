package app

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
)

// Model is the model that was chosen, and why.
type Model struct {
	Client llm.Client
	Why    string // in words, such as "from TENON_MODEL"
}

// UnknownModelError says that a model was named that this build cannot reach.
type UnknownModelError struct {
	Name string // as it was given
	From string // where: "--model" or "TENON_MODEL"
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("%s names the model %q, which this build does not have: so far the only one is \"offline\", "+
		"which needs no key and no network; use --model offline, or leave the model out", e.From, e.Name)
}

// ChooseModel finds the model to use: the one of the flag, of the environment, what can be discovered, else the offline
// model, which is always there. The error is an [*UnknownModelError].
func ChooseModel(flag string, getenv func(string) string) (Model, error) {
	if flag != "" {
		return named(flag, "--model", "chosen by --model")
	}
	if name := getenv("TENON_MODEL"); name != "" {
		return named(name, "TENON_MODEL", "chosen by TENON_MODEL")
	}
	if m, ok := discoverModel(getenv); ok {
		return m, nil
	}
	return Model{Client: offline.New(), Why: "no other model is set up"}, nil
}

// discoverModel is where a configured model, a key in the environment and a model server on this machine are looked for,
// in this order. This build looks for none of them.
func discoverModel(func(string) string) (Model, bool) { return Model{}, false }

// named returns the model that is called name, "provider/model" or only the provider.
func named(name, from, why string) (Model, error) {
	provider, id, _ := strings.Cut(strings.TrimSpace(name), "/")
	c := offline.New()
	if m := c.Model(); provider != m.Provider || id != "" && id != m.ID {
		return Model{}, &UnknownModelError{Name: name, From: from}
	}
	return Model{Client: c, Why: why}, nil
}
