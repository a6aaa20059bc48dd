package transfer

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Open returns the sessions of a file or a directory. With an empty program the content decides.
func Open(ctx context.Context, program, path string) ([]Source, error) {
	in, _, err := openRegular(path)
	if err != nil {
		if dir := subdirsAndFiles(path); dir != nil {
			return openDir(ctx, program, path, dir)
		}
		return nil, err
	}
	head := make([]byte, 16)
	n, _ := io.ReadFull(in, head) // a shorter file has a shorter beginning
	_ = in.Close()
	if n == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	if isDatabase(head) {
		return openAnyDatabase(ctx, program, path)
	}
	for _, f := range formats() {
		if f.look == nil || program != "" && program != f.program {
			continue
		}
		s, ok, err := f.look(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if ok {
			return []Source{s}, nil
		}
	}
	if program == "" {
		program = "any program that is known (" + strings.Join(Programs(), ", ") + ")"
	}
	return nil, fmt.Errorf("%s:1: this is no session of %s", path, program)
}

func openAnyDatabase(ctx context.Context, program, path string) ([]Source, error) {
	d, err := openDatabase(ctx, path, "session", "message", "part", "sessions", "messages")
	if err != nil {
		return nil, err
	}
	opencode, crush := d.isOpenCode(), d.isCrush()
	_ = d.Close() // read-only
	var found []Source
	switch {
	case opencode && (program == "" || program == OpenCode):
		found, err = listOpenCode(ctx, path)
	case crush && (program == "" || program == Crush):
		found, err = listCrush(ctx, path)
	default:
		return nil, fmt.Errorf("%s: this database has no sessions of %s or %s", path, OpenCode, Crush)
	}
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no sessions", path)
	}
	return found, err
}

// subdirsAndFiles returns what could be a session in a directory and those below it, or nil when it is none.
func subdirsAndFiles(dir string) []string {
	const deepest, most = 8, 20_000
	var out []string
	level := []string{dir}
	for range deepest {
		var next []string
		for _, d := range level {
			out = append(out, filesIn(d, ".jsonl")...)
			out = append(out, filesIn(d, ".json")...)
			out = append(out, filesIn(d, ".db")...)
			next = append(next, subdirs(d)...)
			if len(out) > most {
				return out
			}
		}
		level = next
	}
	return out
}

func openDir(ctx context.Context, program, dir string, files []string) ([]Source, error) {
	var found []Source
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "agent-") {
			continue // of a sub-agent
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if some, err := Open(ctx, program, f); err == nil { // ignore other files of the directory
			found = append(found, some...)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no session in %s", dir)
	}
	byUpdate(found)
	return found, nil
}
