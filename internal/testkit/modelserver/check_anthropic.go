package modelserver

import (
	"slices"
	"strings"
)

// anthropicCheck is the state of a check of a Messages request.
type anthropicCheck struct {
	calls    *pairs
	tools    []string
	thinking string // type of thinking that is asked for
	marks    int    // cache_control
	usesTool bool
}

func checkAnthropic(v value, p Protocol) {
	fields := []string{
		"messages", "max_tokens", "system", "temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "tools",
		"tool_choice", "thinking", "service_tier", "output_config", "output_format", "context_management", "container", "mcp_servers",
	}
	if p == AnthropicVertex {
		v.only(append(fields, "anthropic_version", "anthropic_beta")...)
		v.need("anthropic_version").oneOf("vertex-2023-10-16")
	} else {
		v.only(append(fields, "model")...)
		v.need("model").filled()
	}
	c := &anthropicCheck{calls: newPairs()}
	v.get("stream").boolean()
	limit := v.need("max_tokens").integer(1, unbounded)
	c.checkThinking(v, limit)
	c.checkSampling(v)
	c.checkSystem(v.get("system"))
	c.checkTools(v)
	c.checkMessages(v.need("messages"))
	if c.usesTool && len(c.tools) == 0 {
		v.get("tools").fail("Requests which include tool_use or tool_result blocks must define tools")
	}
	if c.marks > 4 {
		v.fail("A maximum of 4 blocks with cache_control may be provided. Found %d.", c.marks)
	}
	checkAnthropicOutput(v)
	if m := v.get("metadata"); m.only("user_id") {
		m.get("user_id").str()
	}
}

func (c *anthropicCheck) checkThinking(v value, limit int64) {
	t := v.get("thinking")
	if !t.set() {
		return
	}
	c.thinking = t.need("type").oneOf("enabled", "disabled", "adaptive")
	budget := t.get("budget_tokens")
	switch c.thinking {
	case "enabled":
		t.only("type", "budget_tokens", "display")
		if v.p.rules.AdaptiveThinking {
			t.fail("thinking.type.enabled is not supported for this model. Use thinking.type.adaptive and output_config.effort")
		}
		t.need("budget_tokens")
		if n := budget.integer(1024, unbounded); budget.set() && n >= limit {
			v.get("max_tokens").fail("max_tokens must be greater than thinking.budget_tokens")
		}
	case "adaptive":
		t.only("type", "display", "block_binding")
		if b := t.get("block_binding"); b.only("prefix_mismatch_behavior") {
			b.need("prefix_mismatch_behavior").oneOf("drop_block")
		}
	default:
		t.only("type")
	}
}

// thinks reports whether the model is asked to think.
func (c *anthropicCheck) thinks() bool { return c.thinking == "enabled" || c.thinking == "adaptive" }

func (c *anthropicCheck) checkSampling(v value) {
	temperature := v.get("temperature")
	n := temperature.number(0, 1)
	if temperature.set() && (v.p.rules.NoTemperature || c.thinks() && n != 1) {
		temperature.fail("temperature may only be set to 1 when thinking is enabled, or is not supported by this model")
	}
	if top := v.get("top_p"); top.set() {
		if n := top.number(0, 1); c.thinks() && n < 0.95 {
			top.fail("top_p must be greater than or equal to 0.95 when thinking is enabled")
		}
	}
	if top := v.get("top_k"); top.set() {
		top.integer(0, unbounded)
		if c.thinks() {
			top.fail("top_k must be unset when thinking is enabled")
		}
	}
	for _, s := range v.get("stop_sequences").items() {
		s.filled()
	}
}

func (c *anthropicCheck) checkSystem(v value) {
	if !v.set() || v.isString() {
		if v.isString() {
			v.filled()
		}
		return
	}
	for _, block := range v.items() {
		block.need("type").oneOf("text")
		c.checkText(block)
	}
}

