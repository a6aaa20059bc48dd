package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Hidden replaces a secret.
const Hidden = "[hidden]"

// shortest is the minimum length of a secret in bytes. A shorter one, such as the "none" for local servers, would match in many texts.
const shortest = 8

// cuttable is the minimum length in bytes of a secret with hidden halves. Half of a shorter secret could match in other texts.
const cuttable = 32

// Redactor replaces secrets with [Hidden] in texts, also if they are escaped for a URL or for JSON, or encoded in base64 as in
// the header of basic authentication. It replaces a truncated secret of 32 bytes or more if the text contains half of it. It ignores
// secrets of less than 8 bytes. A Redactor is safe for concurrent use. The zero value and a nil Redactor hide nothing.
type Redactor struct {
	adding sync.Mutex
	forms  atomic.Pointer[forms]
}

// New returns a redactor that hides these secrets.
func New(secrets ...string) *Redactor {
	r := &Redactor{}
	r.Hide(secrets...)
	return r
}

// Hide adds secrets. Existing writers and tools hide them too.
func (r *Redactor) Hide(secrets ...string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	next := &forms{}
	if old := r.forms.Load(); old != nil {
		next.all = slices.Clone(old.all)
	}
	for _, s := range secrets {
		for _, text := range spellings(s) {
			next.all = append(next.all, form{text: text})
		}
		for _, text := range base64s(s) {
			next.all = append(next.all, form{text: text, lines: true})
		}
		if half := len(s) / 2; len(s) >= cuttable {
			next.all = append(next.all, form{text: s[:half], rest: s[half:]}, form{text: s[half:]})
		}
	}
	slices.SortFunc(next.all, func(a, b form) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text), cmp.Compare(b.rest, a.rest))
	})
	next.all = slices.Compact(next.all)
	for i, f := range next.all {
		next.by[f.text[0]] = append(next.by[f.text[0]], i)
	}
	r.forms.Store(next)
}

// Redact returns text with every secret replaced.
func (r *Redactor) Redact(text string) string {
	out, _ := r.cut(nil, text, true)
	if out == nil {
		return text
	}
	return string(out)
}

// forms are the texts to search for.
type forms struct {
	all []form     // longest first
	by  [256][]int // their indexes, by the first byte
}

// form is a text to search for.
type form struct {
	text  string
	rest  string // the redactor also hides the part of rest that follows the text
	lines bool   // line breaks may interrupt it, as in base64
}

// at returns the number of bytes to hide if text begins with the form. Partly reports whether all of text is a prefix of the form.
func (f form) at(text string) (found int, partly bool) {
	if !f.lines {
		if strings.HasPrefix(text, f.text) {
			return len(f.text) + common(text[len(f.text):], f.rest), false
		}
		return 0, len(text) < len(f.text) && strings.HasPrefix(f.text, text)
	}
	n := 0
	for i := range len(f.text) {
		if i > 0 {
			n += lineBreak(text[n:])
		}
		switch {
		case n == len(text):
			return 0, true
		case text[n] != f.text[i]:
			return 0, false
		}
		n++
	}
	return n, false
}

// common returns the length of the common prefix of two texts.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// lineBreak returns the length of the line break at the beginning of a text, or of its first half.
func lineBreak(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case strings.HasPrefix(text, "\n"), text == "\r":
		return 1
	}
	return 0
}

// cut appends text without the keys to out. It returns the result, and the rest of text that may be the beginning of a key. If
// last is set, there is no rest. If last is set, out is nil and text has no key, cut returns nil.
func (r *Redactor) cut(out []byte, text string, last bool) (cleaned []byte, left string) {
	f := &forms{}
	if r != nil && r.forms.Load() != nil {
		f = r.forms.Load()
	}
	from := 0
	for i := 0; i < len(text); {
		found, partly := f.at(text[i:])
		switch {
		case partly && !last:
			return append(out, text[from:i]...), text[i:]
		case found > 0:
			out = append(append(out, text[from:i]...), Hidden...)
			i += found
			from = i
		default:
			i++
		}
	}
	if last && from == 0 && out == nil {
		return nil, ""
	}
	return append(out, text[from:]...), ""
}

// at returns the length of the longest form at the beginning of text. Partly reports whether all of text is a prefix of a longer form.
func (f *forms) at(text string) (found int, partly bool) {
	for _, n := range f.by[text[0]] {
		found, begun := f.all[n].at(text)
		if found > 0 {
			return found, partly
		}
		partly = partly || begun
	}
	return 0, partly
}

// spellings returns the spellings of a key in a text, except base64.
func spellings(key string) []string {
	if len(key) < shortest {
		return nil
	}
	all := []string{key, url.QueryEscape(key), url.PathEscape(key)}
	if quoted, err := json.Marshal(key); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	plain := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) // JSON without the escapes for HTML
	all = append(all, plain, strings.ReplaceAll(plain, "/", `\/`))
	for _, s := range all[1:3] {
		all = append(all, lowerEscapes(s))
	}
	return all
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
			i += 2
		}
	}
	return string(b)
}

// base64s returns the parts of base64 texts that depend only on the key. There are three alignments, because base64 encodes three
// bytes as four characters, and two alphabets. The characters at the ends depend on the adjacent bytes, so base64s omits them, except
// at the beginning and the end of a text.
func base64s(key string) []string {
	if len(key) < shortest {
		return nil
	}
	var all []string
	for before := range 3 {
		text := strings.Repeat("\x00", before) + key
		first := (before*8 + 5) / 6 // the first character that depends only on the key
		end := len(text) * 8 / 6    // after the last such character
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			whole := e.EncodeToString([]byte(text))
			all = append(all, whole[first:end], whole[first:])
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < shortest })
}

// Writer returns a writer that redacts text and passes it on to w, also if a secret arrives in two writes. It holds a possible beginning
// of a secret until the next write or Close. Close does not close w. The writer is safe for concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &writer{redactor: r, to: w} }

// keepBuffer is the maximum size of a buffer that a writer reuses.
const keepBuffer = 64 << 10

type writer struct {
	redactor *Redactor
	mu       sync.Mutex
	to       io.Writer
	left     string // the beginning of a form, with its line breaks
	out      []byte
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.pass(w.left+string(p), false); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pass(w.left, true)
}

// pass writes text, except an end that may be the beginning of a key.
func (w *writer) pass(text string, last bool) error {
	if w.out == nil {
		w.out = []byte{}
	}
	w.out, w.left = w.redactor.cut(w.out[:0], text, last)
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.to.Write(w.out)
	if cap(w.out) > keepBuffer {
		w.out = nil
	}
	return err
}
