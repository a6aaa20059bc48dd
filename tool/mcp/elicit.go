package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
)

// Elicitation is what a server asks the person: the values of some fields, or to visit an address.
type Elicitation struct {
	Server  string
	Message string
	URL     string // to visit; then there are no fields
	Fields  []Field
}

// Field is one value that a server asks for.
type Field struct {
	Name, Text string
	Options    []string // the possible values; none: any text
	Multiple   bool     // several of the options
	Default    string
	Required   bool

	kind     string
	values   []any // of the options
	fallback any   // the value of Default
}

// Elicited is the answer of the person. The texts of a field are in the order of the fields. A field with an empty list gets its default, and
// is left out if it has none.
type Elicited struct {
	Accept bool
	Values [][]string
}

// maxFields is the most fields of one question.
const maxFields = 16

// maxAnswers is how often the person may answer until the answer fits.
const maxAnswers = 5

// elicits adds the questions of a server to the options of its connection.
func (s *server) elicits(o *mcp.ClientOptions) {
	if s.client.options.Elicit == nil {
		return // such a server gets an error, and may do without
	}
	o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		e := Elicitation{Server: s.Name, Message: clean(r.Params.Message, maxDescription)}
		if r.Params.URL != "" {
			to, err := url.Parse(r.Params.URL)
			if err != nil || to.Scheme != "https" && to.Scheme != "http" {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			e.URL = term.OneLine(to.String())
		} else if e.Fields = fieldsOf(r.Params.RequestedSchema); len(e.Fields) > maxFields {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		s.asking.Add(1)
		defer s.asking.Add(-1)
		message := e.Message
		for range maxAnswers {
			got, err := s.client.options.Elicit(ctx, e)
			switch {
			case err != nil:
				s.log.add("no answer to a question: %v", err)
				return &mcp.ElicitResult{Action: "cancel"}, nil
			case !got.Accept:
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			content, err := contentOf(e.Fields, got.Values)
			if err == nil {
				return &mcp.ElicitResult{Action: "accept", Content: content}, nil
			}
			e.Message = fmt.Sprintf("%s (%v)", message, err) // ask again
		}
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
}

// property is a property of the schema of a question.
type property struct {
	Type, Title, Description string
	Enum                     []any
	EnumNames                []string
	Default                  any
	OneOf, AnyOf             []choice
	Items                    *property
}

type choice struct {
	Const any
	Title string
}

// fieldsOf returns the fields that a flat schema asks for, the required ones first.
func fieldsOf(schema any) (fields []Field) {
	data, err := json.Marshal(schema)
	if err != nil {
		return nil
	}
	var s struct {
		Properties map[string]property
		Required   []string
	}
	if json.Unmarshal(data, &s) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		f := Field{Name: name, kind: p.Type, Required: slices.Contains(s.Required, name), Text: cmp.Or(p.Description, p.Title, name)}
		if p.Title != "" && p.Description != "" {
			f.Text = p.Title + ": " + p.Description
		}
		f.Text = clean(f.Text, maxDescription)
		if p.Type == "array" && p.Items != nil {
			f.Multiple = true
			p.Enum, p.OneOf, p.AnyOf = p.Items.Enum, p.Items.OneOf, p.Items.AnyOf
		}
		for i, v := range p.Enum {
			label := fmt.Sprint(v)
			if i < len(p.EnumNames) {
				label = p.EnumNames[i]
			}
			f.Options, f.values = append(f.Options, clean(label, longestName)), append(f.values, v)
		}
		for _, c := range slices.Concat(p.OneOf, p.AnyOf) {
			label := c.Title
			if label == "" {
				label = fmt.Sprint(c.Const)
			}
			f.Options, f.values = append(f.Options, clean(label, longestName)), append(f.values, c.Const)
		}
		if p.Type == "boolean" {
			f.Options, f.values = []string{"Yes", "No"}, []any{true, false}
		}
		if f.fallback = p.Default; p.Default != nil {
			f.Default = f.label(p.Default)
		}
		fields = append(fields, f)
	}
	slices.SortStableFunc(fields, func(a, b Field) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	return fields
}

// label returns the text of a value: that of its option, if it has one.
func (f Field) label(value any) string {
	if all, several := value.([]any); several {
		var labels []string
		for _, v := range all {
			labels = append(labels, f.label(v))
		}
		return strings.Join(labels, ", ")
	}
	if i := slices.IndexFunc(f.values, func(v any) bool { return reflect.DeepEqual(v, value) }); i >= 0 {
		return f.Options[i]
	}
	return clean(fmt.Sprint(value), maxDescription)
}

// contentOf returns the values of the fields with their types.
func contentOf(fields []Field, texts [][]string) (map[string]any, error) {
	content := map[string]any{}
	for i, f := range fields {
		if i >= len(texts) || len(texts[i]) == 0 || texts[i][0] == "" || slices.Equal(texts[i], []string{f.Default}) {
			if f.fallback != nil {
				content[f.Name] = f.fallback
			} else if f.Required {
				return nil, fmt.Errorf("%s needs a value", clean(f.Name, longestName))
			}
			continue
		}
		var values []any
		for _, text := range texts[i] {
			v, err := f.value(text)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		if content[f.Name] = values[0]; f.Multiple {
			content[f.Name] = values
		}
	}
	return content, nil
}

func (f Field) value(text string) (any, error) {
	if i := slices.Index(f.Options, text); i >= 0 {
		return f.values[i], nil
	}
	var v any = text
	var err error
	switch f.kind {
	case "integer":
		v, err = strconv.ParseInt(text, 10, 64)
	case "number":
		v, err = strconv.ParseFloat(text, 64)
	case "boolean":
		v, err = strconv.ParseBool(text)
	default:
		if len(f.Options) > 0 {
			err = errors.New("not an option")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%q does not fit %s", clean(text, longestName), clean(f.Name, longestName))
	}
	return v, nil
}
