package files

import (
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Editing is a way to change files.
type Editing int

// The ways of editing.
const (
	Replace Editing = iota // the tools write, edit, multi_edit and delete, which replace texts
	Patch                  // the tool patch, which makes all changes
)

// families lists the models that get patch, as patterns of their names. OpenAI trained its models on this format: 91 to 96 % of their
// patches apply, and about 70 % of their replacements. Of other models, 44 to 79 % of the patches apply, and 81 to 96 % of the
// replacements.
var families = []string{
	"gpt-*", "gpt[0-9]*", "chatgpt-*", // GPT
	"o[0-9]", "o[0-9]-*", // its reasoning models
	"codex-*", "*-codex", "*-codex-*",
}

// EditingFor returns the way of editing that a model uses best. The name of the model decides.
func EditingFor(model llm.Model) Editing {
	id := strings.ToLower(model.ID)
	id = id[strings.LastIndexByte(id, '/')+1:] // the name of a router begins with the name of the vendor
	for _, before := range []string{"ft:", "us.", "eu.", "apac.", "global.", "openai."} {
		id = strings.TrimPrefix(id, before)
	}
	for _, family := range families {
		if ok, _ := path.Match(family, id); ok {
			return Patch
		}
	}
	return Replace
}
