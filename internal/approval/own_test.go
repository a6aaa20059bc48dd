package approval

import (
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
)

// In its own directories a session does as it likes; what is readable may be read alone.
func TestDirectoriesThatNeedNoQuestion(t *testing.T) {
	own, readable := t.TempDir(), t.TempDir()
	g := NewGate(Options{Policy: policy(t, permission.Config{Mode: permission.AskMode}), Own: []string{own}, Readable: []string{readable}})
	for _, c := range []struct {
		name    string
		effects tool.Effects
		allow   bool
	}{
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(own, "a"))}}, true},
		{"write", tool.Effects{Writes: []tool.Path{tool.File(filepath.Join(own, "a"))}}, true},
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(readable, "a"))}}, true},
		{"write", tool.Effects{Writes: []tool.Path{tool.File(filepath.Join(readable, "a"))}}, false},
		{"read", tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(readable+"-not", "a"))}}, false},
	} {
		v, err := g.Decide(t.Context(), []agent.Proposed{{Call: llm.ToolCall{ID: "x", Name: c.name}, Effects: c.effects, Arguments: []byte("{}")}})
		if err != nil || v[0].Allow != c.allow {
			t.Errorf("%s %+v: %+v, %v", c.name, c.effects, v, err)
		}
	}
}