func (c *anthropicCheck) checkTools(v value) {
	for _, tool := range v.get("tools").items() {
		tool.only("type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming",
			"input_examples", "defer_loading", "allowed_callers")
		tool.get("type").oneOf("custom")
		name := tool.need("name").matches(name128)
		if slices.Contains(c.tools, name) {
			v.get("tools").fail("Tool names must be unique: %q", name)
		}
		c.tools = append(c.tools, name)
		tool.get("description").str()
		tool.need("input_schema").object()
		tool.get("input_schema").need("type").oneOf("object")
		if tool.get("strict").boolean() {
			checkStrictSchema(tool.get("input_schema"), false)
		}
		c.mark(tool)
	}
	choice := v.get("tool_choice")
	if !choice.set() {
		return
	}
	kind := choice.need("type").oneOf("auto", "any", "tool", "none")
	choice.only("type", "name", "disable_parallel_tool_use")
	if len(c.tools) == 0 {
		choice.fail("tool_choice may only be specified while providing tools")
	}
	if kind == "tool" && !slices.Contains(c.tools, choice.need("name").str()) {
		choice.fail("Tool %q not found in provided tools", choice.get("name").str())
	}
	if c.thinks() && (kind == "any" || kind == "tool") {
		choice.fail("Thinking may not be enabled when tool_choice forces tool use.")
	}
}

func checkAnthropicOutput(v value) {
	format := v.get("output_format")
	if out := v.get("output_config"); out.only("effort", "format") {
		out.get("effort").oneOf("low", "medium", "high", "xhigh", "max")
		if out.get("format").set() {
			format = out.get("format")
		}
	}
	if format.only("type", "schema") {
		format.need("type").oneOf("json_schema")
		format.need("schema").object()
		checkStrictSchema(format.get("schema"), false)
	}
}

func (c *anthropicCheck) checkMessages(v value) {
	messages := v.some()
	for i, m := range messages {
		m.only("role", "content")
		role := m.need("role").oneOf("user", "assistant")
		if i == 0 && role != "user" {
			v.fail("first message must use the user role")
		}
		content := m.need("content")
		last := i == len(messages)-1
		results := 0
		if content.isString() {
			content.filled()
		} else {
			results = c.checkBlocks(content, role, last)
		}
		if len(c.calls.open) > 0 && role == "user" {
			m.fail("tool_use ids were found without tool_result blocks immediately after: %s. Each tool_use block must have a "+
				"corresponding tool_result block in the next message", strings.Join(c.calls.open, ", "))
		}
		if role == "assistant" {
			c.checkAssistantEnd(m, content, last)
		}
		c.calls.seenUser(role == "user")
		if last && results > 0 && i > 0 {
			c.checkLoop(messages[:i])
		}
	}
	if len(c.calls.open) > 0 {
		v.fail("tool_use ids were found without tool_result blocks immediately after: %s", strings.Join(c.calls.open, ", "))
	}
}

// checkLoop demands the reasoning that the turn began with whose results are sent now. Models that do not think between calls have
// none in the later answers of a turn.
func (c *anthropicCheck) checkLoop(before []value) {
	at := len(before) - 1
	for at >= 2 && firstBlock(before[at-1]) == "tool_result" {
		at -= 2
	}
	answer, first := before[at], firstBlock(before[at])
	if c.thinking == "enabled" && first != "thinking" && first != "redacted_thinking" {
		answer.get("content").fail("Expected thinking or redacted_thinking, but found %s. When thinking is enabled, a final assistant "+
			"message must start with a thinking block (preceding the lastmost set of tool_use and tool_result blocks)", first)
	}
}

// firstBlock returns the type of the first block of a message.
func firstBlock(m value) string {
	kind := ""
	if blocks := m.get("content"); blocks.isList() && len(blocks.items()) > 0 {
		kind, _ = blocks.items()[0].get("type").v.(string)
	}
	return kind
}

