package modelserver

import "strings"

func checkResponses(v value) {
	v.only("model", "input", "instructions", "stream", "stream_options", "store", "include", "tools", "tool_choice",
		"parallel_tool_calls", "max_output_tokens", "max_tool_calls", "temperature", "top_p", "reasoning", "text", "truncation",
		"previous_response_id", "metadata", "user", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
		"background", "conversation", "prompt", "top_logprobs")
	v.need("model").filled()
	streams := v.get("stream").boolean()
	if o := v.get("stream_options"); o.only("include_obfuscation") && !streams {
		o.fail("The stream_options parameter is only allowed when stream is enabled.")
	}
	v.get("instructions").str()
	for _, item := range v.get("include").items() {
		item.oneOf("reasoning.encrypted_content", "message.output_text.logprobs", "message.input_image.image_url",
			"file_search_call.results", "web_search_call.action.sources", "code_interpreter_call.outputs",
			"computer_call_output.output.image_url")
	}
	v.get("max_output_tokens").integer(16, unbounded)
	v.get("temperature").number(0, 2)
	if v.get("temperature").set() && v.p.rules.NoTemperature {
		v.get("temperature").fail("Unsupported parameter: temperature is not supported with this model.")
	}
	if r := v.get("reasoning"); r.only("effort", "summary", "generate_summary", "context") {
		r.get("effort").oneOf("none", "minimal", "low", "medium", "high", "xhigh")
		r.get("summary").oneOf("auto", "concise", "detailed")
	}
	v.get("truncation").oneOf("auto", "disabled")
	var names []string
	for _, tool := range v.get("tools").items() {
		if tool.need("type").oneOf("function", "custom") == "custom" {
			tool.only("type", "name", "description", "format")
			format := tool.need("format")
			format.only("type", "syntax", "definition")
			format.need("type").oneOf("grammar")
			format.need("syntax").oneOf("lark", "regex")
			format.need("definition").filled()
			names = append(names, tool.need("name").matches(name64))
			continue
		}
		tool.only("type", "name", "description", "parameters", "strict")
		names = append(names, checkFunction(tool, names))
	}
	checkChoice(v.get("tool_choice"), names, false)
	checkResponsesText(v.get("text"))
	checkInput(v.need("input"), storeOf(v))
}

// storeOf reports whether the provider keeps the items, so that their ids alone mean something. The default is to keep.
func storeOf(v value) bool {
	kept, ok := v.get("store").v.(bool)
	v.get("store").boolean()
	return kept || !ok
}

func checkResponsesText(text value) {
	if !text.only("format", "verbosity") {
		return
	}
	text.get("verbosity").oneOf("low", "medium", "high")
	format := text.get("format")
	if format.set() && format.need("type").oneOf("text", "json_object", "json_schema") == "json_schema" {
		format.only("type", "name", "description", "schema", "strict")
		checkNamedSchema(format)
	}
}

// inputCheck follows calls and reasoning through the input items.
type inputCheck struct {
	calls   map[string]bool // call_id -> answered
	free    map[string]bool // call_id of free-form calls
	ids     map[string]bool
	thought value // the reasoning item that waits for the item it belongs to
	kept    bool
}

func checkInput(input value, kept bool) {
	if input.isString() {
		input.str()
		return
	}
	c := &inputCheck{calls: map[string]bool{}, free: map[string]bool{}, ids: map[string]bool{}, kept: kept}
	for _, item := range input.some() {
		c.checkItem(item)
	}
	c.endThought()
	for id, answered := range c.calls {
		if !answered {
			input.fail("No tool output found for function call %s.", id)
		}
	}
}

// endThought complains of reasoning that nothing of the model's follows.
func (c *inputCheck) endThought() {
	if c.thought.set() {
		c.thought.fail("Item %q of type reasoning was provided without its required following item.", c.thought.get("id").str())
	}
	c.thought = value{}
}

