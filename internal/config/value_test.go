package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/redact"
)

// expand reads a string as the value of a key would be, and gets it.
func expand(t *testing.T, is, s string, vars ...string) (string, error) {
	t.Helper()
	e := &environment{getenv: env(vars...), dir: t.TempDir(), timeout: commandTime}
	v, err := e.value(is, s, spot{newSource("tenon.json", []byte("\n\n 3456789")), 10, "providers.a.api_key"})
	if err != nil {
		return "", err
	}
	return v.Get(t.Context())
}

func TestReferences(t *testing.T) {
	vars := []string{"A", "one", "B_2", "two", "EMPTY", "", "URL", "http://u:pw@h/v1"}
	for in, want := range map[string]string{
		"plain":                 "plain",
		"a$$b":                  "a$b",
		"$$A":                   "$A",
		"$$$A":                  "$one",
		"$A":                    "one",
		"${A}":                  "one",
		"x-$A-${B_2}.y":         "x-one-two.y",
		"${A}1":                 "one1",
		"{$A}":                  "{one}",
		"${NO:-fall back}":      "fall back",
		"${EMPTY:-x}":           "x",
		"${A:-x}":               "one",
		"${NO:-}":               "",
		"${NO:-$A}":             "one",
		"${NO:-${NEITHER:-$$}}": "$",
		"${NO:-a{b}":            "a{b",
	} {
		if got, err := expand(t, "secret", in, vars...); got != want || err != nil {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
	if got, err := expand(t, "url", "${URL}", vars...); got != "http://u:pw@h/v1" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReferencesThatCannotBeRead(t *testing.T) {
	deep := strings.Repeat("${A:-", deepest+1) + strings.Repeat("}", deepest+1)
	for _, in := range []string{"$", "a$", "$1", "$ A", "${}", "${1}", "${A", "${A:-x", "${A-x}", "${A:x}", "$()", "$( )", "$(echo", "$(echo ')", deep, "${:-x}"} {
		if got, err := expand(t, "secret", in); err == nil {
			t.Errorf("%s is %q", in, got)
		}
	}
}

func TestCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of sh")
	}
	for in, want := range map[string]string{
		"$(echo hello)":                    "hello",
		"Bearer $(printf ' x \n\n')":       "Bearer x",
		"$(echo $(echo in))":               "in",
		"$(echo ')' \")\" \\))":            ") ) )",
		"$(echo \"it's (fine\")":           "it's (fine",
		"${NO:-$(echo fallback)}":          "fallback",
		"$(echo ${HOME:+x}$((1+1)))":       "x2",
		"${A:-$(echo not needed; exit 1)}": "one",
	} {
		t.Setenv("HOME", "/home/me")
		if got, err := expand(t, "secret", in, "A", "one"); got != want || err != nil {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
}

func TestWhatIsMissingIsSaidWithItsPlace(t *testing.T) {
	commands := map[string]string{
		"$(echo sk-planted; echo 'no such\nentry \x1b[1m' >&2; exit 3)": "tenon.json:3:9: providers.a.api_key: the command $(echo [hidden]) failed: exit status 3; its standard error: no such entry [1m",
		"$(true --)":                      "tenon.json:3:9: providers.a.api_key: the command $(true [hidden]) printed nothing",
		"$(yes sk-planted)":               "tenon.json:3:9: providers.a.api_key: the command $(yes [hidden]) printed more than 64 KiB; make it print only the value",
		"$(printf 'sk-planted\\nsecond')": "tenon.json:3:9: providers.a.api_key: the value is wrong after its references are resolved: contains a line break or a control character; write one line of text",
	}
	if runtime.GOOS == "windows" {
		clear(commands)
	}
	commands["$OPENAI_API_KEY"] = "tenon.json:3:9: providers.a.api_key: the environment variable OPENAI_API_KEY is not set; set it, or write ${OPENAI_API_KEY:-FALLBACK}"
	commands["${NO:-$NEITHER}"] = "tenon.json:3:9: providers.a.api_key: the environment variable NEITHER is not set; set it, or write ${NEITHER:-FALLBACK}"
	for in, want := range commands {
		got, err := expand(t, "secret", in)
		if _, ok := errors.AsType[*Error](err); !ok || got != "" || err.Error() != want {
			t.Errorf("%s:\ngot  %q, %v\nwant %s", in, got, err, want)
		}
	}
	if _, err := expand(t, "url", "$URL/v1", "URL", "u:sk-planted@h"); err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("a wrong URL gives %v", err)
	}
}

func TestACommandRunsOnceWhenItIsNeeded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of sh")
	}
	h := newHome(t).user(`{"providers": {"a": {"api_key": "$(echo ran >> log; echo sk-1)"}, "b": {"api_key": "$NOT_SET"}}}`)
	log := filepath.Join(h.Dir, "log")
	c := h.load()
	c.Origins()
	_, _ = json.Marshal(c)
	if exists(log) {
		t.Fatal("the command ran though no code asked for the value")
	}
	copied := c.Providers["a"].APIKey
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := copied.Get(t.Context()); got != "sk-1" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(log); string(got) != "ran\n" || err != nil {
		t.Errorf("the command ran %d times, %v", strings.Count(string(got), "\n"), err)
	}
}

func TestACommandThatFailedDoesNotRunAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of sh")
	}
	h := newHome(t).user(`{"providers": {"a": {"api_key": "$(echo ran >> log; exit 1)"}}}`)
	key := h.load().Providers["a"].APIKey
	_, first := key.Get(t.Context())
	_, second := key.Get(t.Context())
	if first == nil || first != second {
		t.Errorf("got %v, then %v", first, second)
	}
	if got, _ := os.ReadFile(filepath.Join(h.Dir, "log")); string(got) != "ran\n" {
		t.Errorf("the log is %q", got)
	}
}

func TestACommandEndsWithItsContext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of sh")
	}
	h := newHome(t).user(`{"providers": {"a": {"api_key": "$(if [ -e go ]; then echo done; else mkfifo pipe; : > pipe; fi)"}}}`)
	key := h.load().Providers["a"].APIKey
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	for range 2 { // one that runs the command, one that waits for it
		go func() {
			_, err := key.Get(ctx)
			got <- err
		}()
	}
	for !exists(filepath.Join(h.Dir, "pipe")) {
		runtime.Gosched()
	}
	cancel()
	for range 2 {
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	write(t, filepath.Join(h.Dir, "go"), "")
	if got, err := key.Get(t.Context()); got != "done" || err != nil {
		t.Errorf("a cancelled command is not tried again: %q, %v", got, err)
	}
}

func TestACommandHasLittleTime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are of sh")
	}
	e := &environment{getenv: env(), dir: t.TempDir(), timeout: 50 * time.Millisecond}
	v, err := e.value("secret", "$(echo waiting >&2; mkfifo pipe; sh -c ': < pipe')", spot{source: newSource("f", nil)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Get(t.Context())
	if err == nil || !strings.Contains(err.Error(), "timed out after 50ms; run it by hand to see the cause") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsShownOfAValue(t *testing.T) {
	for _, test := range [][3]string{
		{"secret", "sk-1", "[hidden]"},
		{"secret", "$KEY", "${KEY}"},
		{"secret", "Bearer $KEY", "[hidden]${KEY}"},
		{"secret", "${KEY:-sk-1}", "${KEY:-[hidden]}"},
		{"secret", "${KEY:-${OTHER}}", "${KEY:-${OTHER}}"},
		{"secret", "$(pass show openai)", "$(pass [hidden])"},
		{"secret", "$(/usr/bin/op read x)", "$(/usr/bin/op [hidden])"},
		{"secret", "$(KEY=sk-1 env)", "$([hidden])"},
		{"secret", "$(sk-1)", "$([hidden])"},
		{"text", "europe-west4", "europe-west4"},
		{"text", "$(gcloud config get project)", "$(gcloud [hidden])"},
		{"url", "https://example.com/v1", "https://example.com/v1"},
		{"url", "https://u:sk-1@example.com/v1", "https://[hidden]@example.com/v1"},
		{"url", "https://example.com/v1?key=sk-1", "https://example.com/v1?[hidden]"},
		{"url", "https://u:a@b/c@$HOST", "https://[hidden]@${HOST}"},
		{"url", "${URL:-http://u:sk-1@h}", "${URL:-http://[hidden]@h}"},
		{"url", "$URL", "${URL}"},
		{"proxy", "socks5://u:sk-1@h:1080", "socks5://[hidden]@h:1080"},
	} {
		e := &environment{getenv: env()}
		v, err := e.value(test[0], test[1], spot{})
		if err != nil || v.String() != test[2] {
			t.Errorf("%s %s is shown as %s, %v", test[0], test[1], v, err)
		}
	}
}

// outputs are all the ways in which something may be shown.
func outputs(t *testing.T, v any) []string {
	t.Helper()
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t"} {
		out = append(out, fmt.Sprintf(verb, v), fmt.Sprintf(verb, &v), fmt.Sprintf(verb, []any{v}), fmt.Sprintf(verb, struct{ hidden any }{v}))
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "v", v)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "v", v)
	return append(out, string(data), logged.String())
}

