package modelserver

import (
	"slices"
	"strings"
)

// bedrockCheck follows the calls of a conversation and the cache points.
type bedrockCheck struct {
	calls    *pairs
	usesTool bool
	points   int
}

func checkBedrock(v value) {
	v.only("messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields", "additionalModelResponseFieldPaths",
		"guardrailConfig", "performanceConfig", "promptVariables", "requestMetadata", "serviceTier", "outputConfig")
	if i := v.get("inferenceConfig"); i.only("maxTokens", "temperature", "topP", "stopSequences") {
		i.get("maxTokens").integer(1, unbounded)
		i.get("temperature").number(0, 1)
		if i.get("temperature").set() && v.p.rules.NoTemperature {
			i.get("temperature").fail("temperature is not supported by this model")
		}
		i.get("topP").number(0, 1)
		i.get("stopSequences").strings()
	}
	checkBedrockThinking(v)
	c := &bedrockCheck{calls: newPairs()}
	for _, block := range v.get("system").items() {
		if !c.point(block) {
			block.only("text", "guardContent")
			block.need("text").filled()
		}
	}
	c.checkTools(v.get("toolConfig"))
	c.checkMessages(v.need("messages"))
	if c.usesTool && !v.get("toolConfig").set() {
		v.fail("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
	}
	if c.points > 4 {
		v.fail("at most 4 cache points are allowed, not %d", c.points)
	}
}

// checkBedrockThinking checks what Claude wants of the fields that are handed on to it.
func checkBedrockThinking(v value) {
	more := v.get("additionalModelRequestFields")
	more.object()
	if !more.isObject() {
		return
	}
	t := more.get("thinking")
	if !t.set() || t.get("type").v != "enabled" {
		return
	}
	budget, limit := t.need("budget_tokens"), v.get("inferenceConfig").get("maxTokens")
	if n := budget.integer(1024, unbounded); limit.set() && limit.integer(1, unbounded) <= n {
		limit.fail("max_tokens must be greater than thinking.budget_tokens")
	}
	if temperature := v.get("inferenceConfig").get("temperature"); temperature.set() && temperature.number(0, 1) != 1 {
		temperature.fail("temperature may only be set to 1 when thinking is enabled")
	}
	if choice := v.get("toolConfig").get("toolChoice"); choice.get("any").set() || choice.get("tool").set() {
		choice.fail("Thinking may not be enabled when tool_choice forces tool use.")
	}
}

// point reports whether a block is a cache point, and checks it.
func (c *bedrockCheck) point(block value) bool {
	p := block.get("cachePoint")
	if !p.set() {
		return false
	}
	c.points++
	block.only("cachePoint")
	p.only("type", "ttl")
	p.need("type").oneOf("default")
	p.get("ttl").oneOf("5m", "1h")
	return true
}

func (c *bedrockCheck) checkTools(config value) {
	if !config.set() {
		return
	}
	config.only("tools", "toolChoice")
	var names []string
	for _, tool := range config.need("tools").some() {
		if c.point(tool) {
			continue
		}
		tool.only("toolSpec")
		spec := tool.need("toolSpec")
		spec.only("name", "description", "inputSchema", "strict")
		name := spec.need("name").matches(name64)
		if slices.Contains(names, name) {
			tool.fail("The tool name %s is already defined", name)
		}
		names = append(names, name)
		if d := spec.get("description"); d.set() {
			d.matches(notEmpty)
		}
		schema := spec.need("inputSchema")
		schema.only("json")
		schema.need("json").object()
		schema.get("json").need("type").oneOf("object")
	}
	choice := config.get("toolChoice")
	if !choice.set() {
		return
	}
	choice.only("auto", "any", "tool")
	if len(members(choice)) != 1 {
		choice.fail("exactly one of auto, any and tool must be set")
	}
	if t := choice.get("tool"); t.set() && !slices.Contains(names, t.need("name").str()) {
		t.fail("the tool %q is not defined", t.get("name").str())
	}
}

func (c *bedrockCheck) checkMessages(v value) {
	want := "user"
	messages := v.some()
	for i, m := range messages {
		m.only("role", "content")
		role := m.need("role").oneOf("user", "assistant")
		switch {
		case i == 0 && role != "user":
			m.fail("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
		case role != want:
			m.fail("A conversation must alternate between user and assistant roles.")
		}
		want = map[string]string{"user": "assistant", "assistant": "user"}[role]
		waiting := len(c.calls.open)
		results := c.checkBlocks(m.need("content"), role)
		if role == "user" {
			if results > waiting {
				m.fail("The number of toolResult blocks at %s.content exceeds the number of toolUse blocks of previous turn.", m.path)
			}
			if len(c.calls.open) > 0 {
				m.fail("Expected toolResult blocks at %s.content for the following Ids: %s", m.path, strings.Join(c.calls.open, ", "))
			}
			c.calls.open = nil
		}
		if i == len(messages)-1 && role == "assistant" && v.p.rules.NoPrefill {
			m.fail("This model does not support assistant message prefill. The conversation must end with a user message.")
		}
	}
	if len(c.calls.open) > 0 {
		v.fail("Expected toolResult blocks for the following Ids: %s", strings.Join(c.calls.open, ", "))
	}
}

func (c *bedrockCheck) checkBlocks(content value, role string) (results int) {
	documents, texts := false, false
	defer func() {
		if documents && !texts {
			content.fail("a message with a document must have a text block as well")
		}
	}()
	for i, b := range content.some() {
		documents = documents || b.get("document").set()
		texts = texts || b.get("text").set()
		if c.point(b) {
			if i == 0 {
				b.fail("a cache point must follow the content that it caches")
			}
			continue
		}
		b.only("text", "image", "document", "video", "toolUse", "toolResult", "reasoningContent", "guardContent", "citationsContent")
		if n := len(members(b)); n != 1 {
			b.fail("a content block must have exactly one member, not %d", n)
		}
		b.get("text").filled()
		c.checkMedia(b)
		if use := b.get("toolUse"); use.set() {
			c.checkUse(use, role)
		}
		if result := b.get("toolResult"); result.set() {
			results++
			c.checkResult(result, role)
		}
		if r := b.get("reasoningContent"); r.set() {
			checkBedrockThought(r, role)
		}
	}
	return results
}

func (c *bedrockCheck) checkUse(use value, role string) {
	c.usesTool = true
	use.only("toolUseId", "name", "input", "type")
	id := use.need("toolUseId").matches(bedrockID)
	use.need("name").matches(name64)
	use.need("input").object()
	if role != "assistant" {
		use.fail("toolUse blocks belong into messages of the assistant")
	}
	c.calls.call(use, id)
}

func (c *bedrockCheck) checkResult(result value, role string) {
	c.usesTool = true
	result.only("toolUseId", "content", "status", "type")
	id := result.need("toolUseId").matches(bedrockID)
	result.get("status").oneOf("success", "error")
	if role != "user" {
		result.fail("toolResult blocks belong into messages of the user")
	}
	if !c.calls.result(id) {
		result.fail("unexpected toolUseId %q: it has no toolUse block in the previous turn", id)
	}
	for _, part := range result.need("content").items() {
		part.only("text", "json", "image", "document", "video", "searchResult")
		if n := len(members(part)); n != 1 {
			part.fail("a content block must have exactly one member, not %d", n)
		}
		part.get("text").filled()
		c.checkMedia(part)
	}
}

func (c *bedrockCheck) checkMedia(b value) {
	if image := b.get("image"); image.set() {
		image.only("format", "source")
		format := image.need("format").oneOf("png", "jpeg", "gif", "webp")
		source := image.need("source")
		source.only("bytes", "s3Location")
		if !source.get("s3Location").set() {
			source.need("bytes").picture("image/" + format)
		}
	}
	if document := b.get("document"); document.set() {
		document.only("format", "name", "source", "context", "citations")
		document.need("format").oneOf("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")
		document.need("name").matches(documentName)
		document.need("source").need("bytes").base64()
	}
}

func checkBedrockThought(r value, role string) {
	r.only("reasoningText", "redactedContent")
	if role != "assistant" {
		r.fail("reasoningContent blocks belong into messages of the assistant")
	}
	if r.get("redactedContent").set() {
		r.get("redactedContent").base64()
		return
	}
	text := r.need("reasoningText")
	text.only("text", "signature")
	s := text.need("text").str()
	signature := text.need("signature")
	if signature.filled(); signature.set() && !signatureFits(Bedrock, signature.str(), s) {
		signature.fail("Invalid signature in thinking block")
	}
}
