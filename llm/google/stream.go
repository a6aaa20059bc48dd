package google

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chunk is one event of a stream, or a whole answer.
type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage usage          `json:"usageMetadata"`
	ID    string         `json:"responseId"`
	Error jsontext.Value `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []received `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

// received is a part of an answer.
type received struct {
	Text      string   `json:"text"`
	Thought   bool     `json:"thought"`
	Signature string   `json:"thoughtSignature"`
	Call      *invoked `json:"functionCall"`
}

type invoked struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

// reader puts an answer together from its chunks.
type reader struct {
	resp   *wire.Response
	answer *wire.Answer
	names  names

	schema  bool   // a call of the schema tool is the answer
	calls   int    // calls so far
	finish  string // the reason for which the answer ended, when it has
	message string // the words to that
	left    bool   // the consumer has left
}

// schemaTool makes calls of the tool for structured answers the answer.
func (r *reader) schemaTool() {
	r.schema = true
	r.answer.SchemaTool(fit.SchemaToolName)
}

// read reads the answer to its end and yields it.
func (r *reader) read() error {
	if !r.resp.Streamed {
		data, err := r.resp.All()
		if err == nil {
			err = r.take(data)
		}
		if err != nil {
			return err
		}
		return r.end(nil)
	}
	for e, err := range r.resp.Events() {
		if err == nil {
			err = r.take(e.Data)
		} else if r.finish != "" {
			break // all that matters has come
		}
		if err != nil {
			return err
		}
		if r.left {
			return nil
		}
		if r.finish != "" {
			r.resp.Ending()
		}
	}
	return r.end(r.resp.Cut())
}

// take reads one event or one body: a chunk, or a list of them.
func (r *reader) take(data []byte) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.Equal(data, []byte("[DONE]")) { // some gateways end with it
		return nil
	}
	if data[0] != '[' {
		return r.chunk(data)
	}
	var list []jsontext.Value
	if err := r.resp.Decode(data, &list); err != nil {
		return err
	}
	for _, one := range list {
		if err := r.chunk(one); err != nil || r.left {
			return err
		}
	}
	return nil
}

func (r *reader) chunk(data []byte) error {
	var c chunk
	if err := r.resp.Decode(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.resp.FailedWith(data)
	}
	r.answer.ID(c.ID)
	if c.Usage.some() {
		r.answer.Usage = c.Usage.disjoint()
	}
	if c.Feedback.Reason != "" && c.Feedback.Reason != "BLOCK_REASON_UNSPECIFIED" {
		return r.refused(c.Feedback.Reason, c.Feedback.Message)
	}
	for i := range c.Candidates {
		if candidate := &c.Candidates[i]; candidate.Index == 0 {
			r.candidate(candidate)
			break
		}
	}
	return nil
}

// refused returns the error of a prompt that was blocked before a model saw it.
func (r *reader) refused(reason, message string) error {
	e := r.resp.Failed("content_filter", "the request was blocked ("+reason+")")
	if message != "" {
		e.Message += ": " + message
	}
	return e
}

func (r *reader) candidate(c *candidate) {
	for i := range c.Content.Parts {
		if !r.part(&c.Content.Parts[i]) {
			r.left = true
			return
		}
	}
	if c.Finish != "" && c.Finish != "FINISH_REASON_UNSPECIFIED" {
		r.finish, r.message = c.Finish, c.Message
	}
}

// part reports whether the consumer wants more. A part with a signature is never joined with others: it must go back as it came.
func (r *reader) part(p *received) bool {
	a := r.answer
	if p.Call != nil {
		return r.call(p)
	}
	if p.Signature != "" {
		a.Break()
		defer a.Break()
	}
	if p.Thought {
		more := a.Thinking(p.Text)
		a.Sign(p.Signature)
		return more
	}
	more := a.Text(p.Text)
	if p.Signature != "" {
		a.OpaqueText(keep(kept{Signature: p.Signature}))
	}
	return more
}

// call takes in a call, which always comes whole.
func (r *reader) call(p *received) bool {
	a, key := r.answer, strconv.Itoa(r.calls)
	r.calls++
	name := r.names.tool(p.Call.Name)
	if name == "" {
		return true // it could not run
	}
	_ = p.Call.Args.Compact() // a whole answer is written with line breaks, a streamed one without
	args := string(p.Call.Args)
	if args == "null" {
		args = ""
	}
	if !a.Call(key, p.Call.ID, name) || !a.Arguments(key, args) {
		return false
	}
	if !r.schema || name != fit.SchemaToolName {
		a.OpaqueCall(key, keep(kept{Signature: p.Signature, ID: p.Call.ID}))
	}
	return a.EndCall(key)
}

// end ends the answer. Without a reason for its end it was cut off.
func (r *reader) end(cut error) error {
	stop, known := stops(r.finish)
	switch {
	case r.left:
		return nil
	case r.finish == "" && cut != nil:
		return cut
	case r.finish == "":
		return r.resp.Protocol("the answer has no reason for its end: it is not whole")
	case r.finish == "MISSING_THOUGHT_SIGNATURE":
		return r.resp.Failed("INVALID_ARGUMENT", r.why("the model misses the signature of a call"))
	case !known:
		return r.resp.Protocol(r.why("the model broke its answer off"))
	}
	r.answer.Stop = stop
	r.resp.Complete()
	r.answer.Finish()
	return nil
}

// why adds the server's reason to a description.
func (r *reader) why(what string) string {
	what += " (" + r.finish + ")"
	if r.message != "" {
		what += ": " + r.message
	}
	return what
}

// stops returns the meaning of a reason for the end of an answer. An unknown reason means that the answer is not whole, such as
// MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL and OTHER: another try may go better.
func stops(reason string) (llm.StopReason, bool) {
	switch reason {
	case "STOP":
		return llm.StopEnd, true
	case "MAX_TOKENS":
		return llm.StopLength, true
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.StopRefused, true
	default:
		return "", false
	}
}
