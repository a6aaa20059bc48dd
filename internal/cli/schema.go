package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// answerSchema is what --schema demands of the answer.
type answerSchema struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

// maxSchema bounds the file of a schema, in bytes. It goes with every request.
const maxSchema = 256 << 10

// readSchema reads the file of --schema; nil when there is none.
func (j *job) readSchema() (*answerSchema, error) {
	name := j.options.schema
	if name == "" {
		return nil, nil
	}
	data, err := readLimited(name, maxSchema)
	if err != nil {
		return nil, usagef(j.command, "read the schema: %v", err)
	}
	var s jsonschema.Schema
	err = json.Unmarshal(data, &s)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text is about types of Go
		where := ""
		if _, field, ok := strings.Cut(wrong.Field, "."); ok || wrong.Field != "" {
			where = " at " + cmp.Or(field, wrong.Field)
		}
		return nil, usagef(j.command, "the schema in %s is no JSON Schema: it has an unexpected %s%s", name, wrong.Value, where)
	}
	if err != nil {
		return nil, usagef(j.command, "the schema in %s is no JSON Schema: %v", name, err)
	}
	if s.Type != "object" {
		return nil, usagef(j.command, "the schema in %s must have \"type\": \"object\" at its root: models answer with an object", name)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, usagef(j.command, "the schema in %s: %v", name, err)
	}
	return &answerSchema{data, resolved}, nil
}

// readLimited reads a file that must be no longer than limit.
func readLimited(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return data, nil
}

// check returns the answer as JSON that satisfies the schema, or says what is wrong with it in words for the model.
func (s *answerSchema) check(answer string) (json.RawMessage, error) {
	text := bareJSON(answer)
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// bareJSON is the JSON of an answer that stands in a fence of Markdown, as models like to write it.
func bareJSON(answer string) string {
	answer = strings.TrimSpace(answer)
	body, fenced := strings.CutPrefix(answer, "```")
	if !fenced {
		return answer
	}
	body, fenced = strings.CutSuffix(body, "```")
	if !fenced {
		return answer
	}
	if first, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(first, "{[") {
		body = rest
	}
	return strings.TrimSpace(body)
}

// errSchema is the error of an answer that does not satisfy the schema, when asking once more has not helped.
var errSchema = errors.New("the answer does not satisfy the schema")

// satisfy checks the answer of a run that is done, and asks for it once more when it is not as the schema wants it.
func (j *job) satisfy(ctx context.Context, t *target, s *answerSchema) error {
	r := j.report
	if s == nil || r.StopReason != session.ReasonDone || r.denied {
		return nil
	}
	data, problem := s.check(r.Answer)
	if problem != nil {
		j.tell("the answer does not satisfy the schema, asking again: " + problem.Error())
		r.again()
		repair := fmt.Sprintf("Your answer does not satisfy the JSON Schema that it must satisfy: %v\n\n"+
			"Answer once more, with the corrected JSON object alone.", problem)
		if err := j.follow(t.agent.Run(ctx, app.Input(repair, ""))); err != nil {
			return err
		}
		if r.StopReason != session.ReasonDone {
			return nil
		}
		if data, problem = s.check(r.Answer); problem != nil {
			return fmt.Errorf("%w: %w", errSchema, problem)
		}
	}
	r.Data, r.Answer = data, string(data)
	return nil
}

// instruct returns the prompt with what the answer must be, for models that would otherwise learn of it only in the end.
func (s *answerSchema) instruct(prompt string) string {
	if s == nil || prompt == "" {
		return prompt
	}
	return prompt + "\n\nYour final answer must be one JSON object that satisfies this JSON Schema, and nothing else:\n" + string(s.raw)
}

// thinkingFlag is a flag for a level of thinking.
func thinkingFlag(to *llm.Thinks) choiceFlag {
	return choiceFlag{(*string)(to), []string{
		string(llm.ThinkOff), string(llm.ThinkMinimal), string(llm.ThinkLow), string(llm.ThinkMedium), string(llm.ThinkHigh),
	}, "LEVEL"}
}
