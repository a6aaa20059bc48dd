package offline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// bench runs the calls of the model in a directory, as the loop and the tools do, without their limits.
type bench struct {
	dir     string
	without []string // tools that are not offered
	deny    []string // tools whose calls are denied
	read    map[string]bool
	turns   int
	trace   []string // "tool arguments", in order
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), read: map[string]bool{}}
	for name, text := range files {
		full := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) tools() []llm.Tool {
	var tools []llm.Tool
	for _, t := range [][]string{
		{"edit", "path", "old_text", "new_text", "replace_all"},
		{"glob", "pattern", "path"},
		{"grep", "pattern", "path", "include", "literal", "ignore_case", "context"},
		{"list", "path", "depth"},
		{"read", "path", "offset", "limit"},
		{"shell", "command", "timeout"},
		{"write", "path", "content"},
	} {
		if slices.Contains(b.without, t[0]) {
			continue
		}
		props := map[string]any{}
		for _, name := range t[1:] {
			props[name] = map[string]any{}
		}
		schema, _ := json.Marshal(map[string]any{"type": "object", "properties": props})
		tools = append(tools, llm.Tool{Name: t[0], Schema: schema})
	}
	return tools
}

// say sends a message and works until the model is done; it returns the last answer.
func (b *bench) say(t *testing.T, text string) string {
	t.Helper()
	_, last := b.converse(t, nil, text)
	return last
}

func (b *bench) converse(t *testing.T, messages []llm.Message, text string) ([]llm.Message, string) {
	t.Helper()
	messages = append(messages, llm.UserText(text))
	for b.turns = 1; b.turns <= 60; b.turns++ {
		m, err := llm.Collect(t.Context(), New(), &llm.Request{Messages: messages, Tools: b.tools()})
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
		calls := m.Calls()
		if len(calls) == 0 {
			return messages, m.Text()
		}
		for _, c := range calls {
			b.trace = append(b.trace, c.Name+" "+c.Arguments)
			out, err := b.do(c)
			if err != nil {
				out = err.Error()
			}
			messages = append(messages, llm.ToolText(c, out, err != nil))
		}
	}
	t.Fatalf("no end after %d turns; the last calls: %q", b.turns, b.trace[max(0, len(b.trace)-3):])
	return nil, ""
}

func (b *bench) do(c llm.ToolCall) (string, error) {
	if slices.Contains(b.deny, c.Name) {
		return "", fmt.Errorf("This call was denied: %s needs --yes.", c.Name)
	}
	var a struct {
		Path, Pattern, Include, Content, Command string
		Old                                      string `json:"old_text"`
		New                                      string `json:"new_text"`
		All                                      bool   `json:"replace_all"`
		Literal                                  bool
		Offset, Limit, Depth                     int
	}
	if err := json.Unmarshal([]byte(c.Arguments), &a); err != nil {
		return "", err
	}
	full := filepath.Join(b.dir, filepath.FromSlash(a.Path))
	switch c.Name {
	case "read":
		return b.readFile(full, a.Offset, a.Limit)
	case "write":
		if _, err := os.Stat(full); err == nil && !b.read[full] {
			return "", fmt.Errorf("%s exists and was not read", a.Path)
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return "", err
		}
		return "written", os.WriteFile(full, []byte(a.Content), 0o644)
	case "edit":
		data, err := os.ReadFile(full)
		switch n := strings.Count(string(data), a.Old); {
		case err != nil:
			return "", err
		case !b.read[full]:
			return "", fmt.Errorf("%s was not read", a.Path)
		case n == 0 || n > 1 && !a.All:
			return "", fmt.Errorf("old_text occurs %d times", n)
		}
		return "edited", os.WriteFile(full, []byte(strings.ReplaceAll(string(data), a.Old, a.New)), 0o644)
	case "list":
		entries, err := os.ReadDir(full)
		var out strings.Builder
		for _, e := range entries {
			fmt.Fprintln(&out, e.Name()+map[bool]string{true: "/"}[e.IsDir()])
		}
		return out.String(), err
	case "glob":
		return strings.Join(b.glob(full, a.Pattern), "\n"), nil
	case "grep":
		return b.grep(full, a.Pattern, a.Include, a.Literal)
	case "shell":
		cmd := exec.Command("sh", "-c", a.Command)
		cmd.Dir = b.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s[%v]", out, err)
		}
		return string(out), err
	}
	return "", fmt.Errorf("no tool %s", c.Name)
}

func (b *bench) readFile(full string, offset, limit int) (string, error) {
	data, err := os.ReadFile(full)
	if err != nil {
		return "", err
	}
	b.read[full] = true
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(data) == 0 {
		lines = nil
	}
	total, first := len(lines), max(offset, 1)
	lines = lines[min(first-1, total):]
	if limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	var out strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&out, "%6d\t%s\n", first+i, line)
	}
	if total == 0 {
		return "[the file is empty]", nil
	}
	end, more := first+len(lines)-1, ""
	if end < total {
		more = fmt.Sprintf("; go on with offset %d", end+1)
	}
	fmt.Fprintf(&out, "[lines %d-%d of %d%s]", first, end, total, more)
	return out.String(), nil
}

// walk returns the files below full, relative to the directory of the bench.
func (b *bench) walk(full string) (names []string) {
	_ = filepath.WalkDir(full, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(b.dir, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names
}

func (b *bench) glob(full, pattern string) (found []string) {
	for _, name := range b.walk(full) {
		rel, _ := filepath.Rel(full, filepath.Join(b.dir, name))
		for _, p := range braces(pattern) {
			subject := filepath.ToSlash(rel)
			if rest, ok := strings.CutPrefix(p, "**/"); ok {
				p, subject = rest, path.Base(name)
			}
			if ok, _ := path.Match(p, subject); ok {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

func braces(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{pattern}
	}
	var all []string
	for one := range strings.SplitSeq(inner, ",") {
		all = append(all, before+one+after)
	}
	return all
}

func (b *bench) grep(full, pattern, include string, literal bool) (string, error) {
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	expr, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	for _, name := range b.walk(full) {
		if include != "" && !slices.ContainsFunc(braces(include), func(p string) bool { ok, _ := path.Match(p, path.Base(name)); return ok }) {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(b.dir, name))
		for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
			if expr.MatchString(line) {
				fmt.Fprintf(&out, "%s:%d:%s\n", name, i+1, line)
			}
		}
	}
	return out.String(), nil
}
