package artifact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace/contents"
)

const (
	maxSize  = 1 << 20  // bytes of one artifact
	maxTotal = 32 << 20 // of all
	maxFiles = 200
	maxPart  = 50 << 10 // bytes of one read
	maxName  = 100      // bytes of a name
)

type arguments struct {
	Name    string `json:"name,omitempty" jsonschema:"name of the text; missing for a list"`
	Content string `json:"content,omitempty" jsonschema:"the whole text to save"`
	Offset  int    `json:"offset,omitempty" jsonschema:"first byte to read, default 0"`
}

// Kept is the details of a call. The saved ones, in their order, are the artifacts of a session.
type Kept struct {
	Name  string `json:"name,omitzero"` // none for a list
	Hash  string `json:"hash,omitzero"` // of the content in the store
	File  string `json:"file,omitzero"` // with the content, absolute; empty if the store has no files
	Bytes int    `json:"bytes"`         // of the artifact, or of all
	Saved bool   `json:"saved,omitzero"`
	Files int    `json:"files,omitzero"` // of a list
}

// Options describe the artifacts of a session.
type Options struct {
	Store contents.Store // keeps the texts

	// Dir stands for the artifacts in the effects of a call, an absolute path. The tool writes nothing there.
	Dir string

	// Saved returns the details of the calls that saved an artifact in earlier processes, in their order. The tool calls it once, when it
	// is first used. Nil: there were none.
	Saved func(ctx context.Context) ([]Kept, error)
}

// New returns the tool artifact. No two calls write at the same time.
func New(o Options) tool.Tool {
	s := &set{Options: o}
	return tool.New("artifact", artifactText, s.effects,
		func(ctx context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.recall(ctx); err != nil {
				return tool.Result{}, fmt.Errorf("cannot list the artifacts of this session: %w", err)
			}
			switch {
			case args.Content != "":
				return s.save(ctx, args.Name, args.Content)
			case args.Name != "":
				return s.read(ctx, args.Name, args.Offset)
			}
			return s.list(), nil
		}, tool.WithTitle(func(args arguments) string { return args.Name }))
}

// set is the artifacts of a session.
type set struct {
	Options

	mu   sync.Mutex
	all  map[string]Kept // by name; nil: Saved was not called yet
	size int             // bytes of all
}

// recall finds the artifacts of earlier processes.
func (s *set) recall(ctx context.Context) error {
	if s.all != nil {
		return nil
	}
	var saved []Kept
	if s.Saved != nil {
		var err error
		if saved, err = s.Saved(ctx); err != nil {
			return err
		}
	}
	s.all = map[string]Kept{}
	for _, k := range saved {
		if k.Saved && checkName(k.Name) == nil {
			s.add(k)
		}
	}
	return nil
}

func (s *set) add(k Kept) {
	s.size += k.Bytes - s.all[k.Name].Bytes
	s.all[k.Name] = k
}

func (s *set) effects(_ context.Context, args arguments) (tool.Effects, error) {
	if args.Name == "" && args.Content == "" {
		return tool.Effects{Reads: []tool.Path{tool.Tree(s.Dir)}, Idempotent: true}, nil
	}
	if err := checkName(args.Name); err != nil {
		return tool.Effects{}, err
	}
	file := []tool.Path{tool.File(filepath.Join(s.Dir, args.Name))}
	if args.Content == "" {
		return tool.Effects{Reads: file, Idempotent: true}, nil
	}
	if len(args.Content) > maxSize {
		return tool.Effects{}, tool.Codef("tool.too_large", "the content has %d bytes, more than %d; save it in parts", len(args.Content), maxSize)
	}
	return tool.Effects{Writes: file, Idempotent: true}, nil
}

// checkName refuses names that could mean something else on some system: the artifact may become a file.
func checkName(name string) error {
	const extra = "-_.+ "
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(extra, r)
	}
	switch {
	case name == "":
		return tool.Codef("tool.arguments", "name is missing; give the content a name")
	case len(name) > maxName:
		return tool.Codef("tool.arguments", "the name has %d bytes, more than %d", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return tool.Codef("tool.arguments", "the name %q is not plain; use letters, digits, and %q", name, extra)
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, " ") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return tool.Codef("tool.arguments", "the name %q begins or ends with a dot or a space", name)
	}
	return nil
}

func (s *set) save(ctx context.Context, name, content string) (tool.Result, error) {
	old, replaced := s.all[name]
	switch {
	case !replaced && len(s.all) >= maxFiles:
		return tool.Result{}, tool.Codef("tool.too_large", "artifact %s: there are already %d artifacts; replace one of them", name, len(s.all))
	case s.size-old.Bytes+len(content) > maxTotal:
		return tool.Result{}, tool.Codef("tool.too_large", "artifact %s: all artifacts would have %d bytes, more than %d; make one of them shorter",
			name, s.size-old.Bytes+len(content), maxTotal)
	}
	kept, err := contents.Put(ctx, s.Store, strings.NewReader(content))
	if err == nil && kept.Lost != "" {
		err = errors.New(kept.Lost)
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("artifact %s: %w", name, err)
	}
	k := Kept{Name: name, Hash: kept.Hash, File: s.file(ctx, kept.Hash), Bytes: len(content), Saved: true}
	s.add(k)
	verb := "saved"
	if replaced {
		verb = "replaced"
	}
	return tool.TextResult(fmt.Sprintf("%s %s: %d bytes", verb, name, len(content))).With(fmt.Sprintf("%s, %d bytes", verb, len(content)), k), nil
}

// file returns the file of a content, if the store has files.
func (s *set) file(ctx context.Context, hash string) string {
	if _, ok := s.Store.(*contents.Dir); !ok {
		return ""
	}
	name, _ := contents.File(ctx, s.Store, hash, "") // it is not needed
	return name
}

func (s *set) read(ctx context.Context, name string, offset int) (tool.Result, error) {
	k, ok := s.all[name]
	if !ok {
		return tool.Result{}, tool.Codef("tool.not_found", "artifact %s not found; call the tool without a name for a list", name)
	}
	text, err := contents.Get(ctx, s.Store, k.Hash)
	if err != nil {
		return tool.Result{}, fmt.Errorf("artifact %s: %w", name, err)
	}
	data := strings.ToValidUTF8(string(text), "\ufffd")
	first, last := tool.Part(data, offset, tool.Limit(ctx, maxPart))
	shown := data[first:last]
	if first > 0 || last < len(data) {
		note := fmt.Sprintf("bytes %d-%d of %d", first, last, len(data))
		if last < len(data) {
			note += fmt.Sprintf("; continue with offset %d", last)
		}
		if shown != "" && !strings.HasSuffix(shown, "\n") {
			shown += "\n"
		}
		shown += "[" + note + "]"
	}
	return tool.TextResult(shown).With(tool.Count(last-first, "byte"), Kept{Name: name, Hash: k.Hash, File: k.File, Bytes: len(data)}), nil
}

func (s *set) list() tool.Result {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		fmt.Fprintf(&b, "%s (%d bytes)\n", name, s.all[name].Bytes)
	}
	if len(s.all) == 0 {
		b.WriteString("[no artifacts yet]")
	}
	return tool.TextResult(strings.TrimSuffix(b.String(), "\n")).With(tool.Count(len(s.all), "artifact"), Kept{Files: len(s.all), Bytes: s.size})
}

//go:embed artifact.md
var artifactText string
