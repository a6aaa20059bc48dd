package files

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// New returns the tools edit, list, read and write for a workspace. They share the memory of what was read.
func New(ws *workspace.Workspace) []tool.Tool {
	s := &set{ws: ws, seen: map[string]version{}}
	return []tool.Tool{s.edit(), s.list(), s.read(), s.write()}
}

// Change is what write and edit did to a file, as the details of their results.
type Change struct {
	Path    string `json:"path"` // from the root of the workspace
	Created bool   `json:"created,omitzero"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitzero"` // unified; empty for files that are binary or large
}

// set is one set of tools.
type set struct {
	ws *workspace.Workspace

	mu   sync.Mutex
	seen map[string]version // by absolute path: what the model knows
}

// version is the hash of a file's content.
type version [sha256.Size]byte

func (s *set) saw(abs string, v version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[abs] = v
}

// fresh returns an error unless v is what the model has seen of the file.
func (s *set) fresh(name, abs string, v version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch seen, ok := s.seen[abs]; {
	case !ok:
		return fmt.Errorf("%s exists and was not read yet; read it first, then change it", name)
	case seen != v:
		return fmt.Errorf("%s has changed since it was read; read it again, then change it", name)
	}
	return nil
}

// current is the version of a file as it is now; ok is false when there is none.
func (s *set) current(name string) (v version, ok bool, err error) {
	f, err := s.ws.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return v, false, err
	}
	return version(hash.Sum(nil)), true, nil
}

// replace writes a file and remembers the new version. What it replaces must be base, which data was made from; without base
// there must be no file.
func (s *set) replace(ctx context.Context, name, abs string, base *version, data []byte) error {
	return s.ws.WriteFile(ctx, name, data, func() error {
		v, exists, err := s.current(name)
		switch {
		case err != nil:
			return err
		case exists && base == nil:
			return fmt.Errorf("%s was created by someone else just now; read it first, then change it", name)
		case base != nil && (!exists || v != *base):
			return fmt.Errorf("%s has changed just now; read it again, then change it", name)
		}
		// Before anyone else can look: who comes next must find this version known.
		s.saw(abs, sha256.Sum256(data))
		return nil
	})
}

// reads is the effects of looking at one file.
func (s *set) reads(name string) (tool.Effects, error) {
	abs, err := s.ws.Resolve(name)
	return tool.Effects{Reads: []tool.Path{tool.File(abs)}, Idempotent: true}, err
}

func (s *set) writes(name string) (tool.Effects, error) {
	abs, err := s.ws.Resolve(name)
	return tool.Effects{Writes: []tool.Path{tool.File(abs)}}, err
}

// missing adds to the error for a file that does not exist what may have been meant.
func (s *set) missing(ctx context.Context, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if near := s.ws.Similar(ctx, name, 5); len(near) > 0 {
		for i, name := range near {
			near[i] = workspace.Quote(name)
		}
		return fmt.Errorf("%s does not exist; did you mean %s?", name, strings.Join(near, ", "))
	}
	return fmt.Errorf("%s does not exist", name)
}

const (
	maxDiff  = 1 << 20  // bytes of a file, beyond which its change is counted but not shown
	maxShown = 64 << 10 // bytes of a diff that are shown
)

// describe compares two versions of a file.
func (s *set) describe(abs, before, after string, created bool) Change {
	c := Change{Path: s.ws.Rel(abs), Created: created}
	if tool.Binary(before) || tool.Binary(after) {
		return c
	}
	if max(len(before), len(after)) > maxDiff {
		c.Added, c.Removed = countLines(after), countLines(before)
		return c
	}
	name := workspace.Quote(c.Path) // its header is one line
	from := "a/" + name
	if created {
		from = "/dev/null"
	}
	c.Diff = udiff.Unified(from, "b/"+name, before, after)
	body := c.Diff
	for _, header := range []string{"--- ", "+++ "} {
		if line, rest, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(line, header) {
			body = rest
		}
	}
	for line := range strings.Lines(body) {
		switch line[0] {
		case '+':
			c.Added++
		case '-':
			c.Removed++
		}
	}
	c.Diff, _ = tool.Bound(c.Diff, maxShown)
	return c
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

//go:embed read.md
var readText string

//go:embed write.md
var writeText string

//go:embed edit.md
var editText string

//go:embed list.md
var listText string
