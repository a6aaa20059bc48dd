package anthropic

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// think asks for as much thinking as the request wants and the model and the conversation allow. Nothing is sent where the
// request leaves it to the model.
func (c *Client) think(r *request, req *llm.Request, conversation []llm.Message) {
	level := c.model.Level(req.Thinking)
	switch {
	case level == llm.ThinkDefault, !c.model.MayThink():
	case level == llm.ThinkOff && !alwaysThinks(c.model):
		r.Thinking = &thinking{Type: "disabled"}
	case c.model.Has(llm.QuirkAdaptiveThinking):
		// Newer models keep their thinking to themselves unless it is asked for.
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.Output = &output{Effort: fit.Effort(c.model, level)}
	case level != llm.ThinkOff && r.MaxTokens > fit.LeastClaudeBudget && fit.ClaudeMayThink(conversation):
		b := fit.ClaudeBudget(level)
		if b >= r.MaxTokens {
			b = max(r.MaxTokens/2, fit.LeastClaudeBudget)
		}
		r.Thinking = &thinking{Type: "enabled", Budget: b}
	}
	if c.model.Has(llm.QuirkBoundThinking) {
		r.bind()
	}
}

// bind lets the server omit earlier thinking if something before it has changed, as a summary, a rewind or another set of tools does.
// Otherwise the server refuses the request (https://platform.claude.com/docs/en/build-with-claude/preserved-thinking).
func (r *request) bind() {
	if r.Thinking == nil {
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"} // the default of these models, which the setting requires
	}
	if r.Thinking.Type == "adaptive" {
		r.Thinking.Binding = &binding{Mismatch: "drop_block"}
	}
}

// thinks reports whether a model that gets the request may think.
func (r *request) thinks(model llm.Model) bool {
	if r.Thinking == nil {
		return alwaysThinks(model)
	}
	return r.Thinking.Type != "disabled"
}

// alwaysThinks reports whether it is known of a model that it cannot be kept from thinking.
func alwaysThinks(m llm.Model) bool {
	return len(m.Thinks) > 0 && !slices.Contains(m.Thinks, llm.ThinkOff)
}
