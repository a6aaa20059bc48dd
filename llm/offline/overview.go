package offline

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// overview has the facts that the model found about a project. Foreign text in it is data, and write escapes it.
type overview struct {
	title     string
	files     []string // relative names with slashes, each once
	dirs      []string // at the top
	parts     []part   // that it describes
	total     int      // files in all; more than len(files) if a call could not return all names
	texts     map[string]string
	notes     []hit // open TODO and FIXME comments
	moreNotes bool
	history   []string
	gaps      []string // facts that the model could not find
	b         strings.Builder
}

// Limits of the sections.
const (
	mostLanguages = 12
	mostNotes     = 10
)

func (o *overview) gap(s string) { o.gaps = append(o.gaps, s) }

// add adds the names of files that are new, and the directories at the top.
func (o *overview) add(names []string) {
	known := make(map[string]bool, len(o.files)+len(names))
	for _, f := range slices.Concat(o.files, o.dirs) {
		known[f] = true
	}
	for _, name := range names {
		top, rest, below := strings.Cut(name, "/")
		if below && top != "" && !known[top+"/"] {
			known[top+"/"] = true
			o.dirs = append(o.dirs, top+"/")
		}
		if name != "" && !strings.HasSuffix(name, "/") && !known[name] && (!below || rest != "") {
			known[name] = true
			o.files = append(o.files, name)
		}
	}
}

// partial reports whether the tools left out names of files.
func (o *overview) partial() bool { return o.total > len(o.files) }

func (o *overview) f(format string, args ...any) { fmt.Fprintf(&o.b, format, args...) }

// write returns the overview in Markdown.
func (o *overview) write() string {
	o.head()
	o.tally()
	o.layout()
	o.tasks()
	o.remarks()
	if len(o.history) > 0 {
		o.f("\n## Recent history\n\n")
		for _, h := range o.history {
			o.f("- %s\n", prose(shorten(h, 160)))
		}
	}
	if len(o.files) > 0 {
		o.gap("the behavior of the code: rules made this overview, from names, manifests, package comments and the README")
	}
	if len(o.gaps) > 0 {
		o.f("\n## What I could not find out\n\n- %s\n", strings.Join(o.gaps, "\n- "))
	}
	return strings.TrimSpace(o.b.String()) + "\n"
}

func (o *overview) head() {
	title, purpose := "", ""
	if names := o.reading(); len(names) > 0 && readmeName().MatchString(names[0]) {
		title, purpose = readme(o.texts[names[0]])
	}
	var kinds []string
	for _, r := range recipes {
		text, ok := o.texts[r.manifest]
		if !ok || r.kind == "" {
			continue
		}
		kind := r.kind
		if g := manifestName().FindStringSubmatch(text); g != nil {
			name := firstOf(g[1], firstOf(g[2], g[3]))
			kind += " " + code(name)
			title = firstOf(title, path.Base(name))
		}
		if g := manifestAbout().FindStringSubmatch(text); g != nil {
			purpose = firstOf(purpose, g[1]+g[2])
		}
		kinds = append(kinds, kind)
	}
	o.f("# %s\n", prose(firstOf(title, o.title)))
	switch {
	case purpose != "":
		o.f("\n%s\n", prose(purpose))
	case len(o.files) == 0:
		o.f("\nThe directory is empty, or everything in it is ignored.\n")
		return
	default:
		o.gap("the purpose of the project: no README and no manifest states it")
	}
	kinds = append(kinds, count(max(o.total, len(o.files)), "file", "files")+o.mainly())
	o.f("\n%s.\n", strings.Join(kinds, "; "))
}

// manifestName matches the name that a project gives itself in go.mod, package.json or a TOML manifest.
var manifestName = lazy(`(?m)^module\s+(\S+)|^\s*"name"\s*:\s*"([^"\n]+)"|^name\s*=\s*"([^"\n]+)"`)

