// Package slash reads the commands that people write as Markdown files and call as /name with arguments.
package slash

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tenon-agent/tenon/internal/frontmatter"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// The limits of commands.
const (
	maxFile  = 64 << 10 // bytes of one file
	maxFiles = 500      // of one folder
	maxDepth = 4        // directories below a folder
	maxName  = 128      // characters
	maxWords = 200      // characters of a description
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

// Folder is a directory with a Markdown file for each command, also in directories below it.
type Folder struct {
	Dir    string // absolute
	Within string // directory that contains its files after links are resolved; empty: any
}

// Found is the commands of folders.
type Found struct {
	Commands []Command // sorted by name
	Problems []error   // invalid files, each with its name
}

// Find finds the commands in folders. Of two commands with the same name the one in the later folder counts. A missing folder has none.
func Find(folders []Folder) Found {
	byName := make(map[string]Command)
	var f Found
	for _, folder := range folders {
		for _, file := range folder.files() {
			c, err := folder.read(file)
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

// files returns the Markdown files of the folder, sorted. Unreadable directories have none.
func (f Folder) files() (all []string) {
	_ = filepath.WalkDir(f.Dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && strings.Count(strings.TrimPrefix(name, f.Dir), string(filepath.Separator)) > maxDepth:
			return fs.SkipDir
		case !d.IsDir() && strings.EqualFold(filepath.Ext(name), ".md") && !strings.HasPrefix(d.Name(), "."):
			all = append(all, name)
		}
		if len(all) == maxFiles {
			return fs.SkipAll
		}
		return nil
	})
	return all
}

// read reads one file, which may be a link, but not to a place outside of Within.
func (f Folder) read(name string) (Command, error) {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return Command{}, err
	}
	if f.Within != "" && !paths.Inside(f.Within, resolved) {
		return Command{}, fmt.Errorf("it is outside %s", f.Within)
	}
	file, err := os.OpenFile(resolved, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Command{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return Command{}, err
	case !info.Mode().IsRegular():
		return Command{}, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return Command{}, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return Command{}, err
	}
	relative := strings.TrimPrefix(name, f.Dir+string(filepath.Separator))
	c, err := Parse(strings.ReplaceAll(filepath.ToSlash(strings.TrimSuffix(relative, filepath.Ext(relative))), "/", ":"), string(data))
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
		c.Description, c.Hint = oneLine(front["description"]), oneLine(hint(front["argument-hint"]))
		if c.Model = oneLine(front["model"]); c.Model == "inherit" {
			c.Model = ""
		}
		c.Tools = frontmatter.Items(front["allowed-tools"])
	}
	if c.Body == "" {
		return Command{}, errors.New("it has no text")
	}
	if c.Description == "" {
		first, _, _ := strings.Cut(c.Body, "\n")
		c.Description = oneLine(strings.TrimLeft(first, "# "))
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

func oneLine(text string) string {
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
