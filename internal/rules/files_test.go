package rules

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// heaviest is how many bytes a tracked file may have.
const heaviest = 1 << 20

// machinePath finds absolute paths that exist on one machine only: home directories apart from the usual examples, the
// work directories of build machines, and generated temporary names.
var machinePath = regexp.MustCompile(`(?m:^|[^\w./-])(` +
	`(?:/home|/Users|[A-Z]:\\+Users)[/\\]+\w[\w.-]*[/\\]` +
	`|/root/[\w.]` +
	`|/(?:work|farm|builds|workspaces?|github/workspace)/\w` +
	`|/tmp/(?:tmp\.|go-build|bash_jobs|Test\w+\d|[\w.-]*\d{6})` +
	`|/var/folders/\w` +
	`)`)

// examplePath finds home directories of examples, which belong to no one.
var examplePath = regexp.MustCompile(`^(?:/home|/Users|[A-Z]:\\+Users)[/\\]+(?:me|you|user|name|alice|bob|ada)[/\\]`)

// registryHost finds the hosts that packages are fetched from. Which one a machine uses is its own business.
var registryHost = regexp.MustCompile(`\b(?:(?:proxy|sum|index)\.golang\.org|goproxy\.\w+|registry\.(?:npmjs\.org|yarnpkg\.com)` +
	`|(?:files\.)?pythonhosted\.org|pypi\.org/simple|(?:index|static)\.crates\.io` +
	`|(?:artifactory|nexus|goproxy|npm-proxy)\.[\w-]+\.\w+)\b`)

var fileRules = []rule{
	{
		name:  "no paths of a real machine",
		files: true,
		check: machinePaths,
		fix:   "write a path relative to the project, t.TempDir() in a test, /home/me/project in an example",
		broken: map[string]string{
			"docs/a.md":      "see\n/ho" + "me/jane/x and /home/me/x, ./work/main and https://example.org/work/x",
			"llm/a.go":       "package llm\n\nvar a = \"/wo" + "rk/main\"",
			"llm/b.go":       "package llm\n\nvar a = `C:\\Us" + "ers\\jane\\x`",
			"llm/testdata/b": "\x00/ho" + "me/jane/x",
		},
		want: []string{"docs/a.md:2", "llm/a.go:3", "llm/b.go:3"},
	},
	{
		name:  "no hosts of package registries",
		files: true,
		check: func(t *tree) []string {
			return slices.DeleteFunc(t.lines(registryHost, registryHost.FindString), func(at string) bool {
				return strings.HasPrefix(at, "workspace/host/") || strings.HasPrefix(at, "workspace/sandbox/policy_test.go") // what users' programs say and need
			})
		},
		fix: "leave the host out: the go command knows where its machine fetches packages from",
		broken: map[string]string{
			".ci/run": "export GOPROXY=https://proxy.go" + "lang.org\ngo test ./...\n",
			"a.md":    "https://pkg.go.dev/x is no registry",
		},
		want: []string{".ci/run:1"},
	},
	{
		name:  "no large files",
		files: true,
		check: largeFiles,
		fix:   "generate it when it is needed, cut it down, or compress it",
		broken: map[string]string{
			"llm/testdata/a": strings.Repeat("a", heaviest),
			"llm/testdata/b": strings.Repeat("b", heaviest+1),
		},
		want: []string{"llm/testdata/b"},
	},
	{
		name:  "links in documents lead somewhere",
		files: true,
		check: deadLinks,
		fix:   "correct the link: its target is a tracked file or directory relative to the document, or a heading in one",
		broken: map[string]string{
			"README.md": "# A\n[a](docs/a.md) [b](docs) [c](docs/none.md \"title\") [d](https://example.org) [e](#a) [f](#z)\n" +
				"```\n[g](none)\n```\nand `[h](none)`\n\n[i]: none\n",
			"docs/a.md":         "## The `events`, in order\n[up](../README.md#a) [here](#the-events-in-order) [no](../README.md#b)\n",
			"x/testdata/bad.md": "[a](none)",
		},
		want: []string{"README.md:2: docs/none.md", "README.md:2: #z", "README.md:8: none", "docs/a.md:2: ../README.md#b"},
	},
}

// lines returns the lines of tracked text files in which find finds something. It asks find only about files that match pattern.
func (t *tree) lines(pattern *regexp.Regexp, find func(line string) string) (found []string) {
	for name, text := range t.texts {
		if !pattern.Match(text) {
			continue
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if hit := find(line); hit != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, n, strings.TrimSpace(hit)))
			}
		}
	}
	return found
}

func machinePaths(t *tree) []string {
	return t.lines(machinePath, func(line string) string {
		for _, m := range machinePath.FindAllStringSubmatch(line, -1) {
			if !examplePath.MatchString(m[1]) {
				return m[1]
			}
		}
		return ""
	})
}

func largeFiles(t *tree) (found []string) {
	for _, name := range t.tracked {
		if info, err := fs.Stat(t.fsys, name); err == nil && info.Mode().IsRegular() && info.Size() > heaviest {
			found = append(found, fmt.Sprintf("%s has %d bytes, more than %d", name, info.Size(), heaviest))
		}
	}
	return found
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	link       = regexp.MustCompile(`\[[^\]]*\]\(\s*<?([^)\s>]+)[^)]*\)`)
	definition = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)`)
	scheme     = regexp.MustCompile(`^(?:[a-zA-Z][\w+.-]*:|//)`)
)

func deadLinks(t *tree) (found []string) {
	for name, text := range t.texts {
		if path.Ext(name) != ".md" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		for n, line := range prose(string(text)) {
			line = inlineCode.ReplaceAllString(line, "")
			targets := slices.Concat(link.FindAllStringSubmatch(line, -1), definition.FindAllStringSubmatch(line, -1))
			for _, m := range targets {
				if !scheme.MatchString(m[1]) && !t.leads(name, m[1]) {
					found = append(found, fmt.Sprintf("%s:%d: %s", name, n, m[1]))
				}
			}
		}
	}
	return found
}

// leads reports whether a link in the document leads to something that is tracked.
func (t *tree) leads(document, target string) bool {
	file, heading, _ := strings.Cut(target, "#")
	if file == "" {
		file = document
	} else {
		file = path.Join(path.Dir(document), file)
	}
	isIt := func(name string) bool { return name == file || strings.HasPrefix(name, file+"/") }
	if file != "." && !slices.ContainsFunc(t.tracked, isIt) {
		return false
	}
	if heading == "" || path.Ext(file) != ".md" {
		return true
	}
	text, err := fs.ReadFile(t.fsys, file)
	return err == nil && slices.Contains(anchors(string(text)), heading)
}

// prose yields the lines of a Markdown text that are not in a fenced block, with their numbers.
func prose(text string) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		n, fenced := 0, false
		for line := range strings.Lines(text) {
			n++
			start := strings.TrimSpace(line)
			if strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~") {
				fenced = !fenced
				continue
			}
			if !fenced && !yield(n, line) {
				return
			}
		}
	}
}

// anchors returns what the headings of a Markdown text are linked by, as GitHub makes it.
func anchors(text string) (names []string) {
	seen := map[string]int{}
	for _, line := range prose(text) {
		title := strings.TrimLeft(line, "#")
		if len(title) == len(line) || !strings.HasPrefix(title, " ") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		if n := seen[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		seen[name]++
	}
	return names
}
