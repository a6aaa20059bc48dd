package models

import (
	"fmt"
	"strings"
)

// Ref is a model reference.
type Ref struct {
	Provider string // the name of a provider
	Model    string // as the provider names it; may hold slashes, colons and at signs
	Variant  string // or ""
}

// ParseRef reads "provider/model[@variant]". The text after the last "@" is a variant if it begins with a letter and is
// neither "default" nor "latest". Otherwise it is part of the model's name, because Vertex AI has such versions.
func ParseRef(s string) (Ref, error) {
	provider, model, ok := strings.Cut(s, "/")
	if !ok || !IsProvider(provider) || !IsModelID(model) {
		return Ref{}, fmt.Errorf("%.66q is not a model reference; write provider/model or provider/model@variant", s)
	}
	if i := strings.LastIndexByte(model, '@'); i > 0 && IsVariant(model[i+1:]) {
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

// IsProvider reports whether s may be the name of a provider: small letters, digits, dots, hyphens and underscores.
func IsProvider(s string) bool {
	for i, r := range s {
		mark := i > 0 && strings.ContainsRune("._-", r)
		if !mark && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// IsModelID reports whether s may be a provider's name for a model: no spaces, no dollar sign.
func IsModelID(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '$' })
}

// IsVariant reports whether s may be the name of a variant.
func IsVariant(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && IsProvider(s) && !strings.Contains(s, ".") && s != "default" && s != "latest"
}
