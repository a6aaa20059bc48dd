package fit

import (
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
)

// SchemaToolName is the name of the tool whose call is a structured answer.
const SchemaToolName = "final_answer"

// SchemaTool returns the tool with which a model without a mode for structured answers gives one, as its arguments. The request must
// then demand a call, and [github.com/tenon-agent/tenon/llm/wire.Answer.SchemaTool] makes a text of it.
func SchemaTool(schema json.RawMessage) llm.Tool {
	return llm.Tool{
		Name:        SchemaToolName,
		Description: "Gives the final answer. Call it once, when all the work is done, with the answer as arguments.",
		Schema:      schema,
	}
}
