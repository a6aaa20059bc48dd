package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tailscale/hujson"
)

// Grant adds a rule to permissions.allow of the user's file. It creates the file if there is none, and preserves the comments and the
// order of the file. If the file already has the rule, Grant changes nothing. It waits for other processes that change the file, until
// ctx ends.
func Grant(ctx context.Context, file, rule string) (err error) {
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
	text, err = granted(text, rule)
	switch {
	case err != nil:
		return fmt.Errorf("cannot add the rule to %s: %w", file, err)
	case text == nil:
		return nil
	}
	if err := replace(ctx, file, text); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return nil
}

// granted adds a rule to the text of a file. It returns nil if the text already has the rule.
func granted(text []byte, rule string) ([]byte, error) {
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the file is not valid: %w; fix it first", err)
	}
	if list := root.Find("/permissions/allow"); list != nil {
		if a, ok := list.Value.(*hujson.Array); ok {
			for _, e := range a.Elements {
				if l, ok := e.Value.(hujson.Literal); ok && l.Kind() == '"' && l.String() == rule {
					return nil, nil
				}
			}
		}
	}
	var patch []map[string]any
	for _, above := range []struct {
		path  string
		value any
	}{{"/permissions", map[string]any{}}, {"/permissions/allow", []any{}}} {
		if root.Find(above.path) == nil {
			patch = append(patch, map[string]any{"op": "add", "path": above.path, "value": above.value})
		}
	}
	patch = append(patch, map[string]any{"op": "add", "path": "/permissions/allow/-", "value": rule})
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
