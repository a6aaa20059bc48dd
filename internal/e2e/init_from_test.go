package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInitTranslatesTheSettingsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // in the tenon.json
		left  []string // on standard error
	}{
		"claude": {
			map[string]string{
				".claude/settings.json": `{"model":"claude-opus-5-5","env":{"CI":"1"},"permissions":{"allow":["Bash(npm test)","Bash(git log:*)","Read","Edit(/src/**)","Bash(ls*)"],"deny":["Bash(rm *)"],"defaultMode":"acceptEdits"},"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"./check.sh","timeout":5},{"type":"prompt","prompt":"Is it fine?"}]}],"Stop":[{"hooks":[{"type":"command","command":"say --token=hush-hush"}]}],"Nothing":[]}}`,
				".claude.json":          `{"mcpServers":{"docs":{"command":"docs","args":["serve"],"env":{"TOKEN":"hush-hush","REGION":"${REGION}"}},"bad":{"command":"x","args":["--api-key=hush-hush"]}},"history":[1]}`,
			},
			[]string{`"model": "anthropic/claude-opus-5-5"`, `"shell(npm test)"`, `"shell(git log *)"`, `"shell(rm *)"`, `"mode": "edits"`, `"TOKEN": "$TOKEN"`, `"REGION": "$REGION"`, `"command": "./check.sh"`, `"matcher": "Edit|Write"`},
			[]string{"the rule allow Read:", "the rule allow Edit(/src/**)", "the rule allow Bash(ls*)", "variables (CI)", "set the variable TOKEN", "the server bad", "translated: hooks (1)", `the type "prompt" is not supported`, "a hook of Stop: it may have a secret", "hooks.Nothing: Tenon has no such event"},
		},
		"codex": {
			map[string]string{".codex/config.toml": "model = \"gpt-6.2-sol\"\nmodel_reasoning_effort = \"high\"\napproval_policy = \"never\"\n\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\"serve\"]\n[mcp_servers.docs.env]\nTOKEN = \"hush-hush\"\n"},
			[]string{`"model": "openai/gpt-6.2-sol"`, `"thinking": "high"`, `"command": "docs"`, `"TOKEN": "$TOKEN"`},
			[]string{"approval_policy of codex"},
		},
		"opencode": {
			map[string]string{".config/opencode/opencode.json": `{"model":"anthropic/claude-opus-5-5", /* mine */ "permission":{"edit":"ask","bash":{"*":"ask"}},"mcp":{"docs":{"type":"local","command":["docs","serve"],"environment":{"TOKEN":"{env:DOCS}"},"enabled":false}}}`},
			[]string{`"model": "anthropic/claude-opus-5-5"`, `"write"`, `"command": "docs"`, `"serve"`, `"TOKEN": "$DOCS"`, `"enabled": false`},
			[]string{"permission.bash"},
		},
		"crush": {
			map[string]string{".config/crush/crush.json": `{"models":{"large":{"model":"claude-opus-5-5","provider":"anthropic"}},"permissions":{"allowed_tools":["bash"]},"mcp":{"web":{"type":"http","url":"https://mcp.example.com/","headers":{"Authorization":"Bearer hush-hush"}}}}`},
			[]string{`"model": "anthropic/claude-opus-5-5"`, `"url": "https://mcp.example.com/"`, `"Authorization": "$WEB_AUTHORIZATION"`},
			[]string{"the allowed tool bash"},
		},
	} {
		p := newProject(t)
		p.secrets = []string{"hush-hush"}
		for file, text := range c.files {
			p.puts(p.home, file, text)
		}
		file := filepath.Join(p.home, "conf", "tenon.json")
		p.env = append(p.env, "TENON_CONFIG_DIR="+filepath.Dir(file))
		if r := p.tenon("init", "--from", name); r.code == 0 || !strings.Contains(r.stdout, c.want[0]) {
			t.Errorf("%s without an answer: %+v", name, r)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s wrote without an answer", name)
		}
		r := p.tenon("init", "--from", name, "--yes")
		text, err := os.ReadFile(file)
		if r.code != 0 || err != nil || string(text) != r.stdout {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: the file lacks %s: %s", name, want, text)
			}
		}
		for _, want := range c.left {
			if !strings.Contains(r.stderr, want) {
				t.Errorf("%s does not say %q: %s", name, want, r.stderr)
			}
		}
		p.keepsSecret("the file", string(text))
		if r := p.tenon("config", "check"); r.code != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		p.write(file, "{}")
		if r := p.tenon("init", "--from", name, "--yes"); r.code != 0 || !strings.Contains(r.stderr, "nothing was written") {
			t.Errorf("%s over a file: %+v", name, r)
		}
		if text, _ := os.ReadFile(file); string(text) != "{}" {
			t.Errorf("%s wrote over the file: %s", name, text)
		}
	}
}
