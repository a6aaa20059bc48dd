package modelserver

import "slices"

func checkGemini(v value, p Protocol) {
	fields := []string{
		"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "labels",
		"system_instruction", "tool_config", "generation_config",
	}
	if p == Gemini {
		fields = append(fields, "model")
	}
	v.only(fields...)
	checkGeneration(v.get("generationConfig"))
	if s := v.get("systemInstruction"); s.set() {
		s.only("role", "parts")
		for _, part := range s.need("parts").some() {
			part.only("text")
			part.need("text").str()
		}
	}
	names := checkDeclarations(v.get("tools"))
	if c := v.get("toolConfig"); c.only("functionCallingConfig", "retrievalConfig") {
		f := c.get("functionCallingConfig")
		f.only("mode", "allowedFunctionNames")
		mode := f.get("mode").oneOf("AUTO", "ANY", "NONE", "VALIDATED")
		allowed := f.get("allowedFunctionNames")
		if allowed.set() && mode != "ANY" && mode != "VALIDATED" {
			allowed.fail("allowed_function_names should only be set when the mode is ANY or VALIDATED")
		}
		for _, name := range allowed.strings() {
			if !slices.Contains(names, name) {
				allowed.fail("%q is not declared", name)
			}
		}
		if mode == "ANY" && len(names) == 0 {
			f.fail("Function calling config is set without function_declarations.")
		}
	}
	checkContents(v.need("contents"))
}

func checkGeneration(g value) {
	if !g.set() {
		return
	}
	g.only("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "responseMimeType", "responseSchema",
		"responseJsonSchema", "presencePenalty", "frequencyPenalty", "seed", "thinkingConfig", "responseModalities", "mediaResolution",
		"responseLogprobs", "logprobs")
	g.get("temperature").number(0, 2)
	g.get("maxOutputTokens").integer(1, unbounded)
	if t := g.get("thinkingConfig"); t.only("includeThoughts", "thinkingBudget", "thinkingLevel") {
		t.get("includeThoughts").boolean()
		t.get("thinkingBudget").integer(-1, 65536)
		t.get("thinkingLevel").oneOf("minimal", "low", "medium", "high", "MINIMAL", "LOW", "MEDIUM", "HIGH")
		if t.get("thinkingBudget").set() && t.get("thinkingLevel").set() {
			t.fail("You can only set only one of thinking budget and thinking level.")
		}
	}
	schema := g.get("responseSchema")
	if schema.set() && g.get("responseJsonSchema").set() {
		g.fail("only one of response_schema and response_json_schema may be set")
	}
	if (schema.set() || g.get("responseJsonSchema").set()) && g.get("responseMimeType").v != "application/json" {
		g.fail("a response schema needs response_mime_type application/json")
	}
	checkOpenAPI(schema)
	g.get("responseJsonSchema").object()
}

// checkDeclarations checks the tools and returns their names.
func checkDeclarations(tools value) []string {
	var names []string
	for _, tool := range tools.items() {
		tool.only("functionDeclarations", "googleSearch", "codeExecution", "urlContext")
		for _, f := range tool.get("functionDeclarations").items() {
			f.only("name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema", "behavior")
			name := f.need("name").matches(geminiName)
			if slices.Contains(names, name) {
				f.fail("Duplicate function declaration found: %s", name)
			}
			names = append(names, name)
			f.get("description").str()
			if f.get("parameters").set() && f.get("parametersJsonSchema").set() {
				f.fail("only one of parameters and parameters_json_schema may be set")
			}
			f.get("parametersJsonSchema").object()
			checkOpenAPI(f.get("parameters"))
			if p := f.get("parameters"); p.set() && len(members(p.get("properties"))) == 0 && p.get("type").v == "OBJECT" && p.get("properties").set() {
				p.get("properties").fail("should be non-empty for OBJECT type")
			}
		}
	}
	return names
}

// checkOpenAPI allows the part of OpenAPI schemas that Gemini knows.
func checkOpenAPI(s value) {
	if !s.set() {
		return
	}
	s.only("type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems", "properties", "required",
		"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default",
		"minimum", "maximum")
	if kind := s.get("type"); !s.get("anyOf").set() || kind.set() {
		s.need("type").oneOf("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL",
			"string", "number", "integer", "boolean", "array", "object", "null")
	}
	for _, e := range s.get("enum").items() {
		e.str()
	}
	if kind := s.get("type").v; (kind == "ARRAY" || kind == "array") && !s.get("items").set() {
		s.get("items").fail("missing field")
	}
	properties := members(s.get("properties"))
	for _, name := range s.get("required").strings() {
		if _, ok := properties[name]; !ok {
			s.get("required").fail("property %q is not defined", name)
		}
	}
	for _, member := range properties {
		checkOpenAPI(member)
	}
	checkOpenAPI(s.get("items"))
	for _, option := range s.get("anyOf").items() {
		checkOpenAPI(option)
	}
}

