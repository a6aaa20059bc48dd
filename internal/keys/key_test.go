package keys_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"text/template"

	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/redact"
)

const planted = "sk-planted-0123456789-ABCDwxyz"

func must(t testing.TB, text string) keys.Key {
	t.Helper()
	k, err := keys.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNew(t *testing.T) {
	if k := must(t, " \n"+planted+"\r\n"); k.Reveal() != planted || k.IsZero() {
		t.Error("the white space around a key is not taken off")
	}
	for name, text := range map[string]string{
		"empty":     "",
		"blank":     " \n\t",
		"space":     "sk-planted key",
		"line":      "sk-planted\nkey",
		"control":   "sk-planted\x00key",
		"delete":    "sk-planted\x7f",
		"quotes":    "“sk-planted”",
		"invisible": "\u200bsk-planted",
		"bytes":     "sk-planted\xff",
		"large":     strings.Repeat("sk-planted", 2000),
	} {
		k, err := keys.New(text)
		if err == nil || !k.IsZero() {
			t.Errorf("%s: it is taken", name)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

func TestHint(t *testing.T) {
	for text, want := range map[string]string{planted: "wxyz", "0123456789abcdef": "cdef", "0123456789abcde": "", "x": ""} {
		if got := must(t, text).Hint(); got != want {
			t.Errorf("the hint of a key of %d is %q", len(text), got)
		}
	}
	if (keys.Key{}).Hint() != "" || (keys.Key{}).Reveal() != "" {
		t.Error("no key has a hint")
	}
}

// However a key is shown, it is not.
func TestKeyIsHidden(t *testing.T) {
	k := must(t, planted)
	type inside struct {
		Key keys.Key
		own keys.Key
		Ptr *keys.Key
		Map map[string]keys.Key
	}
	values := []any{
		k, &k,
		inside{k, k, &k, map[string]keys.Key{"a": k}},
		&inside{own: k},
		[]keys.Key{k},
		map[string]any{"k": k},
		fmt.Errorf("failed with %v: %w", k, errors.New("x")),
	}
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T", "%t", "%10.3s", "%z"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, v)
		data, err := json.Marshal(v)
		fmt.Fprintf(&out, "%s %v\n", data, err)
		data, err = json.MarshalIndent(v, "", " ")
		fmt.Fprintf(&out, "%s %v\n", data, err)
		data, err = xml.Marshal(v)
		fmt.Fprintf(&out, "%s %v\n", data, err)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v, slog.Group("g", "v", v))
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v, slog.Group("g", "v", v))
		var gobbed bytes.Buffer
		_ = gob.NewEncoder(&gobbed).Encode(v)
		out.Write(gobbed.Bytes())
		if err := template.Must(template.New("").Parse("{{.}} {{printf `%v %s` . .}}")).Execute(&out, v); err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(out.String(), planted) || strings.Contains(out.String(), fmt.Sprintf("%x", planted)) {
		t.Errorf("the key is shown in\n%s", out.String())
	}
	for _, verb := range []string{"%v", "%s", "%q", "%#v", "%x", "%d"} {
		if got := fmt.Sprintf(verb, k); got != redact.Hidden {
			t.Errorf("%s shows %s", verb, got)
		}
	}
}
