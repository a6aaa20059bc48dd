package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// oldWords are the places that still have phrases of phrases: the directory of a package, "tests of" a directory, or the file of a document.
// The list only shrinks: it must not have a place without such a phrase.
var oldWords = []string{"tests of undo"}

// phrase is a form of words that the language of the project does not use.
type phrase struct {
	needle  string // a part of every match, in lower case: the search for it is cheaper
	form    *regexp.Regexp
	instead string
}

// phrases are these forms. They are precise rather than complete: a phrase that is good English in its sentence must not match.
var phrases = []phrase{
	{"told", form(`\btold\b`), "report, print, show, see: say who does it"},
	{"tells", form(`\btells\b`), "reports, prints, shows, says"},
	{"tell ", form(`\btell (of|what|why|how|it|whether)\b`), "report, print, show, say"},
	{"mend", form(`\bmend(s|ed|ing)?\b`), "fix"},
	{"body", form(`\b(nobody|somebody)\b`), "no one, or better the person or program that acts"},
	{"whoever", form(`\bwhoever\b`), "the noun that acts"},
	{"anew", form(`\banew\b`), "again"},
	{"all the same", form(`\ball the same\b`), "anyway"},
	{"so long", form(`\bso long\b`), "this long; as long as"},
	{"beside", form(`\bbeside\b`), "next to, with, in addition to"},
	{"be it", form(`\bbe it\b`), "whether"},
	{"stands ", form(`\bstands (there|here|on|at|as|below|above|behind|before|alone|in a|in the|in it)\b`), "is"},
	{"whose id", form(`\bwhose ID begins\b`), "by ID prefix"},
	{"on with", form(`\bgo(es)? on with\b`), "continue"},
	{", for ", form(`, for (it|they|there|he|she|what|who)\b`), "because"},
	{"passing", form(`\bpassing moments?\b`), "transient event"},
	{"wh", form(`(^|[.;:(] )(what|who) (is|was|are|were|has|had|cannot|can|does|did|goes|comes|stands|it|they|a|the)\b[^?]*$`), "a noun as the subject"},
	{"be told", form(`\bit (can|cannot) be told\b`), "Tenon can determine"},
}

func form(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }

var wordRules = []rule{
	{
		name:  "sentences are plain English",
		check: func(t *tree) []string { return oldPhrases(t, oldWords) },
		fix: "write subject, verb, object in the active voice, with the words of the glossary; " +
			"a package without old phrases leaves oldWords in internal/rules/words_test.go",
		files: true,
		broken: map[string]string{
			"zoo/a.go": "// Package zoo tells what nobody knows.\npackage zoo\n\n// A is told of.\nvar A = \"go on with it\"\n\n" +
				"// What is cut is kept.\nvar B int // it goes on, for it must\n\n// What is this? Tell them apart.\nvar C = `is fine`\n",
			"zoo/a_test.go":    "package zoo\n\n// Nobody minds.\n\n// Output:\n// told\nvar d = \"told\"\n",
			"docs/zoo.md":      "# Told\n\n    told in code\n\nText that stands there; what is\nbroken over lines. `nobody` in code.\n",
			"docs/testdata.md": "What is it?\n",
		},
		want: []string{
			`docs/zoo.md:1: "Told"`, `docs/zoo.md:5: "stands there"`, `docs/zoo.md:5: "what is`, `zoo/a.go:1: "tells"`, `zoo/a.go:1: "nobody"`,
			`zoo/a.go:4: "told"`, `zoo/a.go:5: "go on with"`, `zoo/a.go:7: "What is`, `zoo/a.go:8: ", for it"`,
			`zoo/a_test.go:3: "Nobody"`,
		},
	},
}

// oldPhrases finds phrases outside of the places that are listed, and places that are listed without one.
func oldPhrases(t *tree, listed []string) (found []string) {
	places := map[string]bool{}
	for name, hits := range t.phrases {
		places[name] = true
		if !slices.Contains(listed, name) {
			found = append(found, hits...)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		fileA, _, _ := strings.Cut(a, ":")
		fileB, _, _ := strings.Cut(b, ":")
		return strings.Compare(fileA, fileB)
	})
	if len(t.rooms) < 10 && slices.Equal(listed, oldWords) {
		return found // a sample of the rules' own tests
	}
	for _, name := range listed {
		if !places[name] {
			found = append(found, name+" has no old phrase: remove it from oldWords")
		}
	}
	return found
}

