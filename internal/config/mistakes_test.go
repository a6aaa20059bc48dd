package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMistakesSayWhereAndWhatToDo(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		// Text that is not JSON.
		{"empty", " \n", `1:1: the file is empty; write {} for no settings`},
		{"list", `[]`, `1:1: expected an object in braces, found a list`},
		{"cut", "{\n\"model\": \"a/x\",\n", `1:1: the object, list, string or comment that begins here has no end`},
		{"open string", `{"model": "a/x`, `1:11: the object, list, string or comment that begins here has no end`},
		{"open bracket", "{\n\"pools\": {\n\"p\": [\"a/x\"\n", `3:6: the object, list, string or comment that begins here has no end`},
		{"open comment", "{} /* x", `1:4: the object, list, string or comment that begins here has no end`},
		{"only a comment", "// x", `1:5: the file ends where a value is expected`},
		{"colon", "{\n  \"model\" \"a/x\"}", `2:11: invalid character '"' after object name`},
		{"characters, not bytes", `{"ü": ?}`, `1:7: invalid character '?' at start of value`},
		{"secret in what cannot be read", `{"api_key": "sk-\q"}`, `1:13: expected a value: a string in double quotes on one line, a number, true, false, an object or a list`},
		{"not UTF-8", "{\n\"model\": \"\xff\"}", `2:11: the text is not UTF-8; save the file with that encoding`},
		{"deep", strings.Repeat("[", 100000), `1:65: objects and lists are nested more than 64 deep`},
		{"deep in comments", strings.Repeat(`{"a":/*[*/`, 65), `1:641: objects and lists are nested more than 64 deep`},
		{"after the end", `{} x`, `1:4: unexpected text after the end of the object; remove it, or move the closing brace`},

		// Keys.
		{"unknown", `{"modle": "a/x"}`, `1:2: unknown key "modle", did you mean "model"?`},
		{"unknown below", `{"providers": {"a": {"timeouts": {"idel": "1s"}}}}`, `1:35: providers.a.timeouts: unknown key "idel", did you mean "idle"?`},
		{"unknown, nothing near", `{"limits": {"elephants": 1}}`, `1:13: limits: unknown key "elephants"; known here: turns, tokens, duration, cost, session_cost, day_cost, soft, unpriced`},
		{"case", `{"Model": "a/x"}`, `1:2: unknown key "Model", did you mean "model"?`},
		{"twice", `{"model": "a/x", "model": "a/y"}`, `1:18: model: the key occurs twice`},
		{"twice, spelled differently", `{"model": "a/x", "mod\u0065l": "a/y"}`, `1:18: model: the key occurs twice`},
		{"long", `{"roles": {"` + strings.Repeat("x", 257) + `": "a/x"}}`, `1:12: roles: a key is longer than 256 bytes`},
		{"provider name", `{"providers": {"My Server": {}}}`, `1:16: providers["My Server"]: expected a name of small letters, digits, dots, hyphens and underscores as a key`},
		{"header name", `{"providers": {"a": {"headers": {"X Y": "1"}}}}`, `1:34: providers.a.headers["X Y"]: expected the name of an HTTP header as a key`},
		{"variant name", `{"models": {"a/b": {"variants": {"latest": {}}}}}`, `1:34: models["a/b"].variants.latest: expected a name that begins with a small letter, of small letters, digits, hyphens and underscores, and is not default or latest as a key`},
		{"facts of a variant", `{"models": {"a/b@deep": {}}}`, `1:13: models["a/b@deep"]: expected provider/model without a variant as a key`},

		// Values.
		{"null", `{"model": null}`, `1:11: model: expected a string, found null`},
		{"bool", `{"discover": "yes"}`, `1:14: discover: expected true or false, found a string`},
		{"object", `{"limits": 3}`, `1:12: limits: expected an object in braces, found a number`},
		{"map", `{"pools": []}`, `1:11: pools: expected an object in braces, found a list`},
		{"elements", `{"pools": {"p": "a/x"}}`, `1:17: pools.p: expected a list in brackets, found a string`},
		{"an element", `{"pools": {"p": ["a/x", true]}}`, `1:25: pools.p[1]: expected a string, found true`},
		{"no elements", `{"pools": {"p": []}}`, `1:17: pools.p: is empty; name at least one model`},
		{"word", `{"thinking": "hgih"}`, `1:14: thinking: unknown value "hgih", did you mean "high"?; expected one of off, minimal, low, medium, high, xhigh, max, default`},
		{"protocol", `{"providers": {"a": {"protocol": "grpc"}}}`, `1:34: providers.a.protocol: unknown value "grpc"; expected one of anthropic, openai-chat, openai-responses, ollama, gemini, vertex, vertex-anthropic, bedrock, azure-chat, azure-responses`},
		{"reference to a model", `{"pools": {"p": ["claude"]}}`, `1:18: pools.p[0]: expected provider/model or provider/model@variant, found "claude"`},
		{"model", `{"model": "a b"}`, `1:11: model: expected provider/model, provider/model@variant, or the name of a pool, found "a b"`},
		{"variable in a model", `{"model": "a/$MODEL"}`, `1:11: model: expected provider/model, provider/model@variant, or the name of a pool; references with $ are not supported here`},
		{"whole", `{"max_tokens": 1.5}`, `1:16: max_tokens: expected a whole number, found "1.5"`},
		{"number", `{"max_tokens": "12"}`, `1:16: max_tokens: expected a whole number, found a string`},
		{"small", `{"max_tokens": 0}`, `1:16: max_tokens: expected at least 1, found "0"`},
		{"large", `{"temperature": 3}`, `1:17: temperature: expected at most 2, found "3"`},
		{"no memory", `{"sandbox": {"memory": -5}}`, `1:24: sandbox.memory: expected at least 1048576, found "-5"`},
		{"no money", `{"limits": {"cost": -1}}`, `1:21: limits.cost: expected more than 0, found "-1"`},
		{"larger", `{"temperature": 1e999}`, `1:17: temperature: the number is too large`},
		{"too large for an int", `{"max_tokens": 1e17}`, `1:16: max_tokens: the number is too large`},
		{"duration", `{"limits": {"duration": "10 minutes"}}`, `1:25: limits.duration: expected a duration such as "120s" or "10m", found "10 minutes"`},
		{"duration without quotes", `{"limits": {"duration": 600}}`, `1:25: limits.duration: expected a duration in quotes, such as "120s" or "10m", found a number`},
		{"no duration", `{"limits": {"duration": "0"}}`, `1:25: limits.duration: expected a duration longer than 0`},
		{"negative", `{"limits": {"duration": "-1s"}}`, `1:25: limits.duration: expected a duration such as "120s" or "10m", found "-1s"`},
		{"duration too long", `{"limits": {"duration": "9999999999h"}}`, `1:25: limits.duration: expected a duration such as "120s" or "10m", found "9999999999h"`},

		// What belongs together.
		{"short and long", `{"small_model": "a/x", "roles": {"small": "a/y"}}`, `1:2: small_model: is the short form of roles.small, and both are set; keep one of them`},
		{"key and keys", `{"providers": {"a": {"api_key": "x", "api_keys": ["y"]}}}`, `1:38: providers.a.api_keys: api_key is also set; keep one of them`},
		{"keys of one name", `{"providers": {"a": {"api_keys": ["x", {"name": "1", "key": "y"}]}}}`, `1:34: providers.a.api_keys: has two keys with the name "1"; rename one of them`},
		{"no keys", `{"providers": {"a": {"api_keys": []}}}`, `1:34: providers.a.api_keys: is empty; add a key, or remove the setting`},
		{"a name without a key", `{"providers": {"a": {"api_keys": [{"name": "x"}]}}}`, `1:35: providers.a.api_keys[0]: has no "key"`},
		{"no pool", `{"model": "fats", "pools": {"fast": ["a/x"]}}`, `1:11: model: there is no pool "fats", did you mean "fast"?; write provider/model, or add the pool`},
		{"no provider", `{"roles": {"small": "antropic/x"}}`, `1:21: roles.small: there is no provider "antropic", did you mean "anthropic"?; add it to providers in USER/tenon.json`},
		{"facts about a model of no provider", `{"models": {"antropic/x": {}}}`, `1:13: models["antropic/x"]: there is no provider "antropic", did you mean "anthropic"?; add it to providers in USER/tenon.json`},
		{"no profile", `{"providers": {"a": {"profile": "antropic"}}}`, `1:33: providers.a.profile: there is no profile "antropic", did you mean "anthropic"?; write the name of a built-in provider`},

		// Values with references.
		{"no text", `{"providers": {"a": {"api_key": ""}}}`, `1:33: providers.a.api_key: is empty; set a value, or remove the key`},
		{"not one line", `{"providers": {"a": {"api_key": "x\ny"}}}`, `1:33: providers.a.api_key: contains a line break or a control character; write one line of text`},
		{"key of another type", `{"providers": {"a": {"api_key": ["sk-planted"]}}}`, `1:33: providers.a.api_key: expected a string, found a list`},
		{"lone dollar", `{"providers": {"a": {"api_key": "a$ b"}}}`, `1:33: providers.a.api_key: a $ begins no reference; write $$ for a dollar, or $NAME, ${NAME}, ${NAME:-fallback} or $(command)`},
		{"URL", `{"providers": {"a": {"base_url": "example.com"}}}`, `1:34: providers.a.base_url: expected an address that begins with http://, https://, such as https://example.com/v1`},
		{"URL with a password", `{"providers": {"a": {"base_url": "http://u:sk-planted@h:port"}}}`, `1:34: providers.a.base_url: expected an address that begins with http://, https://, such as https://example.com/v1`},
		{"proxy", `{"providers": {"a": {"proxy": "ftp://x"}}}`, `1:31: providers.a.proxy: expected an address that begins with http://, https://, socks5://, socks5h://, such as http://proxy.example.com:3128`},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHome(t).user(test.text)
			h.Providers = []string{"anthropic", "a"}
			if got := h.mistakes(); len(got) != 1 || got[0] != "USER/tenon.json:"+test.want {
				t.Errorf("got  %s\nwant USER/tenon.json:%s", strings.Join(got, "\n     "), test.want)
			}
		})
	}
}

