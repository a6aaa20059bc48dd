package modelserver

import (
	"fmt"
	"net/http"

	"github.com/tenon-agent/tenon/llm"
)

func readOllama(r *Request, v value) {
	r.Model = v.get("model").str()
	r.Stream = !v.get("stream").set() || v.get("stream").boolean()
	options := v.get("options")
	r.MaxTokens = int(max(0, options.get("num_predict").integer(0, unbounded)))
	r.NumCtx = int(options.get("num_ctx").integer(0, unbounded))
	if think := v.get("think"); think.set() {
		r.Think = fmt.Sprint(think.v)
	}
	r.truncates = !v.get("truncate").set() || v.get("truncate").boolean()
	for _, t := range v.get("tools").items() {
		r.Tools = append(r.Tools, readFunction(t.get("function")))
	}
	for _, m := range v.get("messages").items() {
		own := llm.Message{Role: llm.Role(m.get("role").str())}
		if s := m.get("thinking").str(); s != "" {
			own.Content = append(own.Content, llm.Thinking{Text: s})
		}
		if s := m.get("content").str(); s != "" {
			own.Content = append(own.Content, llm.Text{Text: s})
		}
		for _, image := range m.get("images").items() {
			data := image.base64()
			own.Content = append(own.Content, llm.Image{MIME: http.DetectContentType(data), Data: data})
		}
		for _, c := range m.get("tool_calls").items() {
			f := c.get("function")
			own.Content = append(own.Content, llm.ToolCall{
				ID: c.get("id").str(), Name: f.get("name").str(), Arguments: string(f.get("arguments").raw()),
			})
		}
		switch own.Role {
		case "system":
			r.System += own.Text()
			continue
		case llm.RoleTool:
			own.CallID, own.Tool = m.get("tool_call_id").str(), m.get("tool_name").str()
		}
		r.add(own)
	}
}
