// Package slash reads the commands that people write as Markdown files and call as /name with arguments.
package slash

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/frontmatter"
)

// The limits of commands.
const (
	maxName  = 128 // characters
	maxWords = 200 // characters of a description
)

// Command is a command of a file.
type Command struct {
	Name        string   // such as "review", or "db:migrate" of the file db/migrate.md
	Description string   // in one line
	Hint        string   // its arguments, for people
	Model       string   // for its run; empty: that of the session
	Tools       []string // rules as written; a run keeps to them; empty: no limit
	File        string   // empty: a skill
	Body        string
}

// Found is the commands of folders.
type Found struct {
	Commands []Command // sorted by name
	Problems []error   // invalid files, each with its name
}

// Find finds the commands in folders. Of two commands with the same name the one in the later folder counts. A missing folder has none.
func Find(folders []frontmatter.Folder) Found {
	byName := make(map[string]Command)
	var f Found
	for _, folder := range folders {
		for _, file := range folder.Files() {
			c, err := read(folder, file)
			if err != nil {
				f.Problems = append(f.Problems, fmt.Errorf("%s: %w", file, err))
				continue
			}
			byName[c.Name] = c
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.Commands = append(f.Commands, byName[name])
	}
	return f
}

func read(f frontmatter.Folder, name string) (Command, error) {
	text, err := f.Read(name)
	if err != nil {
		return Command{}, err
	}
	relative := strings.TrimPrefix(name, f.Dir+string(filepath.Separator))
	c, err := Parse(strings.ReplaceAll(filepath.ToSlash(strings.TrimSuffix(relative, filepath.Ext(relative))), "/", ":"), text)
	c.File = name
	return c, err
}

// Parse reads a command from the text of its file, which may begin with front matter.
func Parse(name, text string) (Command, error) {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:") == ""
	if name == "" || len(name) > maxName || !plain || strings.HasPrefix(name, "-") {
		return Command{}, fmt.Errorf("the name %q is not 1 to %d letters, digits, hyphens and underscores", name, maxName)
	}
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd")
	c := Command{Name: name, Body: strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))}
	if strings.HasPrefix(c.Body, "---\n") {
		front, body, err := frontmatter.Split(c.Body)
		if err != nil {
			return Command{}, err
		}
		c.Body = strings.TrimSpace(body)
		c.Description, c.Hint = OneLine(front["description"]), OneLine(hint(front["argument-hint"]))
		if c.Model = OneLine(front["model"]); c.Model == "inherit" {
			c.Model = ""
		}
		c.Tools = frontmatter.Items(front["allowed-tools"])
	}
	if c.Body == "" {
		return Command{}, errors.New("it has no text")
	}
	if c.Description == "" {
		first, _, _ := strings.Cut(c.Body, "\n")
		c.Description = OneLine(strings.TrimLeft(first, "# "))
	}
	return c, nil
}

// hint returns a hint as written: the front matter takes "[from] [to]" for a list.
func hint(value string) string {
	if strings.Contains(value, "\n") || strings.Contains(value, "]") && !strings.HasPrefix(value, "[") && !strings.HasSuffix(value, "]") {
		return "[" + strings.ReplaceAll(value, "\n", "] [") + "]"
	}
	return value
}

// OneLine returns a text as a description: without line breaks, and at most 200 characters.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxWords {
		return string(runes[:maxWords-1]) + "…"
	}
	return text
}

// Named splits a prompt that calls a command. A path is no call: its first word has another slash, or a dot.
func Named(prompt string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/")
	end := strings.IndexAny(rest, " \t\n")
	if end < 0 {
		end = len(rest)
	}
	name = rest[:end]
	if !ok || name == "" || strings.ContainsAny(name, "/.") {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[end:]), true
}
