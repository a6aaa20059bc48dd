package anthropic

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// answer is the form of an answer that is not streamed, and of the beginning of a stream.
type answer struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Model   string    `json:"model"`
	Content []content `json:"content"`
	Stop    string    `json:"stop_reason"`
	Usage   usage     `json:"usage"`
}

// whole reads an answer that is not streamed, and returns its error.
func (d *decoder) whole() error {
	data, err := d.resp.All()
	if err != nil {
		return err
	}
	var kind struct {
		Type  string         `json:"type"`
		Error jsontext.Value `json:"error"`
	}
	if err := d.resp.Decode(data, &kind); err != nil {
		return err
	}
	if kind.Type == "error" || kind.Type == "" && len(kind.Error) > 0 {
		return d.resp.FailedWith(data)
	}
	var a answer
	if err := d.resp.Decode(data, &a); err != nil {
		return err
	}
	if a.Type != "message" && a.Content == nil {
		return d.resp.Protocol("the server sent JSON that is no answer of the Messages API: is the base URL right?")
	}
	d.resp.Complete()
	d.head(&a)
	for i := range a.Content {
		if !d.begin(i, &a.Content[i]) || !d.end(i) {
			return nil
		}
	}
	d.answer.Stop = stopReason(a.Stop)
	d.finish()
	return nil
}

// arguments returns the arguments of a call as the model wrote them: nothing for an object without members.
func arguments(input jsontext.Value) string {
	s := strings.TrimSpace(string(input))
	if s == "null" || s == "{}" {
		return ""
	}
	return s
}
