package main

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed tasks/*.task
var tasks embed.FS

// Task is one piece of work with a proof. The file of a task has the same parts; docs/developers/evals.md describes them.
type Task struct {
	Name     string
	Category string
	About    string   // one line for people
	Deny     []string // rules of --deny
	Window   int      // tokens of the context window; 0: that of the model

	Repo   map[string]string // the committed files
	Setup  string            // a script that runs after the commit
	Prompt string
	Check  string            // a script that succeeds if the task is solved
	Hidden map[string]string // files that only the check sees

	// The reference solution: files to write, then a script, then the final answer.
	Files  map[string]string
	Script string
	Answer string
}

// categories are the values of Category, in the order of reports.
var categories = []string{"edit", "bug", "question", "review", "git", "limits", "work"}

// loadTasks reads every task below tasks in fsys, in the order of their names.
func loadTasks(fsys fs.FS) ([]*Task, error) {
	names, err := fs.Glob(fsys, "tasks/*.task")
	if err != nil {
		return nil, err
	}
	var all []*Task
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		t, err := parseTask(strings.TrimSuffix(path.Base(name), ".task"), string(text))
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// section finds the line that begins a section of a task: -- NAME --.
var section = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

// parseTask reads the file of a task: lines of "key: value", then sections. It never returns a task without a check.
func parseTask(name, text string) (*Task, error) {
	t := &Task{Name: name, Repo: map[string]string{}, Hidden: map[string]string{}, Files: map[string]string{}}
	found := section.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return nil, fmt.Errorf("it has no section; write a line such as %q", "-- prompt --")
	}
	if err := t.head(text[:found[0][0]]); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		part := text[at[2]:at[3]]
		if seen[part] {
			return nil, fmt.Errorf("section %q occurs twice; rename or remove one", part)
		}
		seen[part] = true
		if err := t.set(part, text[at[1]:end]); err != nil {
			return nil, err
		}
	}
	return t, t.complete()
}

// head reads the lines before the first section.
func (t *Task) head(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok || value == "":
			return fmt.Errorf("line %q is not of the form key: value", line)
		case key == "category":
			t.Category = value
		case key == "about":
			t.About = value
		case key == "deny":
			t.Deny = append(t.Deny, value)
		case key == "window":
			n, err := strconv.Atoi(value)
			if err != nil || n <= 0 {
				return fmt.Errorf("window is %q; write a number of tokens", value)
			}
			t.Window = n
		default:
			return fmt.Errorf("key %q is unknown; the keys are category, about, deny and window", key)
		}
	}
	return nil
}

// set reads one section.
func (t *Task) set(name, text string) error {
	texts := map[string]*string{"setup": &t.Setup, "prompt": &t.Prompt, "check": &t.Check, "solution": &t.Script, "answer": &t.Answer}
	files := map[string]map[string]string{"repo": t.Repo, "check": t.Hidden, "solution": t.Files}
	if to := texts[name]; to != nil {
		*to = text
		return nil
	}
	dir, file, _ := strings.Cut(name, "/")
	if files[dir] == nil || !fs.ValidPath(file) || file == "." {
		return fmt.Errorf("section %q is unknown; the sections are repo/FILE, setup, prompt, check, check/FILE, solution, solution/FILE and answer", name)
	}
	files[dir][file] = text
	return nil
}

// complete reports the first missing part.
func (t *Task) complete() error {
	switch {
	case !slices.Contains(categories, t.Category):
		return fmt.Errorf("category %q is unknown; the categories are %s", t.Category, strings.Join(categories, ", "))
	case t.About == "":
		return fmt.Errorf("it has no line about: TEXT")
	case strings.TrimSpace(t.Prompt) == "":
		return fmt.Errorf("it has no section prompt")
	case strings.TrimSpace(t.Check) == "":
		return fmt.Errorf("it has no section check")
	case len(t.Repo) == 0:
		return fmt.Errorf("it has no section repo/FILE")
	case strings.TrimSpace(t.Answer) == "":
		return fmt.Errorf("it has no section answer")
	}
	return nil
}

// selectTasks returns the tasks whose name or category fits one of the patterns, separated by commas; "" means all.
func selectTasks(all []*Task, patterns string) ([]*Task, error) {
	if patterns == "" {
		return all, nil
	}
	chosen := map[*Task]bool{}
	for pattern := range strings.SplitSeq(patterns, ",") {
		hits := 0
		for _, t := range all {
			byName, err := path.Match(pattern, t.Name)
			if err != nil {
				return nil, fmt.Errorf("cannot read --tasks %q: %w; quote the characters [ and \\", pattern, err)
			}
			if byName || pattern == t.Category {
				chosen[t] = true
				hits++
			}
		}
		if hits == 0 {
			return nil, fmt.Errorf("cannot find tasks for --tasks %q: no name or category fits; see go run ./internal/evals list", pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t *Task) bool { return !chosen[t] }), nil
}
