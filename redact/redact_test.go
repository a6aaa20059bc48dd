package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/redact"
)

const (
	planted = "sk-planted-0123456789-ABCDwxyz"
	awkward = `sk+a/b"c\d<e>&%f=0123456789`
)

// shapes are the ways in which a key comes into a text.
func shapes(t testing.TB, key string) map[string]string {
	quoted, err := json.Marshal(map[string]string{"k": key})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, "http://localhost", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("user", key)
	query := url.Values{"key": {key}, "z": {"1"}}.Encode()
	return map[string]string{
		"raw":          "Authorization: Bearer " + key,
		"alone":        key,
		"JSON":         string(quoted),
		"JSON, plain":  `{"k":"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"}`,
		"Go":           fmt.Sprintf("%q", key),
		"query":        "https://h/?" + query,
		"lower query":  "https://h/?" + strings.NewReplacer("%2B", "%2b", "%2F", "%2f", "%3D", "%3d", "%3C", "%3c", "%3E", "%3e", "%5C", "%5c").Replace(query),
		"path":         "https://h/" + url.PathEscape(key) + "/x",
		"basic":        req.Header.Get("Authorization"),
		"base64":       base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 URL":   base64.RawURLEncoding.EncodeToString([]byte(key)),
		"base64 in 1":  base64.StdEncoding.EncodeToString([]byte("a" + key + "bc")),
		"base64 in 2":  base64.StdEncoding.EncodeToString([]byte("ab" + key + "c")),
		"base64 in 3":  base64.URLEncoding.EncodeToString([]byte("abc" + key)),
		"base64 lines": lines(base64.StdEncoding.EncodeToString([]byte("ab"+key+"c")), "\n"),
		"and of MIME":  lines(base64.StdEncoding.EncodeToString([]byte(key)), "\r\n"),
		"twice":        key + key,
		"begins twice": key[:5] + key,
	}
}

// lines breaks a text into lines.
func lines(text, end string) string {
	var b strings.Builder
	for len(text) > 9 {
		b.WriteString(text[:9] + end)
		text = text[9:]
	}
	return b.String() + text
}

func TestRedact(t *testing.T) {
	for _, key := range []string{planted, awkward, "12345678"} {
		r := redact.New("another-key-of-them", key)
		for name, text := range shapes(t, key) {
			got := r.Redact("before " + text + " after")
			if !strings.Contains(got, redact.Hidden) || strings.Contains(got, key) || strings.Contains(got, text) {
				t.Errorf("%s: got %s", name, got)
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s: the text around it is gone: %s", name, got)
			}
		}
	}
}

// All of the key but the characters of base64 that it shares with its neighbours is gone.
func TestRedactBase64(t *testing.T) {
	r := redact.New(planted)
	for before := range 6 {
		for after := range 6 {
			text := strings.Repeat("x", before) + planted + strings.Repeat("y", after)
			got := r.Redact(base64.StdEncoding.EncodeToString([]byte(text)))
			if most := (before+after)*8/6 + 4 + len(redact.Hidden); len(got) > most {
				t.Errorf("%d before, %d after: %s is left", before, after, got)
			}
		}
	}
}

