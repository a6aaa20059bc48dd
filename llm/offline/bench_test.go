package offline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	filetools "github.com/tenon-agent/tenon/tool/files"
	searchtools "github.com/tenon-agent/tenon/tool/search"
	shelltool "github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// bench runs the calls of the model in a directory with the real tools, as the loop does, without its limits.
type bench struct {
	dir     string
	tool    map[string]tool.Tool
	without []string // tools that are not offered
	deny    []string // tools whose calls are denied
	turns   int
	trace   []string // "tool arguments", in order
}

func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), tool: map[string]tool.Tool{}}
	for name, text := range files {
		full := filepath.Join(b.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(b.dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, one := range slices.Concat(filetools.New(ws), searchtools.New(ws), shelltool.New(ws, shelltool.Options{})) {
		b.tool[one.Spec().Name] = one
	}
	return b
}

func (b *bench) tools() []llm.Tool {
	var specs []llm.Tool
	for name, one := range b.tool {
		if !slices.Contains(b.without, name) {
			specs = append(specs, one.Spec())
		}
	}
	slices.SortFunc(specs, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	return specs
}

// say sends a message and works until the model is done; it returns the last answer.
func (b *bench) say(t testing.TB, text string) string {
	t.Helper()
	_, last := b.converse(t, nil, text)
	return last
}

func (b *bench) converse(t testing.TB, messages []llm.Message, text string) ([]llm.Message, string) {
	t.Helper()
	return b.work(t, append(messages, llm.UserText(text)))
}

// answer gives a message and works until the model is done; it returns the last answer.
func (b *bench) answer(t testing.TB, m llm.Message) string {
	t.Helper()
	_, last := b.work(t, []llm.Message{m})
	return last
}

func (b *bench) work(t testing.TB, messages []llm.Message) ([]llm.Message, string) {
	t.Helper()
	for b.turns = 1; b.turns <= 60; b.turns++ {
		m, err := llm.Collect(t.Context(), New(), &llm.Request{Messages: messages, Tools: b.tools()})
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
		if len(m.Calls()) == 0 {
			return messages, m.Text()
		}
		for _, c := range m.Calls() {
			b.trace = append(b.trace, c.Name+" "+c.Arguments)
			messages = append(messages, b.do(t.Context(), c))
		}
	}
	t.Fatalf("no end after %d turns; the last calls: %q", b.turns, b.trace[max(0, len(b.trace)-3):])
	return nil, ""
}

// do runs one call and returns its result.
func (b *bench) do(ctx context.Context, c llm.ToolCall) llm.Message {
	if slices.Contains(b.deny, c.Name) {
		return llm.ToolText(c, "This call was denied: it is not allowed here.", true)
	}
	call, err := b.tool[c.Name].Prepare(ctx, c.Arguments)
	if err != nil {
		return llm.ToolText(c, err.Error(), true)
	}
	result, err := call.Run(ctx, func(string) {})
	if err != nil {
		return llm.ToolText(c, err.Error(), true)
	}
	return llm.ToolText(c, result.Content.Text(), result.IsError)
}