// A place without an old phrase must leave the list.
func TestTheListOfOldWordsShrinks(t *testing.T) {
	p := sample(t, map[string]string{"llm/a.go": "package llm // nobody\n", "tool/a.go": "package tool\n"})
	found := oldPhrases(p, []string{"llm", "tool"})
	if len(found) != 1 || !strings.HasPrefix(found[0], "tool has no old phrase") {
		t.Errorf("found %q", found)
	}
}

// phrases yields the phrases of every package, of its tests, and of every document, by their place.
func (t *tree) phrases(yield func(place string, hits []string) bool) {
	for _, r := range t.rooms {
		var hits, ofTests []string
		for _, f := range r.files {
			if f.test {
				ofTests = append(ofTests, f.phrases()...)
			} else {
				hits = append(hits, f.phrases()...)
			}
		}
		if len(hits) > 0 && !yield(r.dir, hits) || len(ofTests) > 0 && !yield("tests of "+r.dir, ofTests) {
			return
		}
	}
	for name, text := range t.texts {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		if hits := phrasesIn(name, 1, withoutCode(string(text))); len(hits) > 0 && !yield(name, hits) {
			return
		}
	}
}

// phrases finds them in the comments and the strings of a file. It skips the strings of a test and the output of an example: many of them
// are data.
func (f *source) phrases() (hits []string) {
	for _, group := range f.ast.Comments {
		text, _, _ := strings.Cut(commentText(group), "Output:\n")
		hits = append(hits, phrasesIn(f.path, f.fset.Position(group.Pos()).Line, text)...)
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !f.test {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				hits = append(hits, phrasesIn(f.path, f.fset.Position(lit.Pos()).Line, text)...)
			}
		}
		return true
	})
	slices.SortStableFunc(hits, func(a, b string) int { return lineOf(a) - lineOf(b) })
	return hits
}

func lineOf(hit string) int {
	n, _ := strconv.Atoi(strings.SplitN(hit, ":", 3)[1])
	return n
}

// commentText is the text of a comment with its lines as they are, but for the slashes.
func commentText(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		text := strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), " ")
		text = strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/")
		b.WriteString(text + "\n")
	}
	return b.String()
}

var code = regexp.MustCompile("`[^`\n]*`")

// withoutCode is Markdown without what is code in it. Lines stay where they are.
func withoutCode(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			line = "\n"
		}
		if fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			line = "\n"
		}
		if strings.HasPrefix(line, "#") {
			line = strings.TrimRight(line, "\n") + "?\n" // a heading may be a question without its mark
		}
		b.WriteString(code.ReplaceAllString(strings.TrimLeft(line, "#-*|> "), "code"))
	}
	return b.String()
}

// phrasesIn finds phrases in a text whose first line has a number. A sentence may go over several lines.
func phrasesIn(name string, line int, text string) (hits []string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		flat := strings.ReplaceAll(paragraph, "\n", " ")
		start := 0
		for start < len(flat) {
			end := len(flat) // of the sentence, without what ends it
			if i := strings.IndexAny(flat[start:], ".?!"); i >= 0 {
				end = min(start+i+1, len(flat))
			}
			sentence := flat[start:end]
			lower := strings.ToLower(sentence)
			for _, p := range phrases {
				if !strings.Contains(lower, p.needle) {
					continue
				}
				for _, at := range p.form.FindAllStringIndex(strings.TrimRight(sentence, "."), -1) {
					hits = append(hits, fmt.Sprintf("%s:%d: %q: write %s", name,
						line+strings.Count(paragraph[:start+at[0]], "\n"), shortened(strings.TrimLeft(sentence[at[0]:at[1]], ";:( ")), p.instead))
				}
			}
			start = end
		}
		line += strings.Count(paragraph, "\n") + 2
	}
	slices.SortStableFunc(hits, func(a, b string) int { return lineOf(a) - lineOf(b) })
	return hits
}

func shortened(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return strings.TrimLeft(text, " ")
}
