package search

import "strings"

// kinds lists the kinds of files and the patterns of their names, as in ripgrep.
var kinds = map[string]string{
	"c":        "*.c *.h",
	"cpp":      "*.cpp *.cc *.cxx *.hpp *.hh *.hxx *.h *.inl",
	"csharp":   "*.cs",
	"css":      "*.css *.scss *.sass *.less",
	"docker":   "Dockerfile *.dockerfile Dockerfile.*",
	"elixir":   "*.ex *.exs",
	"haskell":  "*.hs *.lhs",
	"html":     "*.html *.htm",
	"js":       "*.js *.jsx *.mjs *.cjs *.vue",
	"json":     "*.json *.jsonl *.jsonc",
	"kotlin":   "*.kt *.kts",
	"make":     "Makefile makefile GNUmakefile *.mk",
	"markdown": "*.md *.markdown *.mdx",
	"perl":     "*.pl *.pm *.t",
	"php":      "*.php",
	"py":       "*.py *.pyi",
	"ruby":     "*.rb Gemfile Rakefile *.gemspec",
	"rust":     "*.rs",
	"sh":       "*.sh *.bash *.zsh",
	"sql":      "*.sql",
	"ts":       "*.ts *.tsx *.mts *.cts",
	"yaml":     "*.yaml *.yml",
}

// otherNames maps other names of kinds to theirs.
var otherNames = map[string]string{
	"c++": "cpp", "cs": "csharp", "c#": "csharp", "dockerfile": "docker", "golang": "go", "javascript": "js", "makefile": "make", "md": "markdown",
	"python": "py", "rb": "ruby", "rs": "rust", "bash": "sh", "shell": "sh", "typescript": "ts", "yml": "yaml",
}

// kindsOf returns the patterns of a kind of files; none for an empty kind. An unknown kind is an extension.
func kindsOf(kind string) []string {
	kind = strings.TrimPrefix(strings.ToLower(kind), ".")
	if kind == "" {
		return nil
	}
	if name, ok := otherNames[kind]; ok {
		kind = name
	}
	if patterns, ok := kinds[kind]; ok {
		return strings.Fields(patterns)
	}
	return []string{"*." + kind}
}