func (c *inputCheck) checkItem(item value) {
	kind := "message"
	if item.get("type").set() {
		kind = item.get("type").oneOf("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning", "item_reference")
	}
	if !strings.HasSuffix(kind, "_output") { // outputs of an earlier round may not separate a thought from its item either
		c.checkID(item, kind)
	}
	role, _ := item.get("role").v.(string)
	switch {
	case kind == "reasoning":
		c.checkReasoning(item)
		return
	case kind == "function_call", kind == "custom_tool_call", kind == "message" && role == "assistant":
		c.thought = value{}
	default:
		c.endThought()
	}
	switch kind {
	case "message":
		c.checkMessage(item)
	case "function_call", "custom_tool_call":
		id := item.need("call_id").matches(responsesID)
		item.need("name").matches(name64)
		if c.free[id] = kind == "custom_tool_call"; c.free[id] {
			item.only("type", "id", "call_id", "name", "input", "status")
			item.need("input").str()
		} else {
			item.only("type", "id", "call_id", "name", "arguments", "status")
			checkArguments(item.need("arguments"))
		}
		item.get("status").oneOf("in_progress", "completed", "incomplete")
		if _, twice := c.calls[id]; twice {
			item.fail("Duplicate function call id %q", id)
		}
		c.calls[id] = false
	case "function_call_output", "custom_tool_call_output":
		if id := item.need("call_id").str(); c.free[id] != (kind == "custom_tool_call_output") {
			item.fail("the output of the call %s is of another type than the call", id)
		}
		c.checkOutput(item)
	}
}

// checkID checks the prefix of an item's own id, and that it is used once.
func (c *inputCheck) checkID(item value, kind string) {
	id := item.get("id")
	if !id.set() {
		return
	}
	prefix := map[string]string{"message": "msg_", "function_call": "fc_", "custom_tool_call": "ctc_", "reasoning": "rs_"}[kind]
	switch s := id.str(); {
	case !strings.HasPrefix(s, prefix):
		id.fail("Invalid %s: expected an ID that begins with %q, not %q", id.path, prefix, s)
	case len(s) > 64:
		id.fail("string too long: expected at most 64 characters, got %d", len(s))
	case c.ids[s]:
		id.fail("Duplicate item found with id %s.", s)
	default:
		c.ids[s] = true
	}
}

func (c *inputCheck) checkReasoning(item value) {
	c.endThought()
	item.only("type", "id", "summary", "content", "encrypted_content", "status")
	item.need("id").str()
	secret := item.get("encrypted_content")
	if !c.kept && !secret.set() {
		item.fail("Item with id %q not found. Items are not persisted when store is set to false: encrypted_content is needed",
			item.get("id").str())
	}
	secret.str()
	text := ""
	if !item.get("summary").isList() {
		item.need("summary").fail("Input should be a list")
	}
	for _, part := range item.get("summary").items() {
		part.only("type", "text")
		part.need("type").oneOf("summary_text")
		text += part.need("text").str()
	}
	if secret.set() && !signatureFits(OpenAIResponses, secret.str(), text) {
		secret.fail("The encrypted content could not be verified.")
	}
	c.thought = item
}

func (c *inputCheck) checkOutput(item value) {
	item.only("type", "id", "call_id", "output", "status")
	id := item.need("call_id").str()
	switch answered, known := c.calls[id]; {
	case !known:
		item.fail("No tool call found for function call output with call_id %s.", id)
	case answered:
		item.fail("the call %s has two outputs", id)
	default:
		c.calls[id] = true
	}
	output := item.need("output")
	if output.isString() {
		return
	}
	checkResponsesContent(output, "input_text", "input_image", "input_file")
}

func (c *inputCheck) checkMessage(item value) {
	item.only("type", "id", "role", "content", "status", "phase")
	role := item.need("role").oneOf("user", "assistant", "system", "developer")
	content := item.need("content")
	if content.isString() {
		return
	}
	if role == "assistant" {
		checkResponsesContent(content, "output_text", "refusal")
	} else {
		checkResponsesContent(content, "input_text", "input_image", "input_file")
	}
}

func checkResponsesContent(content value, kinds ...string) {
	for _, part := range content.some() {
		switch part.need("type").oneOf(kinds...) {
		case "input_text":
			part.only("type", "text")
			part.need("text").str()
		case "output_text":
			part.only("type", "text", "annotations", "logprobs")
			part.need("text").str()
		case "refusal":
			part.only("type", "refusal")
			part.need("refusal").str()
		case "input_image":
			part.only("type", "image_url", "detail", "file_id")
			part.get("detail").oneOf("auto", "low", "high")
			checkDataURL(part.need("image_url"), "image/png", "image/jpeg", "image/gif", "image/webp")
		case "input_file":
			part.only("type", "filename", "file_data", "file_id", "file_url")
			if part.get("file_data").set() {
				part.need("filename")
				checkDataURL(part.get("file_data"), "application/pdf")
			}
		}
	}
}
