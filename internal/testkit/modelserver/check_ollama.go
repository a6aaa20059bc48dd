package modelserver

import (
	"slices"
	"strings"
	"time"
)

// checkOllama refuses fields and types that Ollama does not decode. Ollama ignores unknown fields and options, and takes results without their
// calls; a client that sends them has a fault, so they are refused as well.
func checkOllama(v value) {
	v.only("model", "messages", "tools", "stream", "think", "format", "options", "keep_alive", "truncate", "shift", "logprobs", "top_logprobs")
	v.need("model").filled()
	for _, name := range []string{"stream", "truncate", "shift", "logprobs"} {
		v.get(name).boolean()
	}
	v.get("top_logprobs").integer(0, 20)
	if think := v.get("think"); think.isString() {
		think.oneOf("low", "medium", "high")
	} else {
		think.boolean()
	}
	if format := v.get("format"); format.isString() {
		format.oneOf("json")
	} else {
		format.object()
	}
	checkKeepAlive(v.get("keep_alive"))
	checkOllamaOptions(v.get("options"))
	checkOllamaTools(v.get("tools"))
	c := &ollamaCheck{}
	for _, m := range v.need("messages").some() {
		c.checkMessage(m)
	}
	c.settle(v.get("messages"))
}

// checkKeepAlive wants a number of seconds, or a duration such as 5m.
func checkKeepAlive(v value) {
	if !v.isString() {
		v.number(-unbounded, unbounded)
		return
	}
	if _, err := time.ParseDuration(v.str()); err != nil {
		v.fail("%v", err)
	}
}

func checkOllamaOptions(o value) {
	whole := []string{"num_keep", "seed", "top_k", "repeat_last_n", "num_batch", "num_gpu", "main_gpu", "num_thread"}
	parts := []string{
		"top_p", "min_p", "typical_p", "temperature", "repeat_penalty", "presence_penalty", "frequency_penalty",
	}
	if !o.only(slices.Concat(whole, parts, []string{"num_ctx", "num_predict", "stop", "use_mmap"})...) {
		return
	}
	for _, name := range whole {
		o.get(name).integer(-unbounded, unbounded)
	}
	for _, name := range parts {
		o.get(name).number(-unbounded, unbounded)
	}
	o.get("num_ctx").integer(1, unbounded)
	o.get("num_predict").integer(-2, unbounded)
	o.get("stop").strings()
	o.get("use_mmap").boolean()
	if o.get("temperature").set() && o.p.rules.NoTemperature {
		o.get("temperature").fail("temperature is not supported with this model")
	}
}

func checkOllamaTools(tools value) {
	var names []string
	for _, tool := range tools.items() {
		tool.only("type", "function")
		tool.need("type").oneOf("function")
		f := tool.need("function")
		f.only("name", "description", "parameters")
		names = append(names, checkFunction(f, names))
		parameters := f.get("parameters")
		parameters.get("required").strings()
		checkOllamaProperties(parameters.get("properties"))
	}
}

// checkOllamaProperties wants the part of JSON Schema that Ollama decodes: a property is an object, and a schema of true is not.
func checkOllamaProperties(properties value) {
	properties.object()
	for _, p := range members(properties) {
		checkOllamaProperty(p)
	}
}

func checkOllamaProperty(p value) {
	if p.object(); !p.isObject() {
		return
	}
	if kind := p.get("type"); kind.isList() {
		kind.strings()
	} else {
		kind.str()
	}
	p.get("description").str()
	p.get("enum").items()
	p.get("required").strings()
	for _, option := range p.get("anyOf").items() {
		checkOllamaProperty(option)
	}
	checkOllamaProperties(p.get("properties"))
}

// ollamaCheck follows the calls of a conversation.
type ollamaCheck struct {
	open []ollamaCalled // calls of the last answer without a result
	ids  map[string]bool
}

// ollamaCalled is a call. Older servers give it no id.
type ollamaCalled struct{ id, name string }

// settle complains of calls that have no result where the run of tool messages ends.
func (c *ollamaCheck) settle(at value) {
	var names []string
	for _, open := range c.open {
		names = append(names, open.name)
	}
	if len(names) > 0 {
		at.fail("an assistant message with tool_calls must be followed by their results; these have none: %s", strings.Join(names, ", "))
	}
	c.open = nil
}

func (c *ollamaCheck) checkMessage(m value) {
	role := m.need("role").oneOf("system", "user", "assistant", "tool")
	if role != "tool" {
		c.settle(m)
	}
	for _, image := range m.get("images").items() {
		image.base64()
	}
	m.get("content").str()
	switch role {
	case "system":
		m.only("role", "content")
		m.need("content")
	case "user":
		m.only("role", "content", "images")
		m.need("content")
	case "assistant":
		c.checkAssistant(m)
	case "tool":
		m.only("role", "content", "images", "tool_name", "tool_call_id")
		m.need("content")
		c.checkResult(m)
	}
}

func (c *ollamaCheck) checkAssistant(m value) {
	m.only("role", "content", "thinking", "tool_calls")
	m.get("thinking").str()
	calls := m.get("tool_calls")
	if !m.get("content").set() && !m.get("thinking").set() && !calls.set() {
		m.fail("an assistant message needs content, thinking or tool_calls")
	}
	c.ids = map[string]bool{}
	for _, call := range calls.items() {
		call.only("id", "type", "function")
		call.get("type").oneOf("function")
		f := call.need("function")
		f.only("index", "name", "arguments")
		f.get("index").integer(0, unbounded)
		f.need("arguments").object()
		own := ollamaCalled{call.get("id").str(), f.need("name").filled()}
		if own.id != "" && c.ids[own.id] {
			call.fail("ids of tool calls must be unique: %q is used twice", own.id)
		}
		c.ids[own.id] = true
		c.open = append(c.open, own)
	}
}

// checkResult finds the call of a result: by its id, or by its name if either of them has no id.
func (c *ollamaCheck) checkResult(m value) {
	id, name := m.get("tool_call_id").str(), m.need("tool_name").filled()
	at := slices.IndexFunc(c.open, func(open ollamaCalled) bool {
		return open.name == name && (open.id == id || open.id == "" || id == "")
	})
	if at < 0 {
		m.fail("a message of the role tool must follow its call: no call of %q with the id %q waits for a result", name, id)
		return
	}
	c.open = slices.Delete(c.open, at, at+1)
}
