package config

import (
	"fmt"
	"strings"
)

// Ref is the name of a model as people write it.
type Ref struct {
	Provider string // the name of a provider
	Model    string // as the provider names it; may hold slashes, colons and at signs
	Variant  string // or ""
}

// ParseRef reads "provider/model[@variant]". What follows the last "@" is a variant when it begins with a letter and is
// neither "default" nor "latest"; otherwise it is part of the model's name, since Vertex AI has such versions.
func ParseRef(s string) (Ref, error) {
	provider, model, ok := strings.Cut(s, "/")
	if !ok || !isProvider(provider) || !isModelID(model) {
		return Ref{}, fmt.Errorf("%s is not the name of a model; write provider/model or provider/model@variant", clip(s))
	}
	if i := strings.LastIndexByte(model, '@'); i > 0 && isVariant(model[i+1:]) {
		return Ref{provider, model[:i], model[i+1:]}, nil
	}
	return Ref{Provider: provider, Model: model}, nil
}

// String returns the reference as ParseRef reads it.
func (r Ref) String() string {
	s := r.Provider + "/" + r.Model
	if r.Variant != "" {
		s += "@" + r.Variant
	}
	return s
}

// Facts returns what the configuration says about the model of a reference. What stands below its provider comes first,
// as a whole.
func (s *Settings) Facts(r Ref) (Facts, bool) {
	if f, ok := s.Providers[r.Provider].Models[r.Model]; ok {
		return f, true
	}
	f, ok := s.Models[r.Provider+"/"+r.Model]
	return f, ok
}

// Variant returns the variant that a reference names, if the configuration has it.
func (s *Settings) Variant(r Ref) (Variant, bool) {
	f, _ := s.Facts(r)
	v, ok := f.Variants[r.Variant]
	return v, ok
}

// Candidates returns the models that a model setting means: those of the pool with the name, or the one that it refers to.
func (s *Settings) Candidates(name string) ([]Ref, error) {
	names, pool := s.Pools[name]
	switch {
	case pool:
	case strings.Contains(name, "/"):
		names = []string{name}
	default:
		return nil, fmt.Errorf("there is no pool %s%s; write provider/model, or add the pool to the configuration",
			clip(name), meant(name, sortedKeys(s.Pools)))
	}
	refs := make([]Ref, len(names))
	for i, n := range names {
		ref, err := ParseRef(n)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	return refs, nil
}
