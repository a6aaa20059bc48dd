package transfer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// openCodeFiles is a directory "storage". File contents name further files, so the reader opens nothing outside of the directory.
type openCodeFiles struct {
	root    *os.Root
	project string              // the directory of the sessions' files, below the root
	name    *regexp.Regexp      // valid file names
	below   map[string][]string // sub-agents by the session that has them, once they were asked for
}

func newOpenCodeFiles(file string) (*openCodeFiles, error) {
	dir := filepath.Dir(file)
	base := filepath.Dir(filepath.Dir(dir))
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	project, err := filepath.Rel(base, dir)
	return &openCodeFiles{root: root, project: project, name: regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)}, err
}

func (s *openCodeFiles) Close() error { return s.root.Close() }

// file reads a JSON file below the root.
func (s *openCodeFiles) file(name string) ([]byte, error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLine {
		return nil, fmt.Errorf("%s is no regular file of at most %d MB", name, maxLine>>20)
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only
	return io.ReadAll(io.LimitReader(f, maxLine))
}

// names returns the names of the JSON files of a directory, in order.
func (s *openCodeFiles) names(dir string) ([]string, error) {
	f, err := s.root.Open(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // read-only
	all, err := f.Readdirnames(-1)
	all = slices.DeleteFunc(all, func(n string) bool { return filepath.Ext(n) != ".json" })
	slices.Sort(all)
	return all, err
}

func (s *openCodeFiles) session(_ context.Context, id string) (object, error) {
	if !s.name.MatchString(id) {
		return nil, fmt.Errorf("%q is no name of a session", id)
	}
	data, err := s.file(filepath.Join(s.project, id+".json"))
	if err != nil {
		return nil, err
	}
	return objectOf(data)
}

func (s *openCodeFiles) children(ctx context.Context, id string) ([]string, error) {
	if s.below != nil {
		return s.below[id], nil
	}
	names, err := s.names(s.project)
	below := map[string][]string{}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name = strings.TrimSuffix(name, ".json")
		if info, err := s.session(ctx, name); err == nil && info.text("parentID") != "" {
			below[info.text("parentID")] = append(below[info.text("parentID")], name)
		}
	}
	s.below = below
	return below[id], err
}

func (s *openCodeFiles) messages(ctx context.Context, id string, f func(string, []byte) error) error {
	return s.each(ctx, "message", id, f)
}

func (s *openCodeFiles) parts(ctx context.Context, id string, f func(string, []byte) error) error {
	return s.each(ctx, "part", id, f)
}

func (s *openCodeFiles) each(ctx context.Context, kind, id string, f func(string, []byte) error) error {
	if !s.name.MatchString(id) {
		return f(kind+"/"+brief(id, 40), []byte("null")) // hostile, and counted by the reader
	}
	dir := filepath.Join(kind, id)
	names, err := s.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		data, err := s.file(path)
		if err != nil {
			data = []byte("\"" + strings.ToValidUTF8(name, "") + "\"") // an unreadable file counts as malformed
		}
		if err := f(filepath.ToSlash(path), data); err != nil {
			return err
		}
	}
	return nil
}

func (s *openCodeFiles) todo(_ context.Context, id string) (items []object, err error) {
	data, err := s.file(filepath.Join("todo", id+".json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err == nil {
		err = decode(data, &items)
	}
	return items, err
}

// ---- Discovery.

func findOpenCode(ctx context.Context, p Places) (found []Source, err error) {
	base := p.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = p.base("", ".local", "share")
	}
	if base == "" {
		return nil, nil
	}
	base = filepath.Join(base, "opencode")
	seen := map[string]bool{} // the files keep a session that has moved to the database
	if _, e := os.Stat(filepath.Join(base, "opencode.db")); e == nil {
		found, err = listOpenCodeDB(ctx, filepath.Join(base, "opencode.db"))
		for _, s := range found {
			seen[s.ID] = true
		}
	}
	for _, dir := range subdirs(filepath.Join(base, "storage", "session")) {
		for _, file := range filesIn(dir, ".json") {
			if s, ok, err := lookOpenCode(ctx, file); err == nil && ok && !seen[s.ID] {
				found = append(found, s)
			}
		}
	}
	return found, err
}

// lookOpenCode identifies the file of a session.
func lookOpenCode(_ context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(OpenCode, file)
	if err != nil || s.Size > 1<<20 {
		return s, false, err
	}
	in, _, err := openRegular(file)
	if err != nil {
		return s, false, err
	}
	defer in.Close() // read-only
	data, err := io.ReadAll(io.LimitReader(in, 1<<20))
	info, bad := objectOf(data)
	if s.ID = info.text("id"); err != nil || bad != nil || !strings.HasPrefix(s.ID, "ses_") || info.text("parentID") != "" || s.ID+".json" != filepath.Base(file) {
		return s, false, err
	}
	s.Title = brief(info.text("title"), 80)
	s.Dir, _ = cleanDir(info.text("directory"))
	if at := unix(info.number("time.updated")); !at.IsZero() {
		s.Updated = at.UTC()
	}
	// The file of a session does not grow with it, so the size is the number of its messages.
	base := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	s.Size = int64(len(filesIn(filepath.Join(base, "message", s.ID), ".json")))
	return s, true, nil
}
