package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/tenon-agent/tenon/window/tokens"
)

// Every request pays for the tool.
func TestTheToolIsSmall(t *testing.T) {
	const most = 260
	text, err := json.Marshal(misbehaving(t, "well").tool.Spec())
	if err != nil {
		t.Fatal(err)
	}
	n := tokens.Text(string(text))
	t.Logf("about %d tokens", n)
	if n >= most {
		t.Errorf("about %d tokens, want fewer than %d", n, most)
	}
}
