package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

type answerSchema struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

// maxSchema is the largest size of a schema file, in bytes. Every request contains the schema.
const maxSchema = 256 << 10

// readSchema reads the file of --schema. Without the flag it returns nil.
func (j *job) readSchema() (*answerSchema, error) {
	name := j.options.schema
	if name == "" {
		return nil, nil
	}
	data, err := command.ReadLimited(name, maxSchema)
	if err != nil {
		return nil, command.Usagef(j.command, "cannot read the schema: %v", err)
	}
	var s jsonschema.Schema
	err = json.Unmarshal(data, &s)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text names Go types
		where := ""
		if _, field, ok := strings.Cut(wrong.Field, "."); ok || wrong.Field != "" {
			where = " at " + cmp.Or(field, wrong.Field)
		}
		return nil, command.Usagef(j.command, "the schema in %s is not a JSON Schema: it has an unexpected %s%s", name, wrong.Value, where)
	}
	if err != nil {
		return nil, command.Usagef(j.command, "the schema in %s is not a JSON Schema: %v", name, err)
	}
	if s.Type != "object" {
		return nil, command.Usagef(j.command, "the schema in %s must have \"type\": \"object\" at its root: models answer with an object", name)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, command.Usagef(j.command, "cannot resolve the schema in %s: %v", name, err)
	}
	return &answerSchema{data, resolved}, nil
}

// check returns the answer as JSON that satisfies the schema. Otherwise the error describes the mistake for the model.
func (s *answerSchema) check(answer string) (json.RawMessage, error) {
	text := bareJSON(answer)
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// bareJSON returns the JSON of an answer without the Markdown fence that models often add.
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

// errSchema reports that the second answer does not satisfy the schema either.
var errSchema = command.Codef("cli.schema", "the answer does not satisfy the schema")

// satisfy checks the answer of a run that is done. If the answer does not satisfy the schema, it asks for another answer once.
func (j *job) satisfy(ctx context.Context, s *answerSchema) error {
	r := j.report
	if s == nil || r.StopReason != session.ReasonDone || r.denied {
		return nil
	}
	data, problem := s.check(r.Answer)
	if problem != nil {
		j.note("the answer does not satisfy the schema, asking again: " + problem.Error())
		r.again()
		repair := fmt.Sprintf("Your answer does not satisfy the JSON Schema: %v\n\n"+
			"Answer again with only the corrected JSON object.", problem)
		if err := j.run(ctx, llm.UserText(repair)); err != nil {
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

// instruct returns the prompt with the schema of the answer, because some models otherwise see the schema only with the final answer.
func (s *answerSchema) instruct(prompt string) string {
	if s == nil || prompt == "" {
		return prompt
	}
	return prompt + "\n\nYour final answer must be one JSON object that satisfies this JSON Schema, and nothing else:\n" + string(s.raw)
}

func thinkingFlag(to *llm.Thinks) pflag.Value {
	return command.Choice((*string)(to), thinkingLevels(), "LEVEL")
}

// thinkingLevels returns the values of --thinking.
func thinkingLevels() []string {
	var levels []string
	for _, l := range append(llm.Levels(), llm.ThinkProvider) {
		levels = append(levels, string(l))
	}
	return levels
}
