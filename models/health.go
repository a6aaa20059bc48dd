package models

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
)

// Resting returns the keys of a registry that rest according to all processes with this data directory, sorted by model. It fetches no key.
func Resting(r *Registry) []chain.Health {
	all := []chain.Health{}
	facts := state.In(r.o.DataDir).Facts()
	for _, p := range r.servers {
		found, _ := p.keysOf()
		for _, k := range append(found, key{}) {
			for name, f := range facts {
				if model, ok := strings.CutPrefix(name, state.Rest+k.id(p.name, "")); ok {
					kind := llm.Kind(f.Text)
					ref := p.name + "/" + model
					all = append(all, chain.Health{Model: ref, Key: k.name, State: chain.StateAfter(kind), Until: f.Until, Cause: &llm.Error{Kind: kind, Model: ref}})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b chain.Health) int { return strings.Compare(a.Model+" "+a.Key, b.Model+" "+b.Key) })
	return all
}

// id identifies a key of a provider and a model to other processes. It contains two bytes of a hash of the key if that is ready: enough to notice
// that the name has another key, too little to find the key.
func (k key) id(provider, model string) string {
	id := provider + " " + k.name + " "
	if k.ready != nil {
		if secret, ok := k.ready(); ok {
			sum := hmac.New(sha256.New, []byte(id))
			sum.Write([]byte(secret))
			id += hex.EncodeToString(sum.Sum(nil)[:2])
		}
	}
	return id + " " + model
}
