package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// version is the format that this program reads.
const version = 1

// maxSize is how many bytes a catalog may have.
const maxSize = 8 << 20

// header is all of a document but the models. Source and ETag are where a downloaded one came from.
type header struct {
	Version int    `json:"version"`
	Updated string `json:"updated"`
	Source  string `json:"source,omitzero"`
	ETag    string `json:"etag,omitzero"`
}

// check returns an error for an invalid header.
func (h header) check() error {
	if h.Version != version {
		return fmt.Errorf("its version is %d, and this program reads version %d", h.Version, version)
	}
	if _, err := time.Parse(time.DateOnly, h.Updated); err != nil {
		return fmt.Errorf("updated is %.40q, not a day such as 2006-01-02", h.Updated)
	}
	return nil
}

// Parse reads a catalog and checks every model in it. The catalog has nothing but these models. The error names the
// mistake and the model: Parse takes a catalog as a whole or not at all.
func Parse(data []byte) (*Catalog, error) {
	l, err := parse(data, "", "")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return &Catalog{layers: []layer{l}}, nil
}

func parse(data []byte, source, etag string) (layer, error) {
	if len(data) > maxSize {
		return layer{}, fmt.Errorf("it has %d bytes, more than %d", len(data), maxSize)
	}
	var doc struct {
		header
		Models []Entry `json:"models"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return layer{}, fmt.Errorf("not a catalog in JSON: %w", err)
	}
	if err := doc.check(); err != nil {
		return layer{}, err
	}
	doc.Source, doc.ETag = source, etag
	return layout(doc.header, doc.Models)
}

// layout checks and sorts entries and writes them as a layer.
func layout(h header, entries []Entry) (layer, error) {
	if len(entries) == 0 || len(entries) > maxEntries {
		return layer{}, fmt.Errorf("it has %d models; there must be 1 to %d", len(entries), maxEntries)
	}
	entries = slices.Clone(entries)
	for i, e := range entries {
		checked, err := e.check()
		if err != nil {
			return layer{}, err
		}
		entries[i] = checked
	}
	slices.SortFunc(entries, compare)
	var b bytes.Buffer
	head, err := json.Marshal(h)
	if err != nil {
		return layer{}, err
	}
	b.Write(head[:len(head)-1])
	b.WriteString(opening)
	for i, e := range entries {
		if i > 0 {
			if compare(entries[i-1], e) == 0 {
				return layer{}, fmt.Errorf("model %s is there twice", e.Ref())
			}
			b.WriteString(",\n")
		}
		line, err := json.Marshal(e)
		if err != nil {
			return layer{}, err
		}
		b.Write(line)
	}
	b.WriteString(closing)
	return layer{text: b.String(), header: h}, nil
}

// The text before and after the lines of the models.
const (
	opening = `,"models":[` + "\n"
	closing = "\n]}\n"
)

// layer is a document as layout writes it: after the header, a model on each line. Only the header is looked at before a
// model is asked for.
type layer struct {
	header
	text string
}

// open returns the layer of a document that layout wrote.
func open(text string) (layer, error) {
	head, _, ok := strings.Cut(text, opening)
	if !ok || !strings.HasSuffix(text, closing) {
		return layer{}, fmt.Errorf("it is not whole, or was not written by this program")
	}
	l := layer{text: text}
	if err := json.Unmarshal([]byte(head+"}"), &l.header); err != nil {
		return layer{}, err
	}
	return l, l.check()
}

// lines returns the part of the text that has the models.
func (l layer) lines() string {
	_, lines, _ := strings.Cut(l.text, opening)
	return strings.TrimSuffix(lines, closing)
}

// find returns the line of a model by binary search.
func (l layer) find(provider, id string) (string, bool) {
	for lines := l.lines(); lines != ""; {
		start := strings.LastIndexByte(lines[:len(lines)/2], '\n') + 1
		line, after, _ := strings.Cut(lines[start:], "\n")
		p, i, ok := names(line)
		if !ok {
			return "", false
		}
		switch order := strings.Compare(provider, p); {
		case order == 0 && id == i:
			return line, true
		case order < 0 || order == 0 && id < i:
			lines = strings.TrimSuffix(lines[:start], "\n")
		default:
			lines = after
		}
	}
	return "", false
}

// names returns the provider and the ID at the beginning of a line. They have no character that JSON escapes.
func names(line string) (provider, id string, ok bool) {
	rest, ok := strings.CutPrefix(line, `{"provider":"`)
	if !ok {
		return "", "", false
	}
	if provider, rest, ok = strings.Cut(rest, `","id":"`); !ok {
		return "", "", false
	}
	id, _, ok = strings.Cut(rest, `"`)
	return provider, id, ok
}

// decode reads a line. A line that is not as layout writes it is as none.
func decode(line string) (Entry, bool) {
	var e Entry
	if json.Unmarshal([]byte(strings.TrimSuffix(line, ",")), &e) != nil {
		return Entry{}, false
	}
	e, err := e.check()
	return e, err == nil
}