// A provider that is not built in is one of the user's own, which needs an address; one that was misspelt has none.
func TestAMisspeltProviderIsWarnedOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"providers": {"antropic": {"api_key": "x"}}}`: `1:16: providers.antropic: is not built in and has no base_url, did you mean "anthropic"?`,
		`{"providers": {"anthropic2": {"base_url": "http://127.0.0.1"}, "antropic": {"protocol": "anthropic"}, "mine": {"api_key": "x"}}}`: "",
	} {
		h := newHome(t).user(text)
		h.Providers = []string{"anthropic"}
		got := strings.Join(h.load().Warnings, "\n")
		if got = strings.TrimPrefix(got, filepath.Join(h.Dir, FileName)+":"); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

// Wherever a model may be named, the offline one has its short name.
func TestTheOfflineModelIsNoPool(t *testing.T) {
	h := newHome(t).user(`{"model": "offline", "small_model": "offline", "roles": {"planner": "offline"}}`)
	h.Providers = []string{"offline"}
	if got := h.load().Model; got != "offline" {
		t.Errorf("got %q", got)
	}
}

func TestAProjectAddsNoKeysHostsOrCommands(t *testing.T) {
	for text, key := range map[string]string{
		`{"providers": {}}`:                        "providers",
		`{"models": {"a/x": {"context": 1}}}`:      "models",
		`{"discover": true}`:                       "discover",
		`{"catalog_url": "https://example.com/x"}`: "catalog_url",
	} {
		got := newHome(t).user(`{}`).project(text).mistakes()
		want := "PROJECT/tenon.json:1:2: " + key + ": a project cannot set this; it belongs in your own configuration, USER/tenon.json"
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
	for _, text := range []string{`{"model": "a/$X"}`, `{"pools": {"p": ["a/${X}"]}}`, `{"roles": {"small": "$(id)"}}`} {
		got := newHome(t).project(text).mistakes()
		if len(got) != 1 || !strings.Contains(got[0], "a project cannot refer to variables or commands") {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

func TestAProjectChoosesAmongTheUsersProviders(t *testing.T) {
	h := newHome(t).user(`{"providers": {"mine": {}}}`).project(`{"pools": {"p": ["mine/x", "anthropic/y", "theirs/z"]}}`)
	h.Providers = []string{"anthropic"}
	got := h.mistakes()
	want := `PROJECT/tenon.json:1:43: pools.p[2]: there is no provider "theirs"; add it to providers in USER/tenon.json`
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}

func TestATrustedProjectHasOneFile(t *testing.T) {
	h := newHome(t).project(`{}`)
	write(t, filepath.Join(h.root, ".tenon", FileName), `{}`)
	got := h.mistakes()
	want := "PROJECT/tenon.json: the project also has PROJECT/" + filepath.Join(".tenon", FileName) + "; keep one of them"
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}

func TestAllMistakesAreReportedTogether(t *testing.T) {
	h := newHome(t).user("{\n\"model\": 1,\n\"pools\": {\"p\": [\"x\"]},\n\"small_model\": \"nothing\",\n\"nonsense\": 1}").project(`{"model": 2}`)
	_, err := Load(h.Options)
	list, ok := errors.AsType[*Errors](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	var places []string
	for _, e := range list.Unwrap() {
		one, _ := errors.AsType[*Error](e)
		places = append(places, fmt.Sprintf("%s:%d", filepath.Base(filepath.Dir(one.File)), one.Line))
	}
	user, project := filepath.Base(h.Dir), filepath.Base(h.root)
	if want := []string{user + ":2", user + ":3", user + ":4", user + ":5", project + ":1"}; !slices.Equal(places, want) {
		t.Errorf("got %v, want %v", places, want)
	}
}

func TestAtMostTwentyMistakesAreReported(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "\"unknown%d\": 1, ", i)
	}
	got := newHome(t).user("{" + b.String() + "}").mistakes()
	if len(got) != 21 || got[20] != "and 980 more" {
		t.Errorf("got %d lines, the last %q", len(got), got[len(got)-1])
	}
}

func TestAByteOrderMarkAndAnEndWithoutNewlineAreFine(t *testing.T) {
	if c := newHome(t).user("\ufeff{\"model\": \"a/x\"} // end").load(); c.Model != "a/x" {
		t.Errorf("got %q", c.Model)
	}
}

func TestTheLargestFilesAreRead(t *testing.T) {
	fill := func(begin, each, end string) string {
		return begin + strings.Repeat(each, (mostBytes-len(begin)-len(end))/len(each)) + end
	}
	var pools, keys strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&pools, `"p%d": ["a/x", "b/y"], "x%d": [], `, i, i)
		fmt.Fprintf(&keys, `"%d": 1, "%d": 2, `, i, i)
	}
	for name, text := range map[string]string{
		"dollars":       fill(`{"providers": {"a": {"api_key": "`, "$$", `"}}}`),
		"braces":        fill(`{"providers": {"a": {"api_key": "${A:-`, "}", `"}}}`),
		"fallbacks":     fill(`{"providers": {"a": {"api_key": "`, "${A:-x}", `"}}}`),
		"URL":           fill(`{"providers": {"a": {"base_url": "http://`, "@", `"}}}`),
		"comments":      fill(`{`, "/**/ //\n", `}`),
		"pools":         `{"model": "p", "pools": {` + pools.String() + `}}`,
		"keys":          `{` + keys.String() + `}`,
		"models":        fill(`{"pools": {"p": [`, `"a/x",`, `]}}`),
		"long names":    fill(`{"providers": {"`+strings.Repeat("a", longestName)+`": {`, `"x":1,`, `}}}`),
		"a longer name": fill(`{"providers": {"`+strings.Repeat("a", mostBytes/2)+`": {`, `"x":1,`, `}}}`),
		"one word":      fill(`{"model": "`, "x", `"}`),
		"lines":         fill("{", "\n", "?}"),
		"digits":        fill(`{"max_tokens": 1`, "0", `}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := decodeText([]byte(text), false)
			if err := errs.orNil(); err != nil && len(err.Error()) > 20<<10 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}
