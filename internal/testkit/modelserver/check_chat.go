package modelserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

func checkChat(v value, r *http.Request) {
	v.only("model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "stop",
		"presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "seed", "user", "tools", "tool_choice",
		"parallel_tool_calls", "response_format", "reasoning_effort", "verbosity", "store", "metadata", "service_tier", "modalities",
		"audio", "prediction", "web_search_options", "prompt_cache_key", "prompt_cache_retention", "safety_identifier")
	inPath := false
	if r != nil {
		inPath = deployment(r.URL.EscapedPath()) != ""
	}
	if !inPath {
		v.need("model").filled()
	}
	streams := v.get("stream").boolean()
	if o := v.get("stream_options"); o.only("include_usage", "include_obfuscation") && !streams {
		o.fail("The stream_options parameter is only allowed when stream is enabled.")
	}
	checkChatNumbers(v)
	names := checkChatTools(v)
	checkChoice(v.get("tool_choice"), names, true)
	if v.get("parallel_tool_calls").set() && len(names) == 0 {
		v.get("parallel_tool_calls").fail("parallel_tool_calls is only allowed when tools are specified.")
	}
	checkResponseFormat(v.get("response_format"))
	c := &chatCheck{known: map[string]bool{}}
	messages := v.need("messages").some()
	for _, m := range messages {
		c.checkMessage(m)
	}
	c.settle(v.get("messages"))
}

func checkChatNumbers(v value) {
	v.get("max_tokens").integer(1, unbounded)
	v.get("max_completion_tokens").integer(1, unbounded)
	switch old := v.get("max_tokens"); {
	case old.set() && v.get("max_completion_tokens").set():
		old.fail("Setting max_tokens and max_completion_tokens at the same time is not supported.")
	case old.set() && v.p.rules.NoMaxTokens:
		old.fail("Unsupported parameter: max_tokens is not supported with this model. Use max_completion_tokens instead.")
	}
	v.get("temperature").number(0, 2)
	if v.get("temperature").set() && v.p.rules.NoTemperature {
		v.get("temperature").fail("Unsupported value: temperature is not supported with this model.")
	}
	v.get("top_p").number(0, 1)
	v.get("reasoning_effort").oneOf("none", "minimal", "low", "medium", "high", "xhigh")
	v.get("verbosity").oneOf("low", "medium", "high")
}

func checkChatTools(v value) []string {
	tools := v.get("tools")
	if tools.set() && len(tools.items()) == 0 {
		tools.fail("[] is too short - tools")
	}
	var names []string
	for _, tool := range tools.items() {
		tool.only("type", "function")
		tool.need("type").oneOf("function")
		f := tool.need("function")
		f.only("name", "description", "parameters", "strict")
		names = append(names, checkFunction(f, names))
	}
	return names
}

// checkFunction checks what Chat and Responses say of a tool alike, and returns its name.
func checkFunction(f value, before []string) string {
	name := f.need("name").matches(name64)
	if slices.Contains(before, name) {
		f.fail("the tool %q is there twice", name)
	}
	f.get("description").str()
	parameters := f.get("parameters")
	parameters.object()
	if parameters.set() && parameters.get("type").v != "object" {
		parameters.fail("Invalid schema for function %q: schema must be a JSON Schema of type object", name)
	}
	if f.get("strict").boolean() {
		checkStrictSchema(parameters, true)
	}
	return name
}

// checkChoice checks a tool choice. In Chat the name is below "function".
func checkChoice(choice value, names []string, nested bool) {
	if !choice.set() {
		return
	}
	if choice.isString() {
		if s := choice.oneOf("none", "auto", "required"); s == "required" && len(names) == 0 {
			choice.fail("tool_choice is only allowed when tools are specified.")
		}
		return
	}
	choice.need("type").oneOf("function")
	f := choice
	if nested {
		choice.only("type", "function")
		f = choice.need("function")
	}
	if !slices.Contains(names, f.need("name").str()) {
		choice.fail("Tool choice %q not found in tools", f.get("name").str())
	}
}

func checkResponseFormat(format value) {
	if !format.set() {
		return
	}
	kind := format.need("type").oneOf("text", "json_object", "json_schema")
	if kind == "json_schema" {
		format.only("type", "json_schema")
		s := format.need("json_schema")
		s.only("name", "description", "schema", "strict")
		checkNamedSchema(s)
	}
}

func checkNamedSchema(s value) {
	s.need("name").matches(name64)
	s.need("schema").object()
	if s.get("strict").boolean() {
		checkStrictSchema(s.get("schema"), true)
	}
}

