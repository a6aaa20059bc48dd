package llm

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Settings says how a model answers a request. The zero value leaves everything to the provider. One value travels from the configuration
// to the wire: [Request] embeds it, and so does everything that makes requests.
//
// JSON: the fields by their names in snake case, empty ones left out.
type Settings struct {
	Schema      json.RawMessage `json:"schema,omitempty"`     // JSON Schema that the answer must satisfy
	MaxTokens   int             `json:"max_tokens,omitzero"`  // limit of the answer; 0: the most that the model allows
	Temperature *float64        `json:"temperature,omitzero"` // nil: the provider's default
	Thinking    Thinks          `json:"thinking,omitzero"`    // default: the level of the model, see [Model.Level]
	Cache       CachePolicy     `json:"cache,omitzero"`       // default CacheAuto
}

// With returns the settings with every field of over that is set in place of their own.
func (s Settings) With(over Settings) Settings {
	if over.Schema != nil {
		s.Schema = over.Schema
	}
	s.MaxTokens = cmp.Or(over.MaxTokens, s.MaxTokens)
	s.Temperature = cmp.Or(over.Temperature, s.Temperature)
	s.Thinking = cmp.Or(over.Thinking, s.Thinking)
	s.Cache = cmp.Or(over.Cache, s.Cache)
	return s
}

// Thinks is how much a model may reason before it answers.
type Thinks string

// The thinking levels. Each protocol maps them to its own.
const (
	ThinkDefault  Thinks = ""        // the level of the model, see [Model.Level]
	ThinkProvider Thinks = "default" // whatever the provider does if the request names no level
	ThinkOff      Thinks = "off"
	ThinkMinimal  Thinks = "minimal"
	ThinkLow      Thinks = "low"
	ThinkMedium   Thinks = "medium"
	ThinkHigh     Thinks = "high"
	ThinkXHigh    Thinks = "xhigh"
	ThinkMax      Thinks = "max"
)

// Levels returns the thinking levels of models, the least first.
func Levels() []Thinks {
	return []Thinks{ThinkOff, ThinkMinimal, ThinkLow, ThinkMedium, ThinkHigh, ThinkXHigh, ThinkMax}
}

// Among returns the level itself if it is among the known ones, else the next one above, else the next one below. ThinkDefault: none is
// known, or t is not a level.
func (t Thinks) Among(known []Thinks) Thinks {
	all := Levels()
	asked := slices.Index(all, t)
	if asked < 0 {
		return ThinkDefault
	}
	above, below := all[asked:], all[:asked]
	slices.Reverse(below)
	for _, l := range slices.Concat(above, below) {
		if slices.Contains(known, l) {
			return l
		}
	}
	return ThinkDefault
}

// CachePolicy says where a provider that needs marks for its prompt cache gets them: CacheAuto, CacheOff, or a choice of positions
// separated by commas, such as "system,tools".
type CachePolicy string

// The cache policies and the positions of marks.
const (
	CacheAuto     CachePolicy = ""         // all positions
	CacheOff      CachePolicy = "off"      // none
	CacheSystem   CachePolicy = "system"   // after the system prompt
	CacheTools    CachePolicy = "tools"    // after the last tool
	CacheMessages CachePolicy = "messages" // moving marks near the end of the conversation
)

// Marks reports whether the policy sets marks at a position, one of CacheSystem, CacheTools and CacheMessages.
func (p CachePolicy) Marks(at CachePolicy) bool {
	if p == CacheAuto {
		return true
	}
	for one := range strings.SplitSeq(string(p), ",") {
		if strings.TrimSpace(one) == string(at) {
			return true
		}
	}
	return false
}

// Valid reports whether the policy is a known one.
func (p CachePolicy) Valid() bool {
	if p == CacheAuto || p == CacheOff {
		return true
	}
	for one := range strings.SplitSeq(string(p), ",") {
		switch CachePolicy(strings.TrimSpace(one)) {
		case CacheSystem, CacheTools, CacheMessages:
		default:
			return false
		}
	}
	return true
}
