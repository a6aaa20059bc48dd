package overview

import (
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

func isReadme(name string) bool {
	base := strings.ToLower(path.Base(name))
	return base == "readme" || strings.HasPrefix(base, "readme.")
}

// readmeRank orders the READMEs of one directory.
func readmeRank(name string) int {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return 0
	case ".rst", ".adoc", ".org":
		return 1
	case "", ".txt":
		return 2
	}
	return 3
}

var (
	comment    = lazy.Compile(`(?s)<!--.*?(?:-->|$)`)
	badge      = lazy.Compile(`\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)|!\[[^\]]*\]\([^)]*\)`)
	link       = lazy.Compile(`\[([^\]\n]+)\]\([^)\n]*\)|\[([^\]\n]+)\]\[[^\]\n]*\]`)
	element    = lazy.Compile(`</?[A-Za-z][^>\n]*>`)
	underline  = lazy.Compile(`^\s*(?:={3,}|-{3,}|~{3,}|\*{3,}|\+{3,})\s*$`)
	heading    = lazy.Compile(`^\s{0,3}(?:#{1,6}|=+)\s+(.+?)\s*#*\s*$`)
	headline   = lazy.Compile(`(?i)^\s*<h1[^<>]*>(.+?)</h1>\s*$`)
	noProse    = lazy.Compile(`^\s*(?:\||[-*+] |[0-9]+\. |\.\. |:\w+:|\[[^\]]+\]:)`)
	emphasised = lazy.Compile(`\*\*([^*\n]+)\*\*|__([^_\n]+)__`)
)

// readme returns the title of a README and its first paragraph of prose, both on one line.
func readme(text string) (title, purpose string) {
	text = badge.ReplaceAllString(comment.ReplaceAllString(text, ""), "")
	var para []string
	var before string
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimSpace(clean(line))
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			line, bare = "", ""
		}
		h := heading.FindStringSubmatch(line)
		if h == nil {
			h = headline.FindStringSubmatch(line)
		}
		switch {
		case fenced:
			continue
		case h != nil:
			if title == "" {
				title = clean(h[1])
			}
			bare = ""
		case underline.MatchString(line):
			if title == "" && len(para) <= 1 {
				title = before
				para = nil
			}
			bare = ""
		case noProse.MatchString(line):
			bare = ""
		}
		before = bare
		if bare != "" {
			para = append(para, strings.TrimPrefix(bare, "> "))
			continue
		}
		if len(strings.Join(para, " ")) >= 20 {
			break
		}
		para = nil
	}
	if joined := strings.Join(para, " "); len(joined) >= 20 {
		purpose = short(joined, 600)
	}
	return short(title, 100), purpose
}

// clean removes the marks of links, elements and emphasis.
func clean(s string) string {
	s = link.ReplaceAllString(s, "$1$2")
	s = element.ReplaceAllString(s, "")
	s = emphasised.ReplaceAllString(s, "$1$2")
	return strings.TrimSpace(s)
}

// short cuts s, on one line, at a sentence or a word near n bytes.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[:n], "")
	if i := strings.LastIndex(s, ". "); i > n/2 {
		return s[:i+1]
	}
	if i := strings.LastIndexByte(s, ' '); i > 0 {
		s = s[:i]
	}
	return s + " …"
}
