package tool_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// What all the built-in tools together cost in each request stays small.
func TestBuiltInToolsAreShort(t *testing.T) {
	ws, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var specs []llm.Tool
	for _, one := range slices.Concat(files.New(ws), search.New(ws), shell.New(ws, shell.Options{})) {
		specs = append(specs, one.Spec())
	}
	var names []string
	for _, spec := range specs {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	if want := []string{"delete", "edit", "glob", "grep", "job", "list", "multi_edit", "read", "shell", "write"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	text, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	const bytesPerToken, most = 4, 1300
	if tokens := len(text) / bytesPerToken; tokens > most {
		t.Errorf("the tools take about %d tokens, more than %d", tokens, most)
	} else {
		t.Logf("%d bytes, about %d tokens", len(text), tokens)
	}
}
