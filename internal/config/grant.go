package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/tailscale/hujson"
)

// Grant adds an entry to permissions.allow, sandbox.network or another list of the user's file, which list names as "/permissions/allow". It
// creates the file if there is none, and preserves the comments and the order of the file. If the file already has the entry, Grant changes
// nothing. It waits for other processes that change the file, until ctx ends.
func Grant(ctx context.Context, file, list, entry string) error {
	err := change(ctx, file, func(text []byte) ([]byte, error) { return granted(text, list, entry) })
	if err != nil {
		return fmt.Errorf("cannot add %s to %s: %w", entry, file, err)
	}
	return nil
}

// Set sets a value of the user's file, which name names as "/terminal/theme". Otherwise it is like [Grant].
func Set(ctx context.Context, file, name string, value any) error {
	err := change(ctx, file, func(text []byte) ([]byte, error) {
		root, err := parsed(text)
		if err != nil {
			return nil, err
		}
		return patched(root, []container{{path.Dir(name), map[string]any{}}}, name, value)
	})
	if err != nil {
		return fmt.Errorf("cannot set %s in %s: %w", name, file, err)
	}
	return nil
}

// change replaces the text of a file by the result of f, unless that is nil.
func change(ctx context.Context, file string, f func(text []byte) ([]byte, error)) (err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // this preserves a link
	}
	unlock, err := lock(ctx, file+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	text, err := readRegular(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = []byte("{}")
	case err != nil:
		return err
	}
	if text, err = f(text); err != nil || text == nil {
		return err
	}
	return replace(ctx, file, text)
}

func parsed(text []byte) (hujson.Value, error) {
	root, err := hujson.Parse(text)
	if err != nil {
		err = fmt.Errorf("the file is not valid: %w; fix it first", err)
	}
	return root, err
}

// granted adds an entry to a list in the text of a file. It returns nil if the text already has the entry.
func granted(text []byte, name, entry string) ([]byte, error) {
	root, err := parsed(text)
	if err != nil {
		return nil, err
	}
	if list := root.Find(name); list != nil {
		if a, ok := list.Value.(*hujson.Array); ok {
			for _, e := range a.Elements {
				if l, ok := e.Value.(hujson.Literal); ok && l.Kind() == '"' && l.String() == entry {
					return nil, nil
				}
			}
		}
	}
	return patched(root, []container{{path.Dir(name), map[string]any{}}, {name, []any{}}}, name+"/-", entry)
}

// container is an object or a list of a file that must exist before a value can be added to it.
type container struct {
	path  string
	empty any
}

// patched adds a value to a file, after the parts above it.
func patched(root hujson.Value, above []container, name string, value any) ([]byte, error) {
	var patch []map[string]any
	for _, p := range above {
		if root.Find(p.path) == nil {
			patch = append(patch, map[string]any{"op": "add", "path": p.path, "value": p.empty})
		}
	}
	patch = append(patch, map[string]any{"op": "add", "path": name, "value": value})
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	if err := root.Patch(data); err != nil {
		return nil, err
	}
	root.Format()
	return root.Pack(), nil
}

// Remove removes a value from a file, which name names as "/mcp/files", and reports whether it was there. Otherwise it is like [Grant].
func Remove(ctx context.Context, file, name string) (found bool, err error) {
	err = change(ctx, file, func(text []byte) ([]byte, error) {
		root, err := parsed(text)
		if err != nil {
			return nil, err
		}
		if found = root.Find(name) != nil; !found {
			return nil, nil
		}
		patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": name}})
		if err != nil {
			return nil, err
		}
		if err := root.Patch(patch); err != nil {
			return nil, err
		}
		return root.Pack(), nil
	})
	if err != nil {
		return false, fmt.Errorf("cannot remove %s from %s: %w", name, file, err)
	}
	return found, nil
}
