package recorded

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm/fit"
)

// allowance is a difference that means nothing, or that is meant. It makes the bodies alike where they differ in no other way
// than this, and reports whether there was something to do.
type allowance struct {
	name, reason string
	in           string // protocols
	allow        func(p *pair) bool
}

// allowances are all of them. Whatever else differs is a fault of ours.
func allowances() []allowance {
	return slices.Concat(generalAllowances(), messagesAllowances(), chatAllowances(), responsesAllowances(), geminiAllowances())
}

func generalAllowances() []allowance {
	return []allowance{
		{
			"cache marks", "ours asks for the prompt cache, which changes no answer",
			"messages converse", func(p *pair) (found bool) {
				walk(p.ours, func(o object) { found = drop(o, "cache_control", object{"type": "ephemeral"}) || found })
				return found
			},
		},
		{
			"tool choice", "auto is the default, which ours does not write",
			"messages converse chat responses", func(p *pair) bool {
				for _, spelled := range []any{"auto", object{"type": "auto"}, object{"type": "auto", "disable_parallel_tool_use": false}} {
					if !has(p.ours, "tool_choice") && drop(p.theirs, "tool_choice", spelled) {
						return true
					}
				}
				return false
			},
		},
	}
}

func messagesAllowances() []allowance {
	return []allowance{
		{
			"thinking budget", "a level of ours stands for a budget of its own, from 1024 to below the limit of the answer",
			"messages", func(p *pair) bool {
				theirs, _ := p.theirs["thinking"].(object)
				budget, _ := at(p.ours, "thinking", "budget_tokens").(float64)
				limit, _ := p.ours["max_tokens"].(float64)
				if theirs["type"] != "enabled" || budget < 1024 || budget >= limit || theirs["budget_tokens"] == budget {
					return false
				}
				theirs["budget_tokens"] = budget
				return true
			},
		},
		{
			"schema tool", "a structured answer is the arguments of a tool, which has a name and a description of ours",
			"messages", func(p *pair) bool {
				choice, _ := p.theirs["tool_choice"].(object)
				tools := objects(p.theirs["tools"])
				if choice["type"] != "tool" || len(tools) != 1 || tools[0]["name"] != choice["name"] {
					return false
				}
				drop(choice, "disable_parallel_tool_use", false) // the default
				tools[0]["name"], choice["name"] = fit.SchemaToolName, fit.SchemaToolName
				tools[0]["description"] = fit.SchemaTool(nil).Description
				return true
			},
		},
		{
			"operation", "the version is of InvokeModel; Converse has none",
			"converse", func(p *pair) bool { return drop(p.theirs, "anthropic_version", "bedrock-2023-05-31") },
		},
	}
}

func chatAllowances() []allowance {
	return []allowance{
		{
			"strict tools", "false is the default, which ours does not write",
			"chat", func(p *pair) (found bool) {
				for _, tool := range objects(p.theirs["tools"]) {
					function, _ := tool["function"].(object)
					found = drop(function, "strict", false) || found
				}
				return found
			},
		},
		{
			"name of the limit", "max_tokens is the older name of max_completion_tokens at these servers, which document it as deprecated",
			"chat", func(p *pair) bool {
				renamed := slices.Contains([]string{"openai", "xai", "groq"}, p.provider)
				if !renamed || !has(p.theirs, "max_tokens") || has(p.theirs, "max_completion_tokens") {
					return false
				}
				p.theirs["max_completion_tokens"] = p.theirs["max_tokens"]
				delete(p.theirs, "max_tokens")
				return true
			},
		},
		{
			"system role", "OpenAI reads system and developer as the same",
			"chat", func(p *pair) bool {
				first, _ := at(p.theirs, "messages", 0).(object)
				if p.provider != "openai" || first["role"] != "system" {
					return false
				}
				first["role"] = "developer"
				return true
			},
		},
		{
			"lost beginning", "those who recorded lost the first piece of streamed reasoning_details, which ours sends back",
			"chat", func(p *pair) (found bool) {
				for n := range objects(p.theirs["messages"]) {
					theirs, _ := at(p.theirs, "messages", n, "reasoning_details", 0).(object)
					ours, _ := at(p.ours, "messages", n, "reasoning_details", 0, "text").(string)
					text, _ := theirs["text"].(string)
					if p.own && p.ours["stream"] == true && text != ours && text != "" && strings.HasSuffix(ours, text) {
						theirs["text"], found = ours, true
					}
				}
				return found
			},
		},
		{
			"thinking switch", "Z.ai documents the switch thinking for these models, which have no levels",
			"chat", func(p *pair) bool {
				if p.provider != "zai" || !drop(p.theirs, "reasoning_effort", "high") {
					return false
				}
				p.theirs["thinking"] = object{"type": "enabled"}
				return true
			},
		},
	}
}

