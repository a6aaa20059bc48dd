package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// resultsName is the directory below the artifacts of a session with what results had that were cut for the model.
const resultsName = "results"

// keeper writes whole results below a directory, where the read tool may open them.
func keeper(artifacts string) func(context.Context, llm.ToolCall, string) (string, error) {
	return func(_ context.Context, call llm.ToolCall, text string) (string, error) {
		dir := filepath.Join(artifacts, resultsName)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return "", err
		}
		defer root.Close()
		name, f, err := create(root, call)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, root.Remove(name))
		}
		return filepath.Join(dir, name), nil
	}
}

// create makes a file named after a call. Names of calls may come again in later answers.
func create(root *os.Root, call llm.ToolCall) (string, *os.File, error) {
	base := safe(call.Name) + "-" + safe(call.ID)
	for n := 1; ; n++ {
		name := base + ".txt"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.txt", base, n)
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return name, f, err
		}
	}
}

// safe is a word as a part of a file name.
func safe(word string) string {
	const longest = 60
	word = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, word)
	return word[:min(len(word), longest)]
}