// chatCheck follows the calls of a conversation.
type chatCheck struct {
	known map[string]bool // ids since the last assistant message with calls
	open  []string
}

// settle complains of calls that have no result where the run of tool messages ends.
func (c *chatCheck) settle(at value) {
	if len(c.open) > 0 {
		at.fail("An assistant message with tool_calls must be followed by tool messages responding to each tool_call_id. "+
			"The following tool_call_ids did not have response messages: %s", strings.Join(c.open, ", "))
	}
	c.open = nil
}

func (c *chatCheck) checkMessage(m value) {
	role := m.need("role").oneOf("system", "developer", "user", "assistant", "tool")
	if role != "tool" {
		c.settle(m)
		c.known = map[string]bool{}
	}
	m.get("name").str()
	switch role {
	case "system", "developer":
		m.only("role", "content", "name")
		checkChatContent(m.need("content"), "text")
	case "user":
		m.only("role", "content", "name")
		checkChatContent(m.need("content"), "text", "image_url", "input_audio", "file")
	case "assistant":
		c.checkAssistant(m)
	case "tool":
		m.only("role", "content", "tool_call_id")
		checkChatContent(m.need("content"), "text")
		c.checkToolMessage(m)
	}
}

func (c *chatCheck) checkToolMessage(m value) {
	id := m.need("tool_call_id").str()
	at := slices.Index(c.open, id)
	switch {
	case at >= 0:
		c.open = slices.Delete(c.open, at, at+1)
	case c.known[id]:
		m.get("tool_call_id").fail("the call %q has two results", id)
	default:
		m.fail("messages with role tool must be a response to a preceding message with tool_calls; %q is not one of its ids", id)
	}
}

func (c *chatCheck) checkAssistant(m value) {
	m.only("role", "content", "name", "refusal", "tool_calls", "audio", "function_call")
	content, calls := m.get("content"), m.get("tool_calls")
	m.get("refusal").str()
	if !content.set() && !calls.set() && !m.get("refusal").set() {
		m.fail("Invalid value for content: expected a string, got null: an assistant message needs content or tool_calls")
	}
	checkChatContent(content, "text", "refusal")
	if calls.set() && len(calls.items()) == 0 {
		calls.fail("[] is too short")
	}
	for _, call := range calls.items() {
		call.only("id", "type", "function", "index")
		call.need("type").oneOf("function")
		id := call.need("id").matches(chatID)
		f := call.need("function")
		f.only("name", "arguments")
		f.need("name").matches(name64)
		checkArguments(f.need("arguments"))
		if c.known[id] {
			call.fail("Duplicate tool call id %q", id)
		}
		c.known[id] = true
		c.open = append(c.open, id)
	}
}

// checkArguments wants a string with a JSON object in it.
func checkArguments(v value) {
	var object map[string]any
	s := v.str()
	if err := json.Unmarshal([]byte(s), &object); v.set() && (err != nil || object == nil) {
		v.fail("arguments should be the JSON of an object, not %q", s)
	}
}

// checkChatContent checks a string, or a list of parts of the kinds.
func checkChatContent(content value, kinds ...string) {
	if !content.set() || content.isString() {
		return
	}
	for _, part := range content.some() {
		switch kind := part.need("type").oneOf(kinds...); kind {
		case "text":
			part.only("type", "text")
			part.need("text").str()
		case "refusal":
			part.only("type", "refusal")
			part.need("refusal").str()
		case "image_url":
			part.only("type", "image_url")
			u := part.need("image_url")
			u.only("url", "detail")
			u.get("detail").oneOf("auto", "low", "high")
			checkDataURL(u.need("url"), "image/png", "image/jpeg", "image/gif", "image/webp")
		case "file":
			part.only("type", "file")
			f := part.need("file")
			f.only("filename", "file_data", "file_id")
			if f.get("file_data").set() {
				f.need("filename")
				checkDataURL(f.get("file_data"), "application/pdf")
			}
		}
	}
}

// checkDataURL wants data:TYPE;base64,DATA with one of the types.
func checkDataURL(v value, types ...string) {
	s := v.str()
	if !v.set() {
		return
	}
	rest, ok := strings.CutPrefix(s, "data:")
	mime, data, found := strings.Cut(rest, ";base64,")
	switch {
	case !ok || !found:
		v.fail("expected a data URL in base64, not %.40q", s)
	case !slices.Contains(types, mime):
		v.fail("unsupported type %q: expected one of %q", mime, types)
	default:
		value{v.p, v.path, data}.picture(mime)
	}
}
