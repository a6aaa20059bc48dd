package recorded

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// cassette is a recorded conversation.
type cassette struct {
	Interactions []interaction `yaml:"interactions"`
}

type interaction struct {
	Request struct {
		URL  string `yaml:"url"`
		Body string `yaml:"body"`
	} `yaml:"request"`
	Response struct {
		Code    int                 `yaml:"code"`
		Headers map[string][]string `yaml:"headers"`
		Body    string              `yaml:"body"`
	} `yaml:"response"`
}

func (i *interaction) contentType() string {
	return strings.Join(i.Response.Headers["Content-Type"], "")
}

func TestOurClientsAgreeWithRecordings(t *testing.T) {
	dir := os.Getenv("TENON_RECORDED")
	if dir == "" {
		t.Skip("the recordings are not part of the repository: TENON_RECORDED=DIR go test ./recorded")
	}
	tally := tally{files: map[string]int{}, interactions: map[string]int{}, allowed: map[string]int{}}
	for _, file := range cassettes(t, dir) {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) { tally.play(t, file) })
	}
	tally.report(t)
}

// cassettes returns the files below dir. Whatever is neither a cassette nor known to be something else is a mistake.
func cassettes(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir():
			return err
		case filepath.Ext(path) == ".yaml":
			files = append(files, path)
		case e.Name() != "README.md" && e.Name() != "LICENSE":
			t.Errorf("%s is no cassette", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("%s has no cassettes", dir)
	}
	return files
}

// tally counts what was checked and which differences were allowed.
type tally struct {
	files, interactions, allowed map[string]int
}

func (c *tally) play(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tape cassette
	if err := yaml.Unmarshal(data, &tape); err != nil {
		t.Fatal(err)
	}
	if len(tape.Interactions) == 0 {
		t.Fatal("the file has no interactions")
	}
	var last *llm.Message // our reading of the answer before
	for n := range tape.Interactions {
		i := &tape.Interactions[n]
		d := dialectOf(t, i.Request.URL)
		if n == 0 {
			c.files[d.name]++
		}
		c.interactions[d.name]++
		t.Run(fmt.Sprint(n), func(t *testing.T) { last = c.check(t, d, i, last) })
	}
}

// check holds one exchange against our client, and returns our reading of the answer.
func (c *tally) check(t *testing.T, d dialect, i *interaction, last *llm.Message) *llm.Message {
	if i.Response.Code != 200 {
		t.Fatalf("the status is %d: errors are not mapped", i.Response.Code)
	}
	m := modelOf(t, d, i)
	req := d.request(t, m, []byte(i.Request.Body))
	want := d.answer(t, i)
	got := ask(t, d, m, i, req)
	compareAnswers(t, want, got)
	c.compareRequests(t, d, i, got, false)

	if last != nil && slices.ContainsFunc(req.Messages, isAnswer) {
		again := *req
		again.Messages = withAnswer(t, req.Messages, *last)
		c.compareRequests(t, d, i, ask(t, d, m, i, &again), true)
	}
	if tool := schemaTool(i.Request.Body); tool != "" {
		renamed := *i
		renamed.Response.Body = strings.ReplaceAll(i.Response.Body, `"name":"`+tool+`"`, `"name":"`+fit.SchemaToolName+`"`)
		compareAnswers(t, want.asText(), ask(t, d, m, &renamed, req))
	}
	for _, other := range d.also {
		other(t, m, i, req, want)
	}
	return &got.message
}

func isAnswer(m llm.Message) bool { return m.Role == llm.RoleAssistant }

// withAnswer returns the conversation with our own reading in place of its last answer, and with the results of its calls.
func withAnswer(t *testing.T, messages []llm.Message, ours llm.Message) []llm.Message {
	t.Helper()
	out := slices.Clone(messages)
	at := len(out) - 1
	for !isAnswer(out[at]) {
		at--
	}
	theirs, calls := out[at].Calls(), ours.Calls()
	if len(theirs) != len(calls) {
		t.Fatalf("we read %d calls, %d went back", len(calls), len(theirs))
	}
	out[at] = ours
	for r := at + 1; r < len(out); r++ {
		for n := range theirs {
			if out[r].Role == llm.RoleTool && messages[r].CallID == theirs[n].ID {
				out[r].CallID = calls[n].ID
			}
		}
	}
	return out
}

// schemaTool returns the name of the tool that stands for a structured answer in a body of Anthropic's protocol.
func schemaTool(body string) string {
	var r struct {
		Choice any `json:"tool_choice"`
	}
	if json.Unmarshal([]byte(body), &r) != nil {
		return ""
	}
	choice, _ := r.Choice.(map[string]any)
	name, _ := choice["name"].(string)
	return name
}

func (c *tally) report(t *testing.T) {
	for _, counts := range []struct {
		of    string
		count map[string]int
	}{{"files", c.files}, {"interactions", c.interactions}} {
		sum := 0
		for name, n := range counts.count {
			sum += n
			t.Logf("%s: %s: %d", counts.of, name, n)
		}
		t.Logf("%s in all: %d", counts.of, sum)
	}
	for _, a := range allowances() {
		if c.allowed[a.name] == 0 {
			t.Errorf("nothing needs the allowance %q any more", a.name)
		}
		t.Logf("allowed %d times: %s: %s", c.allowed[a.name], a.name, a.reason)
	}
}
