package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// The two tools stay a small part of each request.
func TestTheSpecsAreShort(t *testing.T) {
	dir := t.TempDir()
	ws, err := workspace.Open(dir, workspace.Options{Sandbox: &sandbox.Policy{Writable: []string{dir}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	size := 0
	for _, one := range shell.New(ws, shell.Options{}) {
		text, err := json.Marshal(one.Spec())
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
		t.Logf("%s", text)
	}
	const bytesPerToken, most = 4, 420
	if tokens := size / bytesPerToken; tokens > most {
		t.Errorf("the tools take about %d tokens, more than %d", tokens, most)
	} else {
		t.Logf("about %d tokens", tokens)
	}
}
