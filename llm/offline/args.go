package offline

import (
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

var (
	nameNoise = lazy.Compile(`(?i)^(?:(?:the|a|an|my|our|this|file|directory|folder|dir|all|every|each)\s+)+`)
	nameTail  = lazy.Compile(`(?i)\s+(?:file|directory|folder|dir|package|module)$`)
	// wholePlace matches the words for the project as a whole.
	wholePlace = lazy.Compile(`(?i)^(?:here|there|everywhere|\.|\./|it|(?:in\s+)?(?:(?:this|the|my|our|whole|entire|current)\s+)*(?:project|repo|repository|code ?base|code|directory|folder|dir|workspace|tree|root|working directory|all files|files|file))$`)
	globPlace  = lazy.Compile(`(?i)^(?:(?:all|every|each|the|any|of)\s+)*(\S+?)\s+files?(?:\s+(?:in|under|of|below)\s+(.+))?$`)
	globRunes  = "*?[{"
)

// name returns the file name or directory that s says.
func (m *masked) name(s string) string {
	v, quoted := m.value(s)
	if quoted {
		return v
	}
	v = nameNoise.ReplaceAllString(strings.TrimSpace(v), "")
	v = nameTail.ReplaceAllString(v, "")
	if loc := mark.FindString(s); loc != "" && strings.Count(s, "\x00") == 2 {
		v, _ = m.value(loc)
		return v
	}
	trimmed := strings.TrimRight(v, ",;!?")
	if t := strings.TrimSuffix(trimmed, "."); t != "" && !strings.HasSuffix(t, ".") && !strings.HasSuffix(t, "/") {
		trimmed = t
	}
	return trimmed
}

// place returns the directory or file that s says, "" for the project as a whole.
func (m *masked) place(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || wholePlace.MatchString(strings.TrimRight(s, ".,;!?")) && !isPronoun(s) {
		return ""
	}
	return m.name(s)
}

// scope returns where s says to look: a file or directory, and a pattern for names when s says one.
func (m *masked) scope(s string) (dir, glob string) {
	s = strings.TrimSpace(s)
	if g := globPlace.FindStringSubmatch(s); g != nil {
		if pattern := m.kind(g[1]); pattern != "" {
			return m.place(g[2]), pattern
		}
	}
	p := m.place(s)
	if !strings.ContainsAny(p, globRunes) {
		return p, ""
	}
	dir, glob = path.Split(p)
	if strings.ContainsAny(dir, globRunes) {
		return "", p
	}
	return strings.TrimSuffix(dir, "/"), glob
}

// kinds are the words people use for files of a language.
var kinds = map[string]string{
	"go": "*.go", "golang": "*.go", "python": "*.py", "py": "*.py", "javascript": "*.{js,jsx,mjs,cjs}", "js": "*.js",
	"typescript": "*.{ts,tsx}", "ts": "*.ts", "rust": "*.rs", "java": "*.java", "kotlin": "*.{kt,kts}", "c": "*.{c,h}",
	"c++": "*.{cpp,cc,cxx,hpp,h}", "cpp": "*.{cpp,cc,cxx,hpp,h}", "c#": "*.cs", "csharp": "*.cs", "ruby": "*.rb",
	"php": "*.php", "swift": "*.swift", "shell": "*.{sh,bash}", "bash": "*.{sh,bash}", "markdown": "*.{md,markdown}",
	"md": "*.md", "json": "*.json", "yaml": "*.{yaml,yml}", "yml": "*.{yaml,yml}", "toml": "*.toml", "xml": "*.xml",
	"html": "*.{html,htm}", "css": "*.css", "sql": "*.sql", "text": "*.txt", "txt": "*.txt", "csv": "*.csv",
	"elixir": "*.{ex,exs}", "dart": "*.dart", "scala": "*.scala", "haskell": "*.hs", "lua": "*.lua", "perl": "*.pl",
	"proto": "*.proto", "test": "*{_test,.test,_spec,.spec}.*", "log": "*.log", "png": "*.png", "svg": "*.svg",
}

// kind returns the pattern for names that s says: a pattern itself, a language, or an extension with its dot. It returns
// "" when s is none of them.
func (m *masked) kind(s string) string {
	v, quoted := m.value(s)
	if !quoted {
		v = strings.TrimRight(strings.TrimSpace(v), "?!,;.")
	}
	if strings.ContainsAny(v, globRunes) {
		return v
	}
	if p, ok := kinds[strings.ToLower(v)]; ok {
		return p
	}
	if strings.HasPrefix(v, ".") && len(v) > 1 && !strings.ContainsAny(v, " /") {
		return "*" + v
	}
	return ""
}

// fileGlob returns the pattern for files named s anywhere below a directory.
func (m *masked) fileGlob(s string) string {
	v := m.kind(s)
	if v == "" {
		v = m.name(s)
	}
	return anywhere(v)
}

// anywhere lets a pattern without a directory match in all of them.
func anywhere(glob string) string {
	if glob == "" || strings.Contains(glob, "/") {
		return glob
	}
	return "**/" + glob
}

// fileLike matches what is a file's name or a pattern for names rather than a word.
var fileLike = lazy.Compile(`^[\w@~./\\+*?{},\[\]-]*(?:\.[A-Za-z]\w{0,9}|[*?][\w.*{},]*|/[\w.-]+)$`)

// knownNames are file names without an extension.
var knownNames = map[string]bool{
	"makefile": true, "dockerfile": true, "license": true, "readme": true, "gemfile": true, "rakefile": true, "procfile": true,
	"jenkinsfile": true, "notice": true, "authors": true, "changelog": true, "codeowners": true,
}

func isFileLike(s string) bool {
	return fileLike.MatchString(s) || knownNames[strings.ToLower(s)] || strings.HasPrefix(s, ".") && len(s) > 1 && !strings.ContainsAny(s, " \n")
}
