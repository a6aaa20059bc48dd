package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool"
)

type change struct {
	Path  string   `json:"path" jsonschema:"file to change" min:"1"`
	Lines []int    `json:"lines,omitempty"`
	Tags  []string `json:"tags,omitempty" max:"3"`
}

type arguments struct {
	Path    string            `json:"path" jsonschema:"where" min:"1"`
	Mode    string            `json:"mode,omitempty" enum:"fast,slow"`
	Limit   int               `json:"limit,omitempty" min:"1" max:"600"`
	Ratio   *float64          `json:"ratio,omitempty"`
	All     bool              `json:"replace_all,omitempty"`
	Names   []string          `json:"names,omitempty"`
	Changes []change          `json:"changes,omitempty"`
	First   *change           `json:"first,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Since   time.Time         `json:"since,omitzero"`
	Any     any               `json:"any,omitempty"`
}

func probe(t testing.TB) tool.Tool {
	t.Helper()
	return tool.New("probe", "Probes.", nil, func(context.Context, arguments, tool.Report) (tool.Result, error) {
		return tool.TextResult("ok"), nil
	})
}

func TestSchema(t *testing.T) {
	got := string(probe(t).Spec().Schema)
	want := `{"type":"object","properties":{"path":{"type":"string","description":"where","minLength":1},` +
		`"mode":{"type":"string","enum":["fast","slow"]},"limit":{"type":"integer","minimum":1,"maximum":600},` +
		`"ratio":{"type":"number"},"replace_all":{"type":"boolean"},"names":{"type":"array","items":{"type":"string"}},` +
		`"changes":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string","description":"file to change","minLength":1},` +
		`"lines":{"type":"array","items":{"type":"integer"}},"tags":{"type":"array","items":{"type":"string"},"maxItems":3}},` +
		`"required":["path"],"additionalProperties":false}},` +
		`"first":{"type":"object","properties":{"path":{"type":"string","description":"file to change","minLength":1},` +
		`"lines":{"type":"array","items":{"type":"integer"}},"tags":{"type":"array","items":{"type":"string"},"maxItems":3}},` +
		`"required":["path"],"additionalProperties":false},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},"since":{"type":"string"},"any":true},` +
		`"required":["path"],"additionalProperties":false}`
	if got != want {
		t.Errorf("schema\n got %s\nwant %s", got, want)
	}
	for range 20 {
		if again := string(probe(t).Spec().Schema); again != got {
			t.Fatalf("the bytes of the schema differ between two tools of one type: %s", again)
		}
	}
}

func TestArgumentsThatAreAccepted(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"as they should be", `{"path":"a","limit":3}`, `{"path":"a","limit":3}`},
		{"members in the order of the schema", `{"limit":3,"path":"a"}`, `{"path":"a","limit":3}`},
		{"no escapes that only browsers need", `{"path":"<a>&\u00e9"}`, `{"path":"<a>&é"}`},
		{"white space around", " \n{\"path\":\"a\"}\n\n", `{"path":"a"}`},
		{"a byte order mark", "\ufeff{\"path\":\"a\"}", `{"path":"a"}`},
		{"a code fence", "```json\n{\"path\":\"a\"}\n```\n", `{"path":"a"}`},
		{"a code fence in one line", "```{\"path\":\"a\"}```", `{"path":"a"}`},
		{"a string that holds the object", `"{\"path\":\"a\"}"`, `{"path":"a"}`},
		{"a list that holds the object", `[{"path":"a"}]`, `{"path":"a"}`},
		{"null for what may be left out", `{"path":"a","limit":null,"first":null,"names":null}`, `{"path":"a"}`},
		{"an integral float", `{"path":"a","limit":3.0}`, `{"path":"a","limit":3}`},
		{"an exponent", `{"path":"a","limit":3e1}`, `{"path":"a","limit":30}`},
		{"an integer as string", `{"path":"a","limit":" 3 "}`, `{"path":"a","limit":3}`},
		{"a number as string", `{"path":"a","ratio":"-0.5"}`, `{"path":"a","ratio":-0.5}`},
		{"a boolean as string", `{"path":"a","replace_all":"true"}`, `{"path":"a","replace_all":true}`},
		{"a single value for a list", `{"path":"a","names":"x"}`, `{"path":"a","names":["x"]}`},
		{"a single object for a list", `{"path":"a","changes":{"path":"b"}}`, `{"path":"a","changes":[{"path":"b"}]}`},
		{"a list as string", `{"path":"a","names":"[\"x\",\"y\"]"}`, `{"path":"a","names":["x","y"]}`},
		{"a string that only looks like a list", `{"path":"a","names":"[x"}`, `{"path":"a","names":["[x"]}`},
		{"a list within a list", `{"path":"a","names":[["x","y"]]}`, `{"path":"a","names":["x","y"]}`},
		{"a list of one for the one", `{"path":["a"]}`, `{"path":"a"}`},
		{"an object as string", `{"path":"a","first":"{\"path\":\"b\",\"lines\":\"[1]\"}"}`, `{"path":"a","first":{"path":"b","lines":[1]}}`},
		{"a list of objects as string", `{"path":"a","changes":"[{\"path\":\"b\"}]"}`, `{"path":"a","changes":[{"path":"b"}]}`},
		{"an object as string for a list", `{"path":"a","changes":"{\"path\":\"b\"}"}`, `{"path":"a","changes":[{"path":"b"}]}`},
		{"objects as strings within a list", `{"path":"a","changes":["{\"path\":\"b\"}"]}`, `{"path":"a","changes":[{"path":"b"}]}`},
		{"JSON where text is wanted stays text", `{"path":"[1]"}`, `{"path":"[1]"}`},
		{"another case of one of a few", `{"path":"a","mode":"FAST"}`, `{"path":"a","mode":"fast"}`},
		{"a map, sorted", `{"path":"a","env":{"B":"2","A":"1"}}`, `{"path":"a","env":{"A":"1","B":"2"}}`},
		{"whatever where anything goes", `{"path":"a","any":{"z":[1,null,"x"],"a":1.50}}`, `{"path":"a","any":{"a":1.50,"z":[1,null,"x"]}}`},
		{"a time", `{"path":"a","since":"2024-01-02T03:04:05Z"}`, `{"path":"a","since":"2024-01-02T03:04:05Z"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			call, err := probe(t).Prepare(t.Context(), test.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(call.Arguments); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestArgumentsThatAreRefused(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", ``, []string{"path: missing, must be a string"}},
		{"null", `null`, []string{"path: missing, must be a string"}},
		{"null for what must be", `{"path":null}`, []string{"path: missing, must be a string"}},
		{"empty", `{"path":""}`, []string{"path: must not be empty"}},
		{"wrong type", `{"path":5}`, []string{"path: must be a string, not the number 5"}},
		{"no object", `7`, []string{"must be an object, not the number 7"}},
		{"a list of two", `[{"path":"a"},{"path":"b"}]`, []string{"must be an object, not a list of 2 entries"}},
		{"unknown field", `{"file_path":"a"}`, []string{"path: missing, must be a string", `unknown field "file_path"; did you mean "path"?`}},
		{"unknown field in another style", `{"path":"a","replaceAll":true}`, []string{`unknown field "replaceAll"; did you mean "replace_all"?`}},
		{"misspelt field", `{"path":"a","limt":3}`, []string{`unknown field "limt"; did you mean "limit"?`}},
		{"field like no other", `{"path":"a","zzzzzz":3}`, []string{
			`unknown field "zzzzzz"; the fields are "path", "mode", "limit", "ratio", "replace_all", "names", "changes", "first", "env", "since", "any"`,
		}},
		{"one of a few", `{"path":"a","mode":"fats"}`, []string{`mode: must be one of "fast", "slow", not the string "fats"; did you mean "fast"?`}},
		{"too small", `{"path":"a","limit":0}`, []string{"limit: must be at least 1, not 0"}},
		{"too great", `{"path":"a","limit":601}`, []string{"limit: must be at most 600, not 601"}},
		{"too great for any number", `{"path":"a","ratio":1e999}`, []string{"ratio: 1e999 is too large"}},
		{"not integral", `{"path":"a","limit":1.5}`, []string{"limit: must be an integer, not 1.5"}},
		{"text for a number", `{"path":"a","limit":"many"}`, []string{`limit: must be an integer, not the string "many"`}},
		{"too many", `{"path":"a","first":{"path":"b","tags":["1","2","3","4"]}}`, []string{"first.tags: must have at most 3 entries, not 4"}},
		{"null in a list", `{"path":"a","names":["x",null]}`, []string{"names[1]: must be a string, not null"}},
		{"deep", `{"path":"a","changes":[{"path":"b"},{"lines":[1,"x"],"pth":"c"}]}`, []string{
			"changes[1].path: missing, must be a string",
			`changes[1].lines[1]: must be an integer, not the string "x"`,
			`changes[1]: unknown field "pth"; did you mean "path"?`,
		}},
		{"a strange name in a map", `{"path":"a","env":{"a b":1}}`, []string{`env["a b"]: must be a string, not the number 1`}},
		{"weaker schema than type", `{"path":"a","since":"yesterday"}`, []string{"yesterday"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := probe(t).Prepare(t.Context(), test.in)
			wrong, ok := errors.AsType[*tool.ArgumentsError](err)
			if !ok {
				t.Fatalf("error %v, want an *ArgumentsError", err)
			}
			if wrong.Malformed || wrong.Tool != "probe" || len(wrong.Problems) != len(test.want) {
				t.Fatalf("%+v, want the problems %q", wrong, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(wrong.Problems[i], want) {
					t.Errorf("problem %d is %q, want %q", i, wrong.Problems[i], want)
				}
				if !strings.Contains(err.Error(), wrong.Problems[i]) {
					t.Errorf("the error %q does not tell %q", err, wrong.Problems[i])
				}
			}
		})
	}
}

func TestMalformedArguments(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"cut", `{"path":"a","conte`, "the text ends within the JSON, after 18 bytes"},
		{"cut after a member", `{"path":"a",`, "the text ends within the JSON"},
		{"garbage", "{\"path\":\n  oops}", "line 2, column 3"},
		{"two objects", `{"path":"a"} {"path":"b"}`, "text after the end of the value"},
		{"one brace too many", `{"path":"a"}}`, "line 1, column"},
		{"prose", `I will read the file.`, "send one JSON object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := probe(t).Prepare(t.Context(), test.in)
			wrong, ok := errors.AsType[*tool.ArgumentsError](err)
			if !ok || !wrong.Malformed || len(wrong.Problems) != 1 {
				t.Fatalf("error %#v, want a malformed *ArgumentsError", err)
			}
			if !strings.Contains(wrong.Problems[0], test.want) {
				t.Errorf("%q does not tell %q", wrong.Problems[0], test.want)
			}
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, err := probe(t).Prepare(t.Context(), `{"path":"a","names":[`+strings.Repeat("1,", 100_000)+`1]}`)
	if err == nil || len(err.Error()) > 2000 {
		t.Errorf("100 000 problems make an error of %d bytes", len(err.Error()))
	}
	_, err = probe(t).Prepare(t.Context(), strings.Repeat("[", 1_000_000))
	if wrong, ok := errors.AsType[*tool.ArgumentsError](err); !ok || !wrong.Malformed {
		t.Errorf("a million brackets: %v", err)
	}
}

func TestRunGetsWhatPrepareDecoded(t *testing.T) {
	var got arguments
	look := tool.New("look", "Looks.",
		func(_ context.Context, args arguments) (tool.Effects, error) {
			if args.Path == "outside" {
				return tool.Effects{}, errors.New("outside is outside")
			}
			return tool.Effects{Reads: []tool.Path{tool.File("/" + args.Path)}}, nil
		},
		func(_ context.Context, args arguments, report tool.Report) (tool.Result, error) {
			report("going on") // a caller that passes no report must not make a tool panic
			got = args
			return tool.TextResult("done"), nil
		})
	call, err := look.Prepare(t.Context(), `{"path":"a","limit":"7"}`)
	if err != nil {
		t.Fatal(err)
	}
	if len(call.Effects.Reads) != 1 || call.Effects.Reads[0].Name != "/a" {
		t.Errorf("effects %+v", call.Effects)
	}
	result, err := call.Run(t.Context(), nil)
	if err != nil || result.Content.Text() != "done" || got.Limit != 7 {
		t.Errorf("result %+v, error %v, arguments %+v", result, err, got)
	}
	if _, err := look.Prepare(t.Context(), `{"path":"outside"}`); err == nil || err.Error() != "outside is outside" {
		t.Errorf("the refusal of effects became %v", err)
	}
}

func TestMistakesOfProgrammersPanic(t *testing.T) {
	tests := []struct {
		name, want string
		make       func()
	}{
		{"name", "is not 1 to 64 of", func() { tool.New("a b", "d", nil, nothing[arguments]) }},
		{"no name", "is not 1 to 64 of", func() { tool.New("", "d", nil, nothing[arguments]) }},
		{"long name", "is not 1 to 64 of", func() { tool.New(strings.Repeat("a", 65), "d", nil, nothing[arguments]) }},
		{"description", "has no description", func() { tool.New("a", " \n", nil, nothing[arguments]) }},
		{"function", "no function", func() { tool.New[arguments]("a", "d", nil, nil) }},
		{"no struct", "not a struct", func() { tool.New("a", "d", nil, nothing[[]string]) }},
		{"type without JSON", "the arguments of a", func() { tool.New("a", "d", nil, nothing[struct{ C chan int }]) }},
		{"limit that is no number", `min:"x" is not a number`, func() {
			tool.New("a", "d", nil, nothing[struct {
				N int `json:"n" min:"x"`
			}])
		}},
		{"limit of a boolean", "min and max are for", func() {
			tool.New("a", "d", nil, nothing[struct {
				B bool `json:"b" max:"1"`
			}])
		}},
		{"enum of numbers", "enum is for strings", func() {
			tool.New("a", "d", nil, nothing[struct {
				N int `json:"n" enum:"1,2"`
			}])
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, test.want) {
					t.Errorf("panic %q does not tell %q", text, test.want)
				}
			}()
			test.make()
			t.Error("no panic")
		})
	}
}

func nothing[A any](context.Context, A, tool.Report) (tool.Result, error) {
	return tool.Result{}, nil
}

// Whatever comes in, Prepare does not panic, and what it accepts it accepts again in the same form.
func FuzzPrepare(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"path":"a"}`, `"{\"path\":\"a\"}"`, "```json\n{\"path\":\"a\"}\n```", `{"path":"a","limit":3.0,"ratio":"1e5"}`,
		`{"path":"a","changes":"[{\"path\":\"b\",\"lines\":\"[1]\"}]","env":{"\u0000":"x"}}`, `[[{"path":["a"]}]]`, `{"path":"\ud800"}`,
		`{"path":"a","any":{"b":[1e999,-0]},"names":[[["x"]]]}`, "{\"path\":\"\xff\"}", `{"path":"a","limit":-0.0}`, `{"path":"a","first":[["{\"path\":\"b\"}"]]}`,
	} {
		f.Add(seed)
	}
	one := probe(f)
	f.Fuzz(func(t *testing.T, text string) {
		call, err := one.Prepare(t.Context(), text)
		if err != nil {
			if wrong, ok := errors.AsType[*tool.ArgumentsError](err); !ok || len(wrong.Problems) == 0 {
				t.Fatalf("error %#v", err)
			}
			return
		}
		again, err := one.Prepare(t.Context(), string(call.Arguments))
		if err != nil {
			t.Fatalf("%s was accepted as %s, which is refused: %v", text, call.Arguments, err)
		}
		if string(again.Arguments) != string(call.Arguments) {
			t.Fatalf("%s became %s and then %s", text, call.Arguments, again.Arguments)
		}
	})
}

func BenchmarkPrepare(b *testing.B) {
	one := probe(b)
	for b.Loop() {
		if _, err := one.Prepare(b.Context(), `{"path":"a/b/c.go","limit":"20","names":"x","changes":[{"path":"b","lines":[1,2,3]}]}`); err != nil {
			b.Fatal(err)
		}
	}
}

// A tool that does not declare its effects has unknown ones, and the call says so.
func TestUndeclaredEffects(t *testing.T) {
	zero := func(context.Context, struct{}) (tool.Effects, error) { return tool.Effects{Idempotent: true}, nil }
	for name, undeclared := range map[string]tool.Tool{
		"nil": tool.New("a", "d", nil, nothing[struct{}]), "empty": tool.New("a", "d", zero, nothing[struct{}]),
	} {
		call, err := undeclared.Prepare(t.Context(), "{}")
		if err != nil || !call.Effects.Unknown || !call.Effects.Exclusive || call.Effects.Declared() || call.Effects.ReadOnly() {
			t.Errorf("%s: %+v, %v", name, call, err)
		}
	}
	call, err := tool.New("a", "d", tool.Nothing, nothing[struct{}]).Prepare(t.Context(), "{}")
	if err != nil || !call.Effects.Declared() || !call.Effects.ReadOnly() {
		t.Errorf("nothing: %+v, %v", call, err)
	}
}