// contentsCheck follows calls from a model turn to the next.
type contentsCheck struct {
	calls []string // names of the calls of the model turn before
}

func checkContents(v value) {
	contents := v.some()
	c := &contentsCheck{}
	turn := currentTurn(contents)
	for i, content := range contents {
		content.only("role", "parts")
		role := "user"
		if content.get("role").set() {
			role = content.get("role").oneOf("user", "model")
		}
		if i == 0 && role != "user" {
			content.fail("Please ensure that function call turn comes immediately after a user turn: the first content must be of the role user")
		}
		calls, results := checkParts(content.need("parts"), role)
		if len(results) != len(c.calls) {
			content.fail("Please ensure that the number of function response parts is equal to the number of function call parts of "+
				"the function call turn: %d and %d", len(results), len(c.calls))
		}
		for _, name := range results {
			if len(results) == len(c.calls) && !slices.Contains(c.calls, name) {
				content.fail("the function %q was not called", name)
			}
		}
		c.calls = calls
		if i > turn && len(calls) > 0 && v.p.rules.ThoughtSignatures {
			checkThoughtSignature(content.get("parts"))
		}
	}
	if len(c.calls) > 0 {
		v.fail("Please ensure that function call turn is followed by a function response turn")
	}
}

// currentTurn returns the index of the last content that a person wrote.
func currentTurn(contents []value) int {
	for i, content := range slices.Backward(contents) {
		for _, part := range content.quiet().get("parts").items() {
			if content.get("role").v != "model" && part.get("text").set() {
				return i
			}
		}
	}
	return -1
}

func checkThoughtSignature(parts value) {
	for _, part := range parts.items() {
		if part.get("functionCall").set() {
			if !part.get("thoughtSignature").set() {
				part.fail("Function call is missing a thought_signature in functionCall parts.")
			}
			return
		}
	}
}

// checkParts returns the names of the calls and of the results.
func checkParts(parts value, role string) (calls, results []string) {
	kinds := []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"}
	for _, part := range parts.some() {
		part.only(append(kinds, "thought", "thoughtSignature", "videoMetadata", "mediaResolution")...)
		found := 0
		for _, kind := range kinds {
			if part.get(kind).set() {
				found++
			}
		}
		if found != 1 {
			part.fail("required oneof field data must have exactly one initialized field, not %d", found)
		}
		part.get("text").str()
		part.get("thought").boolean()
		if s := part.get("thoughtSignature"); s.set() && s.v != "skip_thought_signature_validator" { // documented for foreign calls
			if s.base64(); !signatureKnown(Gemini, s.str()) {
				s.fail("Thought signature is not valid.")
			}
		}
		if call := part.get("functionCall"); call.set() {
			calls = append(calls, checkFunctionCall(call, role))
		}
		if result := part.get("functionResponse"); result.set() {
			results = append(results, checkFunctionResponse(result, role))
		}
		if data := part.get("inlineData"); data.set() {
			checkBlob(data)
		}
	}
	return calls, results
}

func checkBlob(data value) {
	data.only("mimeType", "data", "displayName")
	mime := data.need("mimeType").oneOf("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf",
		"text/plain", "audio/wav", "audio/mp3", "video/mp4")
	data.need("data").picture(mime)
}

func checkFunctionCall(call value, role string) string {
	call.only("name", "args", "id")
	call.get("args").object()
	call.get("id").str()
	if role != "model" {
		call.fail("function calls belong into a turn of the role model")
	}
	return call.need("name").filled()
}

func checkFunctionResponse(result value, role string) string {
	result.only("name", "response", "id", "parts", "willContinue", "scheduling")
	result.need("response").object()
	if role != "user" {
		result.fail("function responses belong into a turn of the role user")
	}
	for _, part := range result.get("parts").items() {
		part.only("inlineData")
		checkBlob(part.need("inlineData"))
	}
	return result.need("name").filled()
}