func TestSecretsAreInNoOutput(t *testing.T) {
	h := newHome(t).user(`{"providers": {"a": {
		"api_key": "planted1", "headers": {"Authorization": "Bearer planted2", "X": "${NO:-planted3}"},
		"base_url": "https://u:planted4@example.com/?k=planted5", "proxy": "http://planted6@h",
	}, "b": {"api_keys": ["planted7", {"name": "n", "key": "$KEY"}, "$KEY", "$(echo planted8; exit 1)"]}},
	"catalog_url": "http://u:planted10@h"}`)
	h.Getenv = env("KEY", "planted11")
	c := h.load()
	var shown []string
	for range 2 { // before and after the values are known
		shown = append(shown, outputs(t, c)...)
		shown = append(shown, outputs(t, *c)...)
		shown = append(shown, outputs(t, c.Origins())...)
		for _, p := range c.Providers {
			shown = append(shown, outputs(t, p)...)
			values := []redact.Value{p.BaseURL, p.Proxy, p.Headers["X"]}
			for _, k := range p.Keys() {
				values = append(values, k.Key)
			}
			for _, v := range values {
				shown = append(shown, outputs(t, v)...)
				if _, err := v.Get(t.Context()); err != nil {
					shown = append(shown, outputs(t, err)...)
					shown = append(shown, err.Error())
				}
			}
		}
	}
	planted := fmt.Sprintf("%x", "planted")
	for _, s := range shown {
		if strings.Contains(s, "planted") || strings.Contains(strings.ToLower(s), planted) {
			t.Fatalf("a secret is in %s", s)
		}
	}
}

func TestAValueThatIsNotSet(t *testing.T) {
	var v redact.Value
	if got, err := v.Get(t.Context()); v.IsSet() || got != "" || err != nil || v.String() != "" {
		t.Errorf("got %q, %v, %s", got, err, v)
	}
	if l := redact.Literal("x", hidden); !l.IsSet() || l.String() != hidden {
		t.Errorf("got %s", l)
	}
}

func TestAnyTextCanBeWrittenWithDoubledDollars(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`[ -~]{1,40}`).Draw(r, "text")
		got, err := expand(t, "secret", strings.ReplaceAll(text, "$", "$$"))
		if got != text || err != nil {
			r.Fatalf("%q came back as %q, %v", text, got, err)
		}
	})
}

// Ready knows the values in advance that need no command.
func TestReady(t *testing.T) {
	e := &environment{getenv: env("KEY", "sk-planted")}
	for text, want := range map[string]string{
		"sk-literal": "sk-literal", "$KEY": "sk-planted", "a ${NONE:-$KEY}": "a sk-planted", "$NONE": "", "$(echo x)": "", "${NONE:-$(echo x)}": "",
		"${KEY:-$(echo x)}": "sk-planted", "${KEY:-x} $(echo x)": "",
	} {
		v, err := e.value("secret", text, spot{source: newSource("f", nil)})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := v.Ready(); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v", text, got, ok)
		}
	}
	if _, ok := (redact.Value{}).Ready(); ok {
		t.Error("what is not set is ready")
	}
}
