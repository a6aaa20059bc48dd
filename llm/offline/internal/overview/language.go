package overview

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Languages by the extension of a file. Those in prose are no code.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".mts": "TypeScript", ".rs": "Rust", ".java": "Java",
	".kt": "Kotlin", ".kts": "Kotlin", ".scala": "Scala", ".clj": "Clojure", ".groovy": "Groovy", ".c": "C", ".h": "C",
	".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".cs": "C#", ".fs": "F#", ".vb": "Visual Basic",
	".rb": "Ruby", ".php": "PHP", ".swift": "Swift", ".m": "Objective-C", ".mm": "Objective-C", ".sh": "Shell", ".bash": "Shell",
	".zsh": "Shell", ".fish": "Shell", ".ps1": "PowerShell", ".pl": "Perl", ".pm": "Perl", ".lua": "Lua", ".r": "R", ".jl": "Julia",
	".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".mli": "OCaml", ".dart": "Dart",
	".zig": "Zig", ".nim": "Nim", ".d": "D", ".sql": "SQL", ".html": "HTML", ".htm": "HTML", ".css": "CSS", ".scss": "CSS",
	".sass": "CSS", ".less": "CSS", ".vue": "Vue", ".svelte": "Svelte", ".proto": "Protocol Buffers", ".tf": "Terraform",
	".nix": "Nix", ".el": "Emacs Lisp", ".lisp": "Lisp", ".scm": "Scheme", ".f90": "Fortran", ".asm": "Assembly", ".s": "Assembly",
	".sol": "Solidity", ".ipynb": "Jupyter notebook",

	".md": "Markdown", ".markdown": "Markdown", ".rst": "reStructuredText", ".adoc": "AsciiDoc", ".tex": "TeX", ".txt": "Text",
	".org": "Org",
}

var prose = map[string]bool{
	"Markdown": true, "reStructuredText": true, "AsciiDoc": true, "TeX": true, "Text": true, "Org": true,
}

func languageOf(name string) string {
	return languages[strings.ToLower(path.Ext(name))]
}

// Code reports whether a file is source code by its name.
func Code(name string) bool {
	l := languageOf(name)
	return l != "" && !prose[l] && !foreign(name)
}

// Sample returns at most n files of source code, from all languages and directories by their part of the whole.
func (p *Project) Sample(n int) []string {
	source := slices.DeleteFunc(p.own(), func(f string) bool { return !Code(f) })
	if len(source) <= n {
		return source
	}
	slices.SortStableFunc(source, func(a, b string) int { return strings.Compare(languageOf(a), languageOf(b)) })
	some := make([]string, n)
	for i := range some {
		some[i] = source[i*len(source)/n]
	}
	return some
}

// share is how much of a project one language is.
type share struct {
	Language string
	Files    int
	Lines    int  // of the counted files
	Counted  int  // files whose lines are known
	Partly   bool // there may be more files
}

// estimate is how many lines all files of the language have, by those whose lines are known, and whether that is exact.
// It is 0 when too few are known.
func (s share) estimate() (lines int, exact bool) {
	const enough = 5
	switch {
	case s.Counted == s.Files:
		return s.Lines, true
	case s.Counted < enough:
		return 0, false
	}
	lines = s.Lines * s.Files / s.Counted
	unit := 1
	for lines/unit >= 100 {
		unit *= 10
	}
	return (lines + unit/2) / unit * unit, false
}

// MainLanguages returns at most n languages of the files whose names are known, those with the most files first.
func (p *Project) MainLanguages(n int) []string {
	var names []string
	for _, s := range p.shares(p.own()) {
		if len(names) < n {
			names = append(names, s.Language)
		}
	}
	return names
}

// LanguageGlob matches the files of a language, wherever they are.
func LanguageGlob(language string) string {
	var ends []string
	for end, l := range languages {
		if l == language {
			ends = append(ends, strings.TrimPrefix(end, "."))
		}
	}
	slices.Sort(ends)
	if len(ends) == 1 {
		return "**/*." + ends[0]
	}
	return "**/*.{" + strings.Join(ends, ",") + "}"
}

// shares returns the languages of files, sorted.
func (p *Project) shares(files []string) []share {
	by := map[string]*share{}
	for _, f := range files {
		l := languageOf(f)
		if l == "" {
			continue
		}
		s := by[l]
		if s == nil {
			s = &share{Language: l}
			by[l] = s
		}
		s.Files++
		if n, ok := p.Lines[f]; ok {
			s.Lines += n
			s.Counted++
		}
	}
	all := make([]share, 0, len(by))
	for _, s := range by {
		all = append(all, *s)
	}
	return sortShares(all)
}

// sortShares puts those with the most lines first, as far as they are known, then those with the most files; prose last.
func sortShares(all []share) []share {
	slices.SortFunc(all, func(a, b share) int {
		if prose[a.Language] != prose[b.Language] {
			if prose[a.Language] {
				return 1
			}
			return -1
		}
		lines, _ := a.estimate()
		others, _ := b.estimate()
		return cmp.Or(others-lines, b.Files-a.Files, strings.Compare(a.Language, b.Language))
	})
	return all
}

// whole returns the languages of the whole project, as far as they are known.
func (p *Project) whole() []share {
	all := p.shares(p.own())
	for i, s := range all {
		all[i].Partly = p.Large() && p.OfLanguage[s.Language] == 0
		all[i].Files = max(s.Files, p.OfLanguage[s.Language])
	}
	return sortShares(all)
}

// isTest reports whether a file holds tests, by the customs of the languages.
func isTest(name string) bool {
	if l := languageOf(name); l == "" || prose[l] {
		return false
	}
	base := strings.ToLower(path.Base(name))
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, end := range []string{"_test", ".test", "_spec", ".spec", "-test", "_tests"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	original := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if strings.HasPrefix(stem, "test_") || stem == "tests" || strings.HasSuffix(original, "Test") || strings.HasSuffix(original, "Tests") {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch dir {
		case "test", "tests", "__tests__", "spec":
			return true
		}
	}
	return false
}

// entryNames are the names of files in which programs begin.
var entryNames = map[string]bool{
	"main.go": true, "main.rs": true, "__main__.py": true, "main.py": true, "app.py": true, "manage.py": true, "wsgi.py": true,
	"asgi.py": true, "index.js": true, "index.ts": true, "server.js": true, "server.ts": true, "main.ts": true, "main.js": true,
	"main.tsx": true, "app.js": true, "app.ts": true, "main.c": true, "main.cpp": true, "main.cc": true, "Main.java": true,
	"Application.java": true, "Main.kt": true, "Program.cs": true, "main.dart": true, "main.swift": true, "index.php": true,
	"artisan": true, "config.ru": true, "main.zig": true, "cli.py": true, "cli.js": true, "cli.ts": true, "index.html": true,
	"main.tf": true, "application.ex": true,
}

// entries returns the files in which programs seem to begin, the nearest to the top first.
func entries(files []string) []string {
	var found []string
	for _, f := range files {
		if entryNames[path.Base(f)] && !isTest(f) && strings.Count(f, "/") <= 5 {
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return found
}
