package modelserver

import "github.com/tenon-agent/tenon/llm"

func readGemini(r *Request, v value) {
	r.MaxTokens = int(v.get("generationConfig").get("maxOutputTokens").integer(0, unbounded))
	r.System = texts(v.get("systemInstruction").get("parts"))
	for _, t := range v.get("tools").items() {
		for _, f := range t.get("functionDeclarations").items() {
			tool := readFunction(f)
			if tool.Schema == nil {
				tool.Schema = f.get("parametersJsonSchema").raw()
			}
			r.Tools = append(r.Tools, tool)
		}
	}
	for _, c := range v.get("contents").items() {
		own := llm.Message{Role: llm.RoleUser}
		if c.get("role").str() == "model" {
			own.Role = llm.RoleAssistant
		}
		for _, p := range c.get("parts").items() {
			if result := p.get("functionResponse"); result.set() {
				r.add(geminiResult(result))
			} else if part := geminiPart(p); part != nil {
				own.Content = append(own.Content, part)
			}
		}
		r.add(own)
	}
}

// geminiResult reads a result. Its text is the one member of the response, or all of it as JSON.
func geminiResult(v value) llm.Message {
	response := v.get("response")
	m := llm.Message{Role: llm.RoleTool, CallID: v.get("id").str(), Tool: v.get("name").str(), IsError: response.get("error").set()}
	text := string(response.raw())
	if all := members(response); len(all) == 1 {
		for _, only := range all {
			if s, ok := only.v.(string); ok {
				text = s
			}
		}
	}
	m.Content = llm.Content{llm.Text{Text: text}}
	for _, p := range v.get("parts").items() {
		if part := geminiPart(p); part != nil {
			m.Content = append(m.Content, part)
		}
	}
	return m
}

func geminiPart(p value) llm.Part {
	signature := p.get("thoughtSignature").str()
	if f := p.get("functionCall"); f.set() {
		return llm.ToolCall{
			ID: f.get("id").str(), Name: f.get("name").str(), Arguments: string(f.get("args").raw()), Opaque: p.get("thoughtSignature").raw(),
		}
	}
	if d := p.get("inlineData"); d.set() {
		mime := d.get("mimeType").str()
		if mime == "application/pdf" {
			return llm.Document{MIME: mime, Name: d.get("displayName").str(), Data: d.get("data").base64()}
		}
		return llm.Image{MIME: mime, Data: d.get("data").base64()}
	}
	switch s, ok := p.get("text").v.(string); {
	case !ok:
		return nil
	case p.get("thought").boolean():
		return llm.Thinking{Text: s, Signature: signature}
	default:
		return llm.Text{Text: s, Opaque: p.get("thoughtSignature").raw()}
	}
}
