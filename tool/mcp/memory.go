package mcp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
)

// The limits of what a server offers.
const (
	maxTools       = 1000
	maxPages       = 200
	maxDescription = 2 << 10 // bytes of one description
	maxMemory      = 16 << 20
)

// Offer is one tool of a server as the model sees it.
type Offer struct {
	Name        string          `json:"name"` // of the server
	Description string          `json:"description,omitzero"`
	Schema      json.RawMessage `json:"schema,omitzero"` // one line
	Hash        string          `json:"hash"`            // of the tool as the server sent it
}

// Argument is an argument of a [Prompt].
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// memory is what earlier connections to a server have learned.
type memory struct {
	Server    string       `json:"server"`
	At        time.Time    `json:"at"`
	Tools     []Offer      `json:"tools"`             // that the person accepted
	Pending   []Offer      `json:"pending,omitzero"`  // the whole list of the server, if it has new or changed tools
	Protocol  string       `json:"protocol,omitzero"` // the version to begin with; "": the newest
	Resources bool         `json:"resources,omitzero"`
	Prompts   []promptInfo `json:"prompts,omitzero"`
	Cut       int          `json:"cut,omitzero"` // tools beyond the limit
	Sum       uint32       `json:"sum"`          // of the schemas in the file
}

type promptInfo struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitzero"`
	Arguments   []Argument `json:"arguments,omitzero"`
}

// Difference is how the tools of a server differ from those that the person accepted.
type Difference struct {
	Added   []string `json:"added,omitzero"`
	Changed []string `json:"changed,omitzero"`
	Removed []string `json:"removed,omitzero"`
}

// Empty reports whether there is no difference.
func (d Difference) Empty() bool { return len(d.Added)+len(d.Changed)+len(d.Removed) == 0 }

// String returns the names with their signs: "+new, ~changed, -removed".
func (d Difference) String() string {
	var all []string
	for _, part := range []struct {
		sign  string
		names []string
	}{{"+", d.Added}, {"~", d.Changed}, {"-", d.Removed}} {
		for _, name := range part.names {
			all = append(all, part.sign+name)
		}
	}
	if more := len(all) - 12; more > 0 {
		all = append(all[:12], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// compare returns the difference between an accepted list and a new one.
func compare(accepted, now []Offer) (d Difference) {
	was := make(map[string]string, len(accepted))
	for _, o := range accepted {
		was[o.Name] = o.Hash
	}
	for _, o := range now {
		hash, known := was[o.Name]
		switch {
		case !known:
			d.Added = append(d.Added, o.Name)
		case hash != o.Hash:
			d.Changed = append(d.Changed, o.Name)
		}
		delete(was, o.Name)
	}
	for _, o := range accepted {
		if _, left := was[o.Name]; left {
			d.Removed = append(d.Removed, o.Name)
		}
	}
	return d
}

// offerOf returns a tool of a server as the model sees it, pinned.
func offerOf(t *mcp.Tool) Offer {
	pinned, err := json.Marshal([]any{t.Name, t.Description, t.InputSchema})
	if err != nil {
		pinned = []byte(t.Name)
	}
	sum := sha256.Sum256(pinned)
	text := t.Description
	if text == "" {
		text = t.Title
	}
	return Offer{Name: t.Name, Description: clean(text, maxDescription), Schema: schemaOf(t.InputSchema), Hash: hex.EncodeToString(sum[:])}
}

// clean makes a text of a server safe to show, and cuts it.
func clean(text string, limit int) string {
	text = term.Harmless(strings.TrimSpace(text))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + " …"
}

// load reads the memory of a server; nil: there is none, or it is damaged.
func load(file string) *memory {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMemory {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	head, schemas, _ := bytes.Cut(data, []byte("\n"))
	m := new(memory)
	if json.Unmarshal(head, m) != nil || crc32.ChecksumIEEE(schemas) != m.Sum {
		return nil
	}
	for _, offers := range [][]Offer{m.Tools, m.Pending} {
		for i := range offers {
			offers[i].Schema, schemas, _ = bytes.Cut(schemas, []byte("\n"))
			if offers[i].Name == "" || len(offers[i].Schema) == 0 {
				return nil
			}
		}
	}
	return m
}

// save writes the memory of a server in one step. The first line has everything but the schemas, and each further line has one schema, so that a
// start need not parse them.
func (m *memory) save(file string) error {
	if file == "" {
		return nil
	}
	var schemas []byte
	for _, o := range slices.Concat(m.Tools, m.Pending) {
		schemas = append(append(schemas, o.Schema...), '\n')
	}
	head := *m
	head.Tools, head.Pending, head.Sum = bare(m.Tools), bare(m.Pending), crc32.ChecksumIEEE(schemas)
	data, err := json.Marshal(head)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".list-*")
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Concat(data, []byte("\n"), schemas))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// bare returns offers without their schemas.
func bare(offers []Offer) []Offer {
	offers = slices.Clone(offers)
	for i := range offers {
		offers[i].Schema = nil
	}
	return offers
}

// sorted returns offers by name, each name once: the order of a server may change without a reason.
func sorted(offers []Offer) []Offer {
	slices.SortStableFunc(offers, func(a, b Offer) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(offers, func(a, b Offer) bool { return a.Name == b.Name })
}
