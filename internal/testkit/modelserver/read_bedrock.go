package modelserver

import "github.com/tenon-agent/tenon/llm"

func readBedrock(r *Request, v value) {
	r.MaxTokens = int(v.get("inferenceConfig").get("maxTokens").integer(0, unbounded))
	r.System = texts(v.get("system"))
	for _, t := range v.get("toolConfig").get("tools").items() {
		if spec := t.get("toolSpec"); spec.set() {
			r.Tools = append(r.Tools, llm.Tool{
				Name: spec.get("name").str(), Description: spec.get("description").str(), Schema: spec.get("inputSchema").get("json").raw(),
			})
		}
	}
	names := map[string]string{}
	for _, m := range v.get("messages").items() {
		own := llm.Message{Role: llm.Role(m.get("role").str())}
		for _, b := range m.get("content").items() {
			if result := b.get("toolResult"); result.set() {
				id := result.get("toolUseId").str()
				r.add(llm.Message{
					Role: llm.RoleTool, CallID: id, Tool: names[id], IsError: result.get("status").str() == "error",
					Content: bedrockParts(result.get("content")),
				})
			} else if p := bedrockPart(b); p != nil {
				own.Content = append(own.Content, p)
			}
		}
		for _, c := range own.Calls() {
			names[c.ID] = c.Name
		}
		r.add(own)
	}
}

func bedrockParts(v value) llm.Content {
	var out llm.Content
	for _, b := range v.items() {
		if p := bedrockPart(b); p != nil {
			out = append(out, p)
		}
	}
	return out
}

func bedrockPart(b value) llm.Part {
	if s, ok := b.get("text").v.(string); ok {
		return llm.Text{Text: s}
	}
	if use := b.get("toolUse"); use.set() {
		return llm.ToolCall{ID: use.get("toolUseId").str(), Name: use.get("name").str(), Arguments: string(use.get("input").raw())}
	}
	if r := b.get("reasoningContent"); r.set() {
		if text := r.get("reasoningText"); text.set() {
			return llm.Thinking{Text: text.get("text").str(), Signature: text.get("signature").str()}
		}
		return llm.Thinking{Opaque: r.get("redactedContent").raw()}
	}
	if i := b.get("image"); i.set() {
		return llm.Image{MIME: "image/" + i.get("format").str(), Data: i.get("source").get("bytes").base64()}
	}
	if d := b.get("document"); d.set() {
		return llm.Document{MIME: "application/" + d.get("format").str(), Name: d.get("name").str(), Data: d.get("source").get("bytes").base64()}
	}
	if j := b.get("json"); j.set() {
		return llm.Text{Text: string(j.raw())}
	}
	return nil
}
