package models

import (
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Family is a group of models that were trained on the same tools and that take the same instructions well.
type Family string

// The families.
const (
	FamilyClaude Family = "claude" // Anthropic's models
	FamilyGPT    Family = "gpt"    // OpenAI's models, without the open ones
	FamilyGemini Family = "gemini" // Google's Gemini, without Gemma
	FamilyOpen   Family = "open"   // all other models
)

// familyNames are patterns of the names of models. The first one that fits decides.
var familyNames = []struct {
	pattern string
	family  Family
}{
	{"gpt-oss*", FamilyOpen},
	{"gemma*", FamilyOpen},
	{"claude*", FamilyClaude},
	{"gpt-*", FamilyGPT},
	{"gpt[0-9]*", FamilyGPT}, // Azure's older names, such as gpt35
	{"chatgpt-*", FamilyGPT},
	{"o[0-9]", FamilyGPT},
	{"o[0-9]-*", FamilyGPT},
	{"codex-*", FamilyGPT},
	{"*-codex", FamilyGPT},
	{"*-codex-*", FamilyGPT},
	{"gemini*", FamilyGemini},
}

// FamilyOf returns the family of a model. The name of the model decides, wherever it runs. If the name says nothing, such as that of a
// deployment, the provider decides.
func FamilyOf(m llm.Model) Family {
	id := strings.ToLower(m.ID)
	id = id[strings.LastIndexByte(id, '/')+1:] // the name of a router begins with the name of the vendor
	for _, before := range []string{"ft:", "us-gov.", "us.", "eu.", "apac.", "jp.", "au.", "global.", "anthropic.", "openai."} {
		id = strings.TrimPrefix(id, before)
	}
	for _, n := range familyNames {
		if ok, _ := path.Match(n.pattern, id); ok {
			return n.family
		}
	}
	switch provider, _, _ := strings.Cut(m.Provider, "-"); provider {
	case "anthropic":
		return FamilyClaude
	case "openai", "azure":
		return FamilyGPT
	case "gemini":
		return FamilyGemini
	}
	return FamilyOpen
}
