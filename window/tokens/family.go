package tokens

import (
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Family is models that count alike. The zero value is a model of which nothing is known.
type Family string

// The families.
const (
	Unknown   Family = ""
	OpenAI    Family = "openai"
	Anthropic Family = "anthropic"
	Gemini    Family = "gemini" // Gemma too
	DeepSeek  Family = "deepseek"
	Qwen      Family = "qwen"
	Llama     Family = "llama"
	Mistral   Family = "mistral"
	Grok      Family = "grok"
	GLM       Family = "glm"
	Kimi      Family = "kimi"
)

// names are words in the IDs of models, whoever serves them. The first that fits decides.
var names = [...]struct {
	word   string
	family Family
}{
	{"claude", Anthropic},
	{"gemini", Gemini},
	{"gemma", Gemini},
	{"deepseek", DeepSeek}, // before the models that it was distilled into
	{"qwen", Qwen},
	{"qwq", Qwen},
	{"llama", Llama},
	{"mistral", Mistral},
	{"ministral", Mistral},
	{"mixtral", Mistral},
	{"devstral", Mistral},
	{"codestral", Mistral},
	{"magistral", Mistral},
	{"grok", Grok},
	{"glm", GLM},
	{"kimi", Kimi},
	{"gpt", OpenAI},
}

// FamilyOf returns the family of a model, by its ID and else by its provider.
func FamilyOf(m llm.Model) Family {
	id := strings.ToLower(m.ID)
	for _, n := range names {
		if strings.Contains(id, n.word) {
			return n.family
		}
	}
	switch m.Provider {
	case "openai", "azure":
		return OpenAI
	case "anthropic":
		return Anthropic
	}
	return Unknown
}

// habits is how a family differs from the count of o200k_base.
type habits struct {
	factor float64 // tokens of its own vocabulary for one of o200k_base, over code, prose and JSON
	tools  int     // tokens that it adds to a request that has tools
}

// of returns what is known of a family before any answer has come. The factors of Llama 3, Qwen 3, DeepSeek V3, Gemma 3 (whose
// vocabulary is Gemini's) and of an older Claude were measured over code, prose, JSON, terminals and diffs. Of Claude 4 and of
// what tools add there, the recorded conversations of internal/sdkconformance tell; Anthropic documents 313 to 346 tokens for
// its system prompt about tools (docs.claude.com, "Tool use", pricing). Of the others the factors are guesses on the safe side.
func (f Family) of() habits {
	switch f {
	case Anthropic:
		return habits{factor: 1.2, tools: 346}
	case Gemini:
		return habits{factor: 1.15}
	case DeepSeek, Qwen, Kimi, GLM, Grok:
		return habits{factor: 1.05}
	case Mistral:
		return habits{factor: 1.1}
	case OpenAI, Llama:
		return habits{factor: 1}
	default:
		return habits{factor: 1.1}
	}
}
