package models

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
)

func TestModelWords(t *testing.T) {
	for n, want := range map[int]string{0: "-", 512: "512", 8192: "8k", 131_072: "131k", 1_000_000: "1M", 1_048_576: "1M", 1_500_000: "1.5M"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	if got := term.Wrap("label: ", 7, "one two three  four", 14, "  "); got != "label: one two\n  three four" {
		t.Errorf("got %q", got)
	}
	quota := llm.Quota{Limit: 50, Remaining: 49}
	if got := limitWords(&llm.RateLimits{Requests: quota, OutputTokens: quota}); got != "49 of 50 requests left, 49 of 50 tokens out left" {
		t.Errorf("got %q", got)
	}
	if limitWords(nil) != "" {
		t.Error("no limits have words")
	}
}

// Every kind of failure that a person can do something about says what.
func TestAdvice(t *testing.T) {
	env := &command.Env{Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "sk-planted-0123456789"}[name]
	}}
	s, err := env.SetUp("")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[llm.Kind]string{
		llm.KindAuth: "run `tenon auth login anthropic`", llm.KindNetwork: "ANTHROPIC_BASE_URL", llm.KindQuota: "billing",
		llm.KindRateLimited: "try again in 30s, or use", llm.KindOverloaded: "has a problem", llm.KindStalled: "timeouts", llm.KindProtocol: "check the base URL (ANTHROPIC_BASE_URL",
		llm.KindInvalidRequest: "tenon models --provider anthropic", llm.KindRefused: "another model", llm.KindOther: "",
	} {
		got := Advice(s, "anthropic/x", &llm.Error{Kind: kind, Status: 400, RetryAfter: 30 * time.Second})
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for want, e := range map[string]*llm.Error{
		"": {Kind: llm.KindInvalidRequest}, // what never was sent: the message says why
		"the provider rejected the request; `tenon models test ollama/x` shows what the model supports": {
			Kind: llm.KindInvalidRequest, Status: 400, Message: "messages.0: empty",
		},
		"check the name of the model; `tenon models --provider ollama` lists known ones": {
			Kind: llm.KindInvalidRequest, Status: 400, Message: "unknown Model x",
		},
		"no server answers at http://127.0.0.1:11434/v1; start it, or check the base URL (OLLAMA_BASE_URL, or providers.ollama.base_url)": {Kind: llm.KindNetwork},
		"check the name of the model; `tenon models --provider ollama` lists known ones; if the name is right, check the base URL (OLLAMA_BASE_URL, or providers.ollama.base_url)": {
			Kind: llm.KindInvalidRequest, Status: 404,
		},
	} {
		if got := Advice(s, "ollama/x", e); got != want {
			t.Errorf("%s: got %q", e, got)
		}
	}
	if got := Advice(s, "unknown/x", &llm.Error{Kind: llm.KindAuth}); got != "" {
		t.Errorf("got %q", got)
	}
}

// No output of a command has a known key: not its result, not a note, not the text of its error.
func TestOutputHidesKeys(t *testing.T) {
	const key = "sk-planted-0123456789"
	var out, errs strings.Builder
	env := &command.Env{Stdout: &out, Stderr: &errs, Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": key, "TENON_CONFIG_DIR": t.TempDir(), "TENON_DATA_DIR": t.TempDir()}[name]
	}}
	if _, err := env.SetUp(""); err != nil {
		t.Fatal(err)
	}
	r := command.Result{JSON: map[string]string{"key": key}, Text: "text " + key + "\n", Note: "note " + key}
	for _, asJSON := range []bool{false, true} {
		if err := env.Print(asJSON, r); err != nil {
			t.Fatal(err)
		}
	}
	env.Report(&llm.Error{Kind: llm.KindAuth, Message: "wrong key " + key})
	all := out.String() + errs.String()
	for _, want := range []string{"text ", "note ", "wrong key ", `{"key":`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
	if strings.Contains(all, "planted") {
		t.Errorf("the key is in %q", all)
	}
}
