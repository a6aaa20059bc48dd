package keys

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

// shortest is how many bytes a key must have to be looked for. Shorter ones, such as the "none" that local servers are
// given, would be found in every text.
const shortest = 8

// cuttable is how many bytes a key must have for its halves to be looked for. Half of a shorter one could be found in other texts.
const cuttable = 32

// Redactor replaces keys by "[hidden]" in texts, also where they are escaped for a URL or for JSON, or are in base64, as in
// the header of basic authentication. A key that was cut, as lines and outputs are that are too long, is replaced when half of it
// is there. Keys of less than 8 characters are left alone. It is safe for concurrent use. The zero value knows no keys.
type Redactor struct {
	adding sync.Mutex
	forms  atomic.Pointer[forms]
}

// NewRedactor returns a redactor that knows these keys.
func NewRedactor(keys ...Key) *Redactor {
	r := &Redactor{}
	r.Add(keys...)
	return r
}

// Add makes more keys known, also to the writers that there are.
func (r *Redactor) Add(keys ...Key) {
	secrets := make([]string, len(keys))
	for i, k := range keys {
		secrets[i] = k.Reveal()
	}
	r.Hide(secrets...)
}

// Hide is Add for secrets that need not have the form of a key, such as passwords.
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

// Redact returns text without the keys.
func (r *Redactor) Redact(text string) string {
	out, _ := r.cut(nil, text, true)
	if out == nil {
		return text
	}
	return string(out)
}

// forms is what to look for.
type forms struct {
	all []form     // longest first
	by  [256][]int // their numbers, by the first byte
}

// form is a text to look for.
type form struct {
	text  string
	rest  string // goes too, as much of it as follows the text
	lines bool   // it may be broken into lines, as base64 is
}

// at returns how much of a text that begins with the form is to be hidden, and whether all of text is the beginning of the form.
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

// common returns the length of what two texts both begin with.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// lineBreak returns the length of the line break that a text begins with, or of its first half.
func lineBreak(text string) int {
	switch {
	case strings.HasPrefix(text, "\r\n"):
		return 2
	case strings.HasPrefix(text, "\n"), text == "\r":
		return 1
	}
	return 0
}

// cut appends text without the keys to out, and returns it and what is left because it may be the beginning of a key. When
// it is the last of the text, nothing is left, and out stays nil when there is no key in the text.
func (r *Redactor) cut(out []byte, text string, last bool) (cleaned []byte, left string) {
	f := r.forms.Load()
	if f == nil {
		f = &forms{}
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

// at returns the length of the longest form that text begins with, and whether all of text is the beginning of a longer one.
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

// spellings returns the ways in which a key may stand in a text, but for base64.
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

// base64s returns the parts of base64 that a key makes, whatever stands before and behind it: three, because three bytes
// are four characters, each in two alphabets. The characters at the ends depend on the neighbours and are left out, but not at the
// beginning of a text and at its end, where there are none.
func base64s(key string) []string {
	if len(key) < shortest {
		return nil
	}
	var all []string
	for before := range 3 {
		text := strings.Repeat("\x00", before) + key
		first := (before*8 + 5) / 6 // the first character that is of the key alone
		end := len(text) * 8 / 6    // behind the last one that is
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			whole := e.EncodeToString([]byte(text))
			all = append(all, whole[first:end], whole[first:])
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < shortest })
}

// Writer returns a writer that passes on to w what is written to it, without the keys, also where a key comes in two parts.
// What may be the beginning of a key waits for the next write, or for Close, which does not close w. It is safe for concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &writer{redactor: r, to: w} }

// keepBuffer is how many bytes a writer keeps for the next write.
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

// pass writes text but for what may be the beginning of a key.
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
