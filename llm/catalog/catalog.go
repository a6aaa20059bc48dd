package catalog

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

//go:embed models.json
var embedded string

// Catalog is a collection of models. It does not change and is safe for concurrent use.
type Catalog struct {
	layers []layer // the first that has a model wins
}

// Embedded returns the catalog that comes with the program. It costs nothing.
func Embedded() *Catalog { return &Catalog{layers: []layer{{text: embedded}}} }

// Open returns the embedded catalog merged with the one that [Update] wrote to a file. If both know a model, the catalog
// with the later date wins; on the same date the file wins. A missing file is not an error. If the file is unusable, the
// error says why and Open still returns the embedded catalog: the result is never nil.
func Open(file string) (*Catalog, error) {
	text, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Embedded(), nil
	}
	if err != nil {
		return Embedded(), fmt.Errorf("catalog: %w", err)
	}
	ours, err := open(embedded)
	if err != nil {
		return Embedded(), fmt.Errorf("catalog: embedded: %w", err)
	}
	theirs, err := open(text)
	if err != nil {
		return Embedded(), fmt.Errorf("catalog: %s cannot be used: %w; update it, or remove it to use the models that come with the program", file, err)
	}
	if theirs.Updated < ours.Updated {
		return &Catalog{layers: []layer{ours, theirs}}, nil
	}
	return &Catalog{layers: []layer{theirs, ours}}, nil
}

// read returns the text of a file of bounded size.
func read(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() <= maxSize {
		b.Grow(int(info.Size()))
	}
	n, err := io.Copy(&b, io.LimitReader(f, maxSize+1))
	if err != nil {
		return "", err
	}
	if n > maxSize {
		return "", fmt.Errorf("%s has more than %d bytes; remove it", file, maxSize)
	}
	return b.String(), nil
}

// With returns a catalog in which these entries are right about their models, and c about all others. The error names the
// entry that is wrong.
func (c *Catalog) With(entries ...Entry) (*Catalog, error) {
	if len(entries) == 0 {
		return c, nil
	}
	l, err := layout(header{Version: version, Updated: c.Updated()}, entries)
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return &Catalog{layers: append([]layer{l}, c.layers...)}, nil
}

// Updated returns the day of the newest part of the catalog, as 2006-01-02.
func (c *Catalog) Updated() string {
	var newest string
	for _, l := range c.layers {
		if l.Updated == "" { // the embedded one, not looked at yet
			l, _ = open(l.text)
		}
		newest = max(newest, l.Updated)
	}
	return newest
}

// Model returns the known facts about a model. If the catalog lacks the model, the result is a usable model with only its
// names, and false.
func (c *Catalog) Model(provider, id string) (llm.Model, bool) {
	if e, ok := c.Entry(provider, id); ok {
		return e.Model, true
	}
	return llm.Model{Provider: provider, ID: id}, false
}

// Entry returns all that the catalog has about a model, and whether it is there.
func (c *Catalog) Entry(provider, id string) (Entry, bool) {
	for _, l := range c.layers {
		if line, ok := l.find(provider, id); ok {
			if e, ok := decode(line); ok {
				return e, true
			}
		}
	}
	return Entry{}, false
}

// All returns the models, sorted by provider and ID.
func (c *Catalog) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for line := range c.lines() {
			if e, ok := decode(line); ok && !yield(e) {
				return
			}
		}
	}
}

// lines returns the line of each model in order, of the first layer that has it.
func (c *Catalog) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		rest := make([]string, len(c.layers))
		for i, l := range c.layers {
			rest[i] = l.lines()
		}
		for {
			line := first(rest)
			if line == "" || !yield(line) {
				return
			}
			p, id, _ := names(line)
			for i, r := range rest { // and everything below it
				head, after, _ := strings.Cut(r, "\n")
				if hp, hid, _ := names(head); r != "" && hp == p && hid == id {
					rest[i] = after
				}
			}
		}
	}
}

// first returns the line that comes first of those that the parts begin with.
func first(parts []string) string {
	var heads []string
	for _, part := range parts {
		if head, _, _ := strings.Cut(part, "\n"); head != "" {
			heads = append(heads, head)
		}
	}
	if len(heads) == 0 {
		return ""
	}
	return slices.MinFunc(heads, func(a, b string) int { // the first of equal ones
		ap, aid, _ := names(a)
		bp, bid, _ := names(b)
		if ap != bp {
			return strings.Compare(ap, bp)
		}
		return strings.Compare(aid, bid)
	})
}