func responsesAllowances() []allowance {
	return []allowance{
		{
			"instructions", "the first message of the system or the developer is the instructions",
			"responses", func(p *pair) bool {
				first, _ := at(p.theirs, "input", 0).(object)
				if first["role"] != "system" && first["role"] != "developer" || has(p.theirs, "instructions") {
					return false
				}
				p.theirs["instructions"] = first["content"]
				p.theirs["input"] = p.theirs["input"].([]any)[1:]
				return true
			},
		},
		{
			"message type", "an item with a role is a message, whether its type says so or not",
			"responses", func(p *pair) (found bool) {
				for _, item := range objects(p.theirs["input"]) {
					if has(item, "role") && !has(item, "type") {
						item["type"], found = "message", true
					}
				}
				return found
			},
		},
		{
			"cache key", "ours names the conversation, so that its requests find the cache",
			"responses", func(p *pair) bool {
				_, ok := p.ours["prompt_cache_key"].(string)
				delete(p.ours, "prompt_cache_key")
				return ok
			},
		},
		{
			"reasoning asked for", "ours asks every model that reasons for summaries and for reasoning that can go back",
			"responses", func(p *pair) (found bool) {
				if !has(p.theirs, "reasoning") {
					found = drop(p.ours, "reasoning", object{"summary": "auto"})
				}
				if !has(p.theirs, "include") {
					found = drop(p.ours, "include", []any{"reasoning.encrypted_content"}) || found
				}
				return found
			},
		},
		{
			"schema name", "the name of a schema is for people; strict is asked for where the schema allows it",
			"responses", func(p *pair) bool {
				theirs, _ := at(p.theirs, "text", "format").(object)
				ours, _ := at(p.ours, "text", "format").(object)
				if theirs == nil || ours["name"] != "answer" || ours["strict"] != true {
					return false
				}
				theirs["name"] = "answer"
				if !has(theirs, "strict") {
					theirs["strict"] = ours["strict"]
				}
				return true
			},
		},
		{
			"reasoning goes back", "OpenAI documents that reasoning goes back between calls; those who recorded left it out",
			"responses", func(p *pair) bool {
				input, _ := p.ours["input"].([]any)
				kept := slices.DeleteFunc(slices.Clone(input), func(v any) bool {
					return at(v, "type") == "reasoning" && at(v, "encrypted_content") != nil && at(v, "summary") != nil
				})
				if !p.own || len(kept) == len(input) {
					return false
				}
				p.ours["input"] = kept
				return true
			},
		},
	}
}

func geminiAllowances() []allowance {
	return []allowance{
		{
			"role of the instruction", "the role of an instruction means nothing",
			"gemini", func(p *pair) bool {
				system, _ := p.theirs["systemInstruction"].(object)
				return drop(system, "role", "user")
			},
		},
		{
			"tool schema", "parameters takes schemas of OpenAPI, parametersJsonSchema takes JSON Schema: the types differ in case",
			"gemini", func(p *pair) (found bool) {
				for _, tools := range objects(p.theirs["tools"]) {
					for _, f := range objects(tools["functionDeclarations"]) {
						if schema, ok := f["parameters"].(object); ok {
							delete(f, "parameters")
							var v any
							if json.Unmarshal(lowered(schema), &v) == nil {
								f["parametersJsonSchema"], found = v, true
							}
						}
					}
				}
				return found
			},
		},
		{
			"result", "Google documents output as the name of what a function gave; any other is read as a whole",
			"gemini", func(p *pair) (found bool) {
				walk(p.theirs["contents"], func(o object) {
					if response, ok := o["response"].(object); ok && has(response, "result") {
						response["output"], found = response["result"], true
						delete(response, "result")
					}
				})
				return found
			},
		},
		{
			"thoughts asked for", "ours asks every model that reasons for summaries",
			"gemini", func(p *pair) bool {
				ours, _ := p.ours["generationConfig"].(object)
				return at(p.theirs, "generationConfig", "thinkingConfig") == nil &&
					drop(ours, "thinkingConfig", object{"includeThoughts": true})
			},
		},
		{
			"Gemini's thinking budget", "a level of ours stands for a budget of its own",
			"gemini", func(p *pair) bool {
				theirs, _ := at(p.theirs, "generationConfig", "thinkingConfig").(object)
				ours, _ := at(p.ours, "generationConfig", "thinkingConfig").(object)
				if theirs["thinkingBudget"] != 128.0 || ours["thinkingBudget"] != 512.0 {
					return false
				}
				theirs["thinkingBudget"] = 512.0
				return true
			},
		},
		{
			"call IDs", "the model gave none, so each side made its own: they must only belong together",
			"gemini", func(p *pair) bool { return numberCalls(p.theirs) && numberCalls(p.ours) },
		},
	}
}

// lowered returns a schema with its types in lower case.
func lowered(schema object) []byte {
	walk(schema, func(o object) {
		if kind, ok := o["type"].(string); ok {
			o["type"] = strings.ToLower(kind)
		}
	})
	return written(schema)
}

// numberCalls gives calls and their results the numbers in which the calls stand.
func numberCalls(body object) bool {
	ids := map[any]string{}
	walk(body["contents"], func(o object) {
		if call, ok := o["functionCall"].(object); ok && has(call, "id") {
			ids[call["id"]] = fmt.Sprint("#", len(ids))
			call["id"] = ids[call["id"]]
		}
	})
	walk(body["contents"], func(o object) {
		if result, ok := o["functionResponse"].(object); ok && has(result, "id") {
			if number, known := ids[result["id"]]; known {
				result["id"] = number
			}
		}
	})
	return len(ids) > 0
}