// manifestAbout matches the description in package.json or a TOML manifest.
var manifestAbout = lazy(`(?m)^\s*"description"\s*:\s*"([^"\n]+)"|^description\s*=\s*"([^"\n]+)"`)

// share is the number of files of one language.
type share struct {
	language string
	files    int
}

// shares counts the files of each language, source code before prose, the most files first.
func shares(files []string) []share {
	by := map[string]int{}
	for _, f := range files {
		if l := languages[strings.ToLower(path.Ext(f))]; l != "" && !foreign(f) {
			by[l]++
		}
	}
	var all []share
	for _, l := range slices.Sorted(maps.Keys(by)) {
		all = append(all, share{l, by[l]})
	}
	rank := func(s share) int {
		if isProse(s.language) {
			return s.files - 1<<30
		}
		return s.files
	}
	slices.SortStableFunc(all, func(a, b share) int { return rank(b) - rank(a) })
	return all
}

func (o *overview) mainly() string {
	all := slices.DeleteFunc(shares(o.files), func(s share) bool { return isProse(s.language) })
	switch {
	case len(all) == 0:
		return ", no source code"
	case len(all) == 1:
		return ", written in " + all[0].language
	default:
		return ", mostly " + all[0].language
	}
}

// tally writes the number of files of each language.
func (o *overview) tally() {
	all := shares(o.files)
	if len(all) == 0 {
		return
	}
	o.f("\n## Languages\n\n| Language | Files |\n|---|---:|\n")
	least := ""
	if o.partial() {
		least = "at least "
	}
	for _, s := range all[:min(len(all), mostLanguages)] {
		o.f("| %s | %s%d |\n", s.language, least, s.files)
	}
}

// layout lists the parts: the purpose that a comment or a README states, and the files in each if all names are known.
func (o *overview) layout() {
	if len(o.parts) == 0 {
		return
	}
	o.f("\n## Layout\n\n")
	top := 0
	for _, p := range o.parts {
		nested := strings.Count(p.dir, "/") > 1
		if !nested {
			top++
		}
		if nested && p.about == "" {
			continue
		}
		files := slices.DeleteFunc(slices.Clone(o.files), func(f string) bool { return !strings.HasPrefix(f, p.dir) })
		var facts []string
		if !o.partial() {
			facts = append(facts, count(len(files), "file", "files"))
		}
		if s := shares(files); len(s) > 0 && s[0].files*2 > len(files) && p.about == "" {
			facts = append(facts, "mostly "+s[0].language)
		}
		line := "- " + code(p.dir) + ": " + firstOf(prose(p.about), strings.Join(facts, ", "))
		if p.about != "" && len(facts) > 0 {
			line += " (" + strings.Join(facts, ", ") + ")"
		}
		if nested {
			line = "  " + line
		}
		o.f("%s\n", strings.TrimSuffix(line, ": "))
	}
	if n := len(o.dirs) - top; n > 0 {
		o.f("- and %s\n", count(n, "more directory", "more directories"))
	}
}

// tasks lists the commands that the manifests suggest.
func (o *overview) tasks() {
	var lines []string
	for _, r := range recipes {
		if _, ok := o.texts[r.manifest]; !ok || r.manifest == "Makefile" && len(lines) > 0 {
			continue
		}
		for _, command := range []string{r.build, r.test} {
			if line := "- " + code(command) + "\n"; command != "" && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) > 0 {
		o.f("\n## Build and test\n\n%s", strings.Join(lines, ""))
	}
}

func (o *overview) remarks() {
	notes := slices.DeleteFunc(slices.Clone(o.notes), func(h hit) bool { return foreign(h.path) })
	if len(notes) == 0 {
		return
	}
	o.f("\n## Open TODOs\n\n%s%s:\n\n", atLeast(o.moreNotes), count(len(notes), "note", "notes"))
	for _, n := range notes[:min(len(notes), mostNotes)] {
		o.f("- %s: %s\n", code(fmt.Sprintf("%s:%d", n.path, n.line)), code(shorten(n.text, 120)))
	}
	if n := len(notes) - mostNotes; n > 0 {
		o.f("- and %d more\n", n)
	}
}

// foreign reports whether a file belongs to a dependency or is data for tests.
func foreign(name string) bool {
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		switch dir {
		case "node_modules", "vendor", "third_party", "testdata", "fixtures", "dist", "target", ".git", ".venv", "venv":
			return true
		}
	}
	return false
}

