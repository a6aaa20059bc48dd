package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/session"
)

// openCodeFiles is a directory "storage". Names in it come from its files, so nothing outside of it can be opened.
type openCodeFiles struct {
	root    *os.Root
	project string              // the directory of the sessions' files, below the root
	name    *regexp.Regexp      // what can be the name of a file
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
	defer f.Close() // it was only read
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
	defer f.Close() // it was only read
	all, err := f.Readdirnames(-1)
	all = slices.DeleteFunc(all, func(n string) bool { return filepath.Ext(n) != ".json" })
	slices.Sort(all)
	return all, err
}

func (s *openCodeFiles) session(_ context.Context, id string) (info openCodeSession, err error) {
	if !s.name.MatchString(id) {
		return info, fmt.Errorf("%q is no name of a session", id)
	}
	data, err := s.file(filepath.Join(s.project, id+".json"))
	if err != nil {
		return info, err
	}
	return info, json.Unmarshal(data, &info)
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
		if info, err := s.session(ctx, name); err == nil && info.Parent != "" {
			below[info.Parent] = append(below[info.Parent], name)
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
		return f(kind+"/"+brief(id, 40), []byte("null")) // hostile, and counted by who reads it
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
			data = []byte("\"" + strings.ToValidUTF8(name, "") + "\"") // a file that cannot be read is told as one that is wrong
		}
		if err := f(filepath.ToSlash(path), data); err != nil {
			return err
		}
	}
	return nil
}

func (s *openCodeFiles) todo(_ context.Context, id string) (todo session.Todo, err error) {
	data, err := s.file(filepath.Join("todo", id+".json"))
	if os.IsNotExist(err) {
		return todo, nil
	}
	var items []struct{ Content, Status string }
	if err == nil {
		err = decode(data, &items)
	}
	for _, t := range items {
		todo.Items = append(todo.Items, session.TodoItem{Text: t.Content, Status: todoStatus(t.Status)})
	}
	return todo, err
}

// lookOpenCode says what the file of a session is.
func lookOpenCode(_ context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(OpenCode, file)
	if err != nil {
		return s, false, err
	}
	in, size, err := openRegular(file)
	if err != nil || size > 1<<20 {
		return s, false, err
	}
	defer in.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(in, 1<<20))
	var info openCodeSession
	if err != nil || json.Unmarshal(data, &info) != nil || !strings.HasPrefix(info.ID, "ses_") || info.Parent != "" {
		return s, false, err
	}
	if info.ID+".json" != filepath.Base(file) {
		return s, false, nil
	}
	s.ID, s.Title = info.ID, brief(info.Title, 80)
	s.Dir, _ = cleanDir(info.Dir)
	if at := unix(info.Time.Updated); !at.IsZero() {
		s.Updated = at.UTC()
	}
	// The file of a session does not grow with it: its messages are counted.
	s.Size = 0
	base := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if all, err := os.ReadDir(filepath.Join(base, "message", info.ID)); err == nil {
		s.Size = int64(len(all))
	}
	return s, true, nil
}
