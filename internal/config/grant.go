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
func Grant(ctx context.Context, file, list, entry string) (err error) {
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
		return fmt.Errorf("cannot change the configuration %s: %w", file, err)
	}
	text, err = granted(text, list, entry)
	switch {
	case err != nil:
		return fmt.Errorf("cannot add %s to %s: %w", entry, file, err)
	case text == nil:
		return nil
	}
	if err := replace(ctx, file, text); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return nil
}

// granted adds an entry to a list in the text of a file. It returns nil if the text already has the entry.
func granted(text []byte, name, entry string) ([]byte, error) {
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid: %w; fix it first", err)
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
	var patch []map[string]any
	for _, above := range []struct {
		path  string
		value any
	}{{path.Dir(name), map[string]any{}}, {name, []any{}}} {
		if root.Find(above.path) == nil {
			patch = append(patch, map[string]any{"op": "add", "path": above.path, "value": above.value})
		}
	}
	patch = append(patch, map[string]any{"op": "add", "path": name + "/-", "value": entry})
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