// languages by the extension of a file.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript",
	".jsx": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
	".scala": "Scala", ".clj": "Clojure", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#",
	".rb": "Ruby", ".php": "PHP", ".swift": "Swift", ".m": "Objective-C", ".sh": "Shell", ".bash": "Shell", ".ps1": "PowerShell",
	".pl": "Perl", ".lua": "Lua", ".r": "R", ".jl": "Julia", ".ex": "Elixir", ".exs": "Elixir", ".erl": "Erlang", ".hs": "Haskell",
	".ml": "OCaml", ".dart": "Dart", ".zig": "Zig", ".nim": "Nim", ".sql": "SQL", ".html": "HTML", ".css": "CSS", ".scss": "CSS",
	".vue": "Vue", ".svelte": "Svelte", ".proto": "Protocol Buffers", ".tf": "Terraform", ".nix": "Nix", ".s": "Assembly",
	".md": "Markdown", ".markdown": "Markdown", ".rst": "reStructuredText", ".adoc": "AsciiDoc", ".tex": "TeX", ".txt": "Text",
}

func isProse(language string) bool {
	return slices.Contains([]string{"Markdown", "reStructuredText", "AsciiDoc", "TeX", "Text"}, language)
}

var (
	readmeNoise = lazy(`(?s)<!--.*?(?:-->|$)|` + "(?:^|\n)```.*?(?:\n```|$)" + `|\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)|!\[[^\]]*\]\([^)]*\)`)
	readmeTitle = lazy(`(?im)^\s{0,3}(?:#{1,6}|=+)\s+(.+?)\s*#*\s*$|^\s*<h1[^<>]*>(.+?)</h1>|^(\S.*)\n[=\-~*]{3,}\s*$`)
	noProse     = lazy(`^\s*(?:#|=|-{3,}|\||[-*+] |[0-9]+\. |\.\. |:\w+:|\[[^\]]+\]:|<h\d)`)
	inlineMarks = lazy(`\[([^\]\n]+)\]\([^)\n]*\)|</?[A-Za-z][^>\n]*>|\*\*([^*\n]+)\*\*`)
)

// readme returns the title of a README and its first paragraph of prose, each on one line.
func readme(text string) (title, purpose string) {
	text = readmeNoise().ReplaceAllString(text, "")
	if g := readmeTitle().FindStringSubmatch(text); g != nil {
		title = inlineMarks().ReplaceAllString(g[1]+g[2]+g[3], "$1$2")
	}
	for para := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.Lines(para) {
			line = strings.TrimSpace(inlineMarks().ReplaceAllString(line, "$1$2"))
			if line != title && line != "" && !noProse().MatchString(line) {
				lines = append(lines, strings.TrimPrefix(line, "> "))
			}
		}
		if purpose = strings.Join(lines, " "); len(purpose) >= 20 {
			return shorten(title, 100), shorten(purpose, 600)
		}
	}
	return shorten(title, 100), ""
}

// shorten cuts s, on one line, at a sentence or a word near n bytes.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	s = cut(s, n)
	if i := strings.LastIndex(s, ". "); i > n/2 {
		return s[:i+1]
	}
	return s[:max(strings.LastIndexByte(s, ' '), 0)] + " …"
}

var tagOpening = lazy(`<([A-Za-z/!?])`)

// prose makes foreign text safe in a paragraph: on one line, without tags of its own.
func prose(s string) string {
	return tagOpening().ReplaceAllString(strings.Join(strings.Fields(s), " "), "‹$1")
}
