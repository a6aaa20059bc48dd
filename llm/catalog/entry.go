package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Entry has the facts that the catalog knows about a model.
//
// JSON: the fields of [llm.Model] and these, by their names in lower case, empty ones left out.
type Entry struct {
	llm.Model
	Name       string                  `json:"name,omitzero"`       // for people
	Released   string                  `json:"released,omitzero"`   // the day, the month or the year: 2006-01-02, 2006-01 or 2006
	Deprecated string                  `json:"deprecated,omitzero"` // why not to use it any more, and what to use; empty: not deprecated
	Variants   map[string]llm.Settings `json:"variants,omitempty"`  // ways to ask the model, by name
}

// Bounds of an entry. They are far above all real values, and keep out nonsense.
const (
	maxName    = 256         // bytes of a provider, an ID, a name or a note
	maxTokens  = 100_000_000 // of context and output
	maxPrice   = 10_000      // dollars for a million tokens
	maxList    = 32          // levels, quirks and variants
	maxEntries = 50_000
)

// compare orders entries by provider and ID.
func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
}

// check returns the entry without levels that this program does not know, or an error that names the mistake in it.
func (e Entry) check() (Entry, error) {
	if err := e.checkNames(); err != nil {
		return Entry{}, err
	}
	fail := func(format string, args ...any) (Entry, error) {
		return Entry{}, fmt.Errorf("model %s: "+format, append([]any{e.Ref()}, args...)...)
	}
	if e.Context < 0 || e.Context > maxTokens || e.MaxOutput < 0 || e.MaxOutput > maxTokens {
		return fail("context and max_output must be from 0 to %d tokens", maxTokens)
	}
	if e.Context > 0 && e.MaxOutput > e.Context {
		return fail("max_output %d is more than context %d", e.MaxOutput, e.Context)
	}
	for _, p := range []float64{e.Price.Input, e.Price.CacheRead, e.Price.CacheWrite, e.Price.Output} {
		if !(p >= 0 && p <= maxPrice) { // not a number is refused too
			return fail("prices must be from 0 to %d dollars for a million tokens", maxPrice)
		}
	}
	if e.Price.CacheRead > e.Price.Input {
		return fail("reading from the cache costs %v, more than the input at %v", e.Price.CacheRead, e.Price.Input)
	}
	if !isDay(e.Released) {
		return fail("released is %q; write it as 2006-01-02, 2006-01 or 2006", e.Released)
	}
	if len(e.Thinks) > maxList || len(e.Quirks) > maxList || len(e.Variants) > maxList {
		return fail("more than %d thinking levels, quirks or variants", maxList)
	}
	for _, q := range e.Quirks {
		if !isWord(string(q)) {
			return fail("quirk %q must be a word of a-z, 0-9 and _", q)
		}
	}
	e.Variants = maps.Clone(e.Variants)
	for name, v := range e.Variants {
		if !isWord(name) || v.MaxTokens < 0 || v.MaxTokens > maxTokens || v.Temperature != nil && !(*v.Temperature >= 0 && *v.Temperature <= 2) {
			return fail("variant %q: its name must be a word of a-z, 0-9 and _, max_tokens from 0 to %d, temperature from 0 to 2", name, maxTokens)
		}
		if v.Thinking != llm.ThinkProvider && !slices.Contains(llm.Levels(), v.Thinking) {
			v.Thinking = llm.ThinkDefault
			e.Variants[name] = v
		}
	}
	e.Thinks = slices.DeleteFunc(slices.Clone(e.Thinks), func(t llm.Thinks) bool { return !slices.Contains(llm.Levels(), t) })
	if !slices.Contains(llm.Levels(), e.Thinking) {
		e.Thinking = llm.ThinkDefault
	}
	if len(e.Thinks) == 0 {
		e.Thinks = nil
	}
	return e, nil
}

func (e Entry) checkNames() error {
	if !isName(e.Provider, "") {
		return fmt.Errorf("provider %.40q must be 1 to %d of a-z A-Z 0-9 . _ -", e.Provider, maxName)
	}
	if !isName(e.ID, "/:@+") {
		return fmt.Errorf("ID %.40q of provider %s must be 1 to %d of a-z A-Z 0-9 . _ - / : @ +", e.ID, e.Provider, maxName)
	}
	if !isText(e.Name) || !isText(e.Deprecated) {
		return fmt.Errorf("model %s: name and deprecated must be a line of at most %d bytes", e.Ref(), maxName)
	}
	return nil
}

// isName reports whether s is a name in letters, digits, ".", "_", "-" and what else may be in it. None of them is escaped
// in JSON: a line of a catalog is found by its bytes.
func isName(s, others string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && !isDigit(c) && !slices.Contains([]byte("._-"+others), c) {
			return false
		}
	}
	return true
}

// isWord reports whether s is a short name in lower case.
func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= 40
}

// isText reports whether s is a short line of text.
func isText(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\ufffd' {
			return false
		}
	}
	return len(s) <= maxName
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isDay reports whether s is empty, or a day, a month or a year.
func isDay(s string) bool {
	for _, layout := range []string{time.DateOnly, "2006-01", "2006", ""} {
		if len(s) == len(layout) {
			_, err := time.Parse(layout, s)
			return err == nil
		}
	}
	return false
}
