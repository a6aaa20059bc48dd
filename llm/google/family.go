package google

import (
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// newest is the generation of aliases for the newest model, such as gemini-flash-latest.
const newest = 99

// generation returns the version in a model's name: 2.5 for gemini-2.5-flash, newest when a Gemini has none, 0 for other models.
func generation(id string) float64 {
	name, ok := strings.CutPrefix(bare(id), "gemini-")
	if !ok {
		return 0
	}
	number, _, _ := strings.Cut(name, "-")
	version, err := strconv.ParseFloat(number, 64)
	if err != nil || version <= 0 {
		return newest
	}
	return version
}

// bare returns the ID of a model without the collections before it.
func bare(id string) string { return strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]) }

// family returns what of a model's name decides whether it understands a signature: not that it is a preview, or which.
func family(id string) string {
	id = bare(id)
	for _, variant := range []string{"-preview", "-latest", "-exp", "-0"} {
		id, _, _ = strings.Cut(id, variant)
	}
	return id
}

// own reports whether the signatures of a message of that model ("provider/model") mean something to this one. Those of the Gemini API
// and of Vertex AI are not taken for each other's: a signature that is not understood fails the request, a missing one does not.
func own(model llm.Model, author string) bool {
	provider, id, ok := strings.Cut(author, "/")
	return ok && provider == model.Provider && family(id) == family(model.ID)
}

// strict reports whether a model refuses calls without a signature, and takes images within results.
func strict(model llm.Model) bool { return generation(model.ID) >= 3 }
