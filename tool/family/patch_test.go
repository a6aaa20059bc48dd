package family_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool/family"
)

// A command line that only applies a patch is a call of the tool patch, so that its rules, its preview and undo hold.
func TestPatchesInCommands(t *testing.T) {
	dialect := family.New(models.FamilyGPT, specs(builtin(t, false)))
	const body = "*** Begin Patch\n*** Add File: a/b\n+$x 'y' \"z\"\n*** Update File: c\n*** Move to: d\n@@\n-1\n+2\n*** End Patch\n"
	in := func(dir string) string {
		return strings.NewReplacer("a/b", dir+"/a/b", "File: c", "File: "+dir+"/c", "to: d", "to: "+dir+"/d").Replace(body)
	}
	for line, want := range map[string]string{
		"apply_patch <<'EOF'\n" + body + "EOF":                                                       body,
		"apply_patch <<EOF\n" + body + "EOF\n":                                                       body,
		"apply_patch << \"PATCH\"\n" + body + "PATCH":                                                body,
		"applypatch <<-'EOF'\n" + body + "\tEOF":                                                     body,
		"apply_patch <<'EOF'\r\n" + strings.ReplaceAll(body, "\n", "\r\n") + "EOF":                   body,
		"apply_patch <<'EOF'\n" + body:                                                               body,
		"cat <<'EOF' | apply_patch\n" + body + "EOF":                                                 body,
		"cd sub && apply_patch <<'EOF'\n" + body + "EOF":                                             in("sub"),
		"cd 'sub dir'; apply_patch <<'EOF'\n" + body + "EOF":                                         in("sub dir"),
		"cd /abs/sub && apply_patch <<'EOF'\n" + body + "EOF":                                        in("/abs/sub"),
		"bash -lc 'apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF'":      "*** Begin Patch\n*** Delete File: a\n*** End Patch\n",
		"apply_patch '*** Begin Patch\n*** Delete File: it'\\''s\n*** End Patch'":                    "*** Begin Patch\n*** Delete File: it's\n*** End Patch",
		"apply_patch \"*** Begin Patch\n*** Delete File: a\n*** End Patch\"":                         "*** Begin Patch\n*** Delete File: a\n*** End Patch",
		"apply_patch <<'EOF'\n*** Begin Patch ***\n*** Delete File: a b ***\n*** End Patch ***\nEOF": "*** Begin Patch\n*** Delete File: a b\n*** End Patch\n",
	} {
		got, err := dialect.Call(llm.ToolCall{Name: "exec_command", Arguments: string(must(t, map[string]any{"cmd": line}))})
		if err != nil || got.Name != "patch" || got.Arguments != string(must(t, map[string]any{"patch": want})) {
			t.Errorf("%q: %s %s, %v", line, got.Name, got.Arguments, err)
		}
	}
	got, err := dialect.Call(llm.ToolCall{Name: "shell", Arguments: string(must(t, map[string]any{"command": []string{"apply_patch", body}, "workdir": "sub"}))})
	if err != nil || got.Arguments != string(must(t, map[string]any{"patch": in("sub")})) {
		t.Errorf("%s, %v", got.Arguments, err)
	}

	for _, line := range []string{
		"apply_patch <<'EOF'\n" + body + "EOF\ngofmt -w .",
		"make && apply_patch <<'EOF'\n" + body + "EOF",
		"cd $HOME && apply_patch <<'EOF'\n" + body + "EOF",
	} {
		if got, err := dialect.Call(llm.ToolCall{Name: "shell", Arguments: string(must(t, map[string]any{"command": line}))}); err == nil || !strings.Contains(err.Error(), "call the tool apply_patch") {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"echo apply_patch", "grep -rn apply_patch .", "git apply x.patch", "cat <<'EOF'\n" + body + "EOF"} {
		if got, err := dialect.Call(llm.ToolCall{Name: "shell", Arguments: string(must(t, map[string]any{"command": line}))}); err != nil || got.Name != "shell" {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
}

func must(t *testing.T, v any) []byte {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