func TestRedactLeavesTheRest(t *testing.T) {
	r := redact.New(planted, "none", "ollama")
	for _, text := range []string{"", "none of this is ollama's", planted[:len(planted)-1], "sk-", "\xff\x00"} {
		if got := r.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (&redact.Redactor{}).Redact(planted); got != planted {
		t.Errorf("got %s", got)
	}
}

// Tools cut long lines and long outputs at any byte. Less than half of a key is useless.
func TestRedactCutKeys(t *testing.T) {
	const long = "sk-planted-ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789"
	r := redact.New(long, planted)
	for cut := len(long) / 2; cut <= len(long); cut++ {
		if got := r.Redact("a line with " + long[:cut] + " [cut]"); got != "a line with [hidden] [cut]" {
			t.Errorf("%d bytes of the key: %s", cut, got)
		}
		if got := r.Redact("[cut] " + long[len(long)-cut:] + " ends"); strings.Contains(got, long[len(long)/2:]) {
			t.Errorf("the last %d bytes of the key: %s", cut, got)
		}
	}
	for _, text := range []string{long[:len(long)/2-1] + "!", planted[:len(planted)-1]} {
		if got := r.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A password may have characters that no key has.
func TestHide(t *testing.T) {
	r := redact.New()
	r.Hide("", "pässword of mine", "none")
	if got := r.Redact("none, pässword of mine, p%C3%A4ssword+of+mine"); got != "none, [hidden], [hidden]" {
		t.Errorf("got %s", got)
	}
}

func TestRedactLongest(t *testing.T) {
	r := redact.New("key-12345", "key-12345-and-more")
	if got := r.Redact("key-12345-and-more key-12345-and-mor"); got != "[hidden] [hidden]-and-mor" {
		t.Errorf("got %s", got)
	}
}

// Wherever a text is cut, what comes through is what Redact makes of the whole.
func TestWriter(t *testing.T) {
	r := redact.New(planted, planted+"-longer", awkward, awkward+awkward[1:])
	for name, text := range shapes(t, awkward) {
		text = "a" + text + " " + planted + "-long" + planted[:9] + awkward + awkward[1:12]
		want := r.Redact(text)
		for size := 1; size <= len(text); size++ {
			var out strings.Builder
			w := r.Writer(&out)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if wrote, err := io.WriteString(w, rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Fatalf("%s in parts of %d: got %q, want %q", name, size, out.String(), want)
			}
		}
	}
}

func TestWriterOfLog(t *testing.T) {
	var out strings.Builder
	r := &redact.Redactor{}
	w := r.Writer(&out)
	log := slog.New(slog.NewTextHandler(w, nil))
	r.Hide(planted) // after the writer was made
	log.Info("asking", "url", "https://h/?key="+planted, "err", errors.New(planted))
	if got := out.String(); strings.Contains(got, planted) || !strings.HasSuffix(got, "\n") {
		t.Errorf("got %q", got) // a whole line does not wait
	}
	if _, err := w.Write([]byte(strings.Repeat("x", 100_000))); err != nil || out.Len() < 100_000 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriterThatFails(t *testing.T) {
	w := redact.New(planted).Writer(full{})
	if n, err := w.Write([]byte("hello")); n != 0 || err == nil {
		t.Error(n, err)
	}
	if n, err := w.Write([]byte("sk-")); n != 3 || err != nil {
		t.Error("what waits is written", n, err)
	}
	if err := w.Close(); err == nil {
		t.Error("closing loses what waits")
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a-key-of-mine", "text a-key-of-mine text", 5)
	f.Add("aaaaaaaa", "aaaaaaaaaaaaaaaaab", 3)
	f.Add(awkward, url.QueryEscape(awkward), 20)
	f.Fuzz(func(t *testing.T, secret, text string, cut int) {
		if cut < 0 || cut > len(text) {
			return
		}
		r := redact.New(secret)
		want := r.Redact(text)
		var out strings.Builder
		w := r.Writer(&out)
		_, _ = io.WriteString(w, text[:cut])
		_, _ = io.WriteString(w, text[cut:])
		_ = w.Close()
		if out.String() != want {
			t.Fatalf("got %q, want %q", out.String(), want)
		}
		if s := secret; len(s) >= 8 && !strings.Contains(redact.Hidden, s[:1]) && strings.Contains(want, s) && !strings.ContainsAny(s, "[]") {
			t.Fatalf("%q is left in %q", s, want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := redact.New(planted, awkward, "AIzaSy0123456789")
	text := strings.Repeat(`time=2026-01-01T00:00:00Z level=INFO msg="a usual line of a log" status=200`+"\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Redact(text)
	}
}