// checkAssistantEnd checks what an assistant's message may end with.
func (c *anthropicCheck) checkAssistantEnd(m, content value, last bool) {
	if last && m.p.rules.NoPrefill {
		m.fail("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	if last && c.thinks() {
		m.fail("the final message must not be the assistant's when thinking is enabled")
	}
	text := content
	if content.isList() {
		blocks := content.items()
		if len(blocks) == 0 {
			return
		}
		end := blocks[len(blocks)-1]
		if kind := end.get("type").v; kind == "thinking" || kind == "redacted_thinking" {
			end.fail("The final block in an assistant message cannot be thinking.")
		}
		text = end.get("text")
	}
	if s, ok := text.v.(string); ok && last && strings.TrimRight(s, " \t\r\n") != s {
		text.fail("final assistant content cannot end with trailing whitespace")
	}
}

// seenUser forgets open calls after it reported them.
func (p *pairs) seenUser(user bool) {
	if user {
		p.open = nil
	}
}

// checkBlocks checks the blocks of one message and returns how many results are among them.
func (c *anthropicCheck) checkBlocks(content value, role string, last bool) (results int) {
	blocks := content.items()
	if len(blocks) == 0 && (role == "user" || !last) {
		content.fail("messages must have non-empty content except for the optional final assistant message")
	}
	others, thoughts, first := false, 0, ""
	for i, b := range blocks {
		kind := b.need("type").str()
		if i == 0 {
			first = kind
		}
		switch {
		case kind == "text":
			c.checkText(b)
		case role == "user" && (kind == "image" || kind == "document"):
			c.checkMedia(b, kind)
		case role == "user" && kind == "tool_result":
			results++
			if others {
				b.fail("tool_result blocks must stand at the start of the message")
			}
			c.checkResult(b)
		case role == "assistant" && kind == "tool_use":
			c.checkCall(b)
		case role == "assistant" && (kind == "thinking" || kind == "redacted_thinking"):
			thoughts++
			checkThought(b, kind)
		default:
			b.fail("Input tag %q is not expected in a message of the role %s", kind, role)
		}
		others = others || kind != "tool_result"
	}
	if thoughts > 0 && first != "thinking" && first != "redacted_thinking" {
		content.fail("If an assistant message contains any thinking blocks, the first block must be thinking or redacted_thinking. Found %s", first)
	}
	return results
}

func (c *anthropicCheck) checkText(b value) {
	b.only("type", "text", "cache_control", "citations")
	b.need("text").filled()
	c.mark(b)
}

func (c *anthropicCheck) checkCall(b value) {
	c.usesTool = true
	b.only("type", "id", "name", "input", "cache_control", "caller")
	id := b.need("id").matches(anthropicID)
	b.need("name").matches(name128)
	b.need("input").object()
	c.calls.call(b, id)
	c.mark(b)
}

func (c *anthropicCheck) checkResult(b value) {
	c.usesTool = true
	b.only("type", "tool_use_id", "content", "is_error", "cache_control")
	id := b.need("tool_use_id").matches(anthropicID)
	if !c.calls.result(id) {
		b.fail("unexpected tool_use_id found in tool_result blocks: %s. Each tool_result block must have a corresponding tool_use "+
			"block in the previous message", id)
	}
	failed := b.get("is_error").boolean()
	c.mark(b)
	content := b.get("content")
	if content.isString() {
		return
	}
	for _, part := range content.items() {
		kind := part.need("type").oneOf("text", "image", "document")
		if failed && kind != "text" {
			part.fail("all content must be type text if is_error is true")
		}
		if kind == "text" {
			c.checkText(part)
		} else {
			c.checkMedia(part, kind)
		}
	}
}

func checkThought(b value, kind string) {
	if kind == "redacted_thinking" {
		b.only("type", "data")
		b.need("data").filled()
		return
	}
	if b.get("cache_control").set() {
		b.fail("cache_control cannot be set for thinking blocks")
	}
	b.only("type", "thinking", "signature", "cache_control")
	text := b.need("thinking").str()
	signature := b.need("signature")
	if signature.filled(); signature.set() && !signatureFits(Anthropic, signature.str(), text) {
		signature.fail("Invalid signature in thinking block")
	}
}

// maxImage is how many bytes the base64 of an image may have.
const maxImage = 5 << 20

func (c *anthropicCheck) checkMedia(b value, kind string) {
	c.mark(b)
	source := b.need("source")
	from := source.need("type").oneOf("base64", "url", "file", "text")
	if kind == "image" {
		b.only("type", "source", "cache_control")
	} else {
		b.only("type", "source", "cache_control", "title", "context", "citations")
	}
	switch {
	case from == "url":
		source.need("url").filled()
	case from == "file":
		source.need("file_id").filled()
	case from == "text" && kind == "document":
		source.need("media_type").oneOf("text/plain")
		source.need("data").filled()
	case kind == "document":
		source.need("media_type").oneOf("application/pdf")
		source.need("data").base64()
	default:
		mime := source.need("media_type").oneOf("image/jpeg", "image/png", "image/gif", "image/webp")
		data := source.need("data")
		data.picture(mime)
		if len(data.str()) > maxImage {
			data.fail("image exceeds 5 MB maximum: %d bytes > %d bytes", len(data.str()), maxImage)
		}
	}
}

// mark checks and counts the cache mark of a block.
func (c *anthropicCheck) mark(b value) {
	mark := b.get("cache_control")
	if !mark.set() {
		return
	}
	c.marks++
	mark.only("type", "ttl")
	mark.need("type").oneOf("ephemeral")
	mark.get("ttl").oneOf("5m", "1h")
}
