package openai

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// respEvent has the fields of all events that matter.
type respEvent struct {
	Type         string         `json:"type"`
	Delta        string         `json:"delta"`
	ItemID       string         `json:"item_id"`
	OutputIndex  int            `json:"output_index"` // -1: there is none
	ContentIndex int            `json:"content_index"`
	SummaryIndex int            `json:"summary_index"`
	Text         string         `json:"text"`
	Refusal      string         `json:"refusal"`
	Arguments    jsontext.Value `json:"arguments"`
	Input        string         `json:"input"`
	Item         jsontext.Value `json:"item"`
	Response     jsontext.Value `json:"response"`
	Error        jsontext.Value `json:"error"`
}

// respBody is a whole answer, which also ends a stream.
type respBody struct {
	ID         string           `json:"id"`
	Object     string           `json:"object"`
	Status     string           `json:"status"`
	Model      string           `json:"model"`
	Output     []jsontext.Value `json:"output"`
	Error      jsontext.Value   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage respUsage `json:"usage"`
}

// respUsage counts reasoning within the output, and cached tokens within the input.
type respUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Cost float64 `json:"cost"` // of gateways, in US dollars
}

func (u *respUsage) disjoint() llm.Usage {
	d := llm.Usage{
		CacheRead: max(u.InputDetails.Cached, 0), CacheWrite: max(u.InputDetails.Written, 0),
		Reasoning: max(u.OutputDetails.Reasoning, 0), Cost: max(u.Cost, 0),
	}
	d.Input = max(u.Input-d.CacheRead-d.CacheWrite, 0)
	d.Output = max(u.Output-d.Reasoning, 0)
	return d
}

// respDecoder makes an answer of a response.
type respDecoder struct {
	resp    *wire.Response
	answer  *wire.Answer
	modelOf func(id string) string // reference of the answering model

	items   []*respItem
	current *respItem // the item that receives text or reasoning
	refused bool
	over    bool // the final event was read
}

// stream reads the events of a streamed answer. The error is an [*llm.Error].
func (d *respDecoder) stream() error {
	for e, err := range d.resp.Events() {
		if err != nil {
			return err
		}
		if string(e.Data) == "[DONE]" { // gateways end every stream so
			break
		}
		if err := d.event(e); err != nil || d.answer.Left() || d.over {
			return err
		}
	}
	return d.resp.Cut()
}

// event reads one event and ignores unknown ones.
func (d *respDecoder) event(raw wire.Event) error {
	e := respEvent{OutputIndex: -1}
	if err := wire.Unmarshal(raw.Data, &e); err != nil {
		return d.odd(raw)
	}
	switch kind := cmp.Or(e.Type, string(raw.Name)); kind {
	case "response.output_text.delta", "response.refusal.delta":
		d.refused = d.refused || kind == "response.refusal.delta"
		return d.text(&e, e.Delta)
	case "response.output_text.done", "response.refusal.done":
		return d.textDone(&e)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta":
		return d.reasoning(&e, e.Delta)
	case "response.reasoning_summary_text.done", "response.reasoning_text.done":
		return d.reasoningDone(&e)
	case "response.function_call_arguments.delta":
		return d.arguments(&e, false)
	case "response.function_call_arguments.done":
		return d.arguments(&e, true)
	case "response.custom_tool_call_input.delta":
		return d.input(&e, false)
	case "response.custom_tool_call_input.done":
		return d.input(&e, true)
	case "response.output_item.added", "response.output_item.done":
		return d.item(&e, kind == "response.output_item.done")
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return d.end(&e, strings.TrimPrefix(kind, "response."))
	case "error":
		return d.resp.FailedWith(raw.Data)
	case "":
		if isSet(e.Error) {
			return d.resp.FailedWith(raw.Data)
		}
	}
	return nil
}

// isSet reports whether a value is present.
func isSet(v jsontext.Value) bool { return len(v) > 0 && string(v) != "null" }

// odd handles an event with fields of unexpected types. Only an event of an unknown type may have such fields.
func (d *respDecoder) odd(raw wire.Event) error {
	var e struct {
		Type  string         `json:"type"`
		Error jsontext.Value `json:"error"`
	}
	if err := d.resp.Decode(raw.Data, &e); err != nil {
		return err
	}
	kind := cmp.Or(e.Type, string(raw.Name))
	if kind == "error" || kind == "" && isSet(e.Error) {
		return d.resp.FailedWith(raw.Data)
	}
	for _, known := range []string{"output_text.d", "refusal.", "reasoning_", "function_call_", "custom_tool_call_", "output_item."} {
		if strings.HasPrefix(kind, "response."+known) {
			return d.resp.Decode(raw.Data, &respEvent{})
		}
	}
	return nil
}

// end handles the final event. If the status within it is worse than its type, the status counts.
func (d *respDecoder) end(e *respEvent, status string) error {
	var body respBody
	if len(e.Response) > 0 {
		if err := d.resp.Decode(e.Response, &body); err != nil {
			return err
		}
	}
	if status == "completed" && (body.Status == "incomplete" || body.Status == "failed") {
		status = body.Status
	}
	return d.finish(&body, status)
}

// whole reads an answer that is not streamed. The error is an [*llm.Error].
func (d *respDecoder) whole() error {
	data, err := d.resp.All()
	if err != nil {
		return err
	}
	var body respBody
	if err := d.resp.Decode(data, &body); err != nil {
		return err
	}
	switch {
	case isSet(body.Error) && body.Status == "":
		return d.resp.FailedWith(data)
	case body.Status == "" && body.Output == nil && body.Object != "response":
		return d.resp.Protocol("the server sent JSON that is no answer of the Responses protocol: " +
			"does the base URL belong to another one?")
	}
	return d.finish(&body, cmp.Or(body.Status, "completed"))
}

// finish ends the answer with the facts of its whole form.
func (d *respDecoder) finish(body *respBody, status string) error {
	d.answer.ID(body.ID)
	d.answer.Usage = body.Usage.disjoint()
	switch status {
	case "completed":
		d.answer.Stop = llm.StopEnd
	case "incomplete":
		d.answer.Stop = llm.StopLength
		if body.Incomplete.Reason == "content_filter" {
			d.answer.Stop = llm.StopRefused
		}
	case "failed":
		return d.failed(body)
	default:
		return d.resp.Protocol("the answer ended with the status " + status)
	}
	if err := d.complete(body.Output); err != nil {
		return err
	}
	if d.refused && d.answer.Stop == llm.StopEnd {
		d.answer.Stop = llm.StopRefused
	}
	if body.Model != "" {
		d.answer.Model = d.modelOf(body.Model)
	}
	d.over = true
	d.resp.Complete()
	d.answer.Finish()
	return nil
}

func (d *respDecoder) failed(body *respBody) error {
	if bytes.HasPrefix(body.Error, []byte("{")) {
		return d.resp.FailedWith(body.Error)
	}
	return d.resp.Failed("", respString(body.Error))
}
