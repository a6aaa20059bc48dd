package offline

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxInstructions bounds how many instructions of one message the model executes.
const maxInstructions = 50

// parse returns the instructions of a text, in their order. A clause that no rule matches becomes an instruction with the
// verb unknown. Only a blank text has no instructions.
func parse(text string) []instruction {
	m := mask(text)
	var all []instruction
	last := "" // the path that "it" refers to
	for _, c := range clauses(m) {
		in := m.instruction(c)
		in.text = strings.TrimSpace(m.raw(c))
		if isPronoun(in.path) {
			in.path = last
		}
		if in.path != "" {
			last = in.path
		}
		if n := len(all); n > 0 && in.verb == unknown && all[n-1].verb == unknown {
			all[n-1].text += "\n" + in.text
			continue
		}
		if all = append(all, in); len(all) == maxInstructions {
			break
		}
	}
	return all
}

var (
	numbered = lazy(`^\s*(?:[0-9]{1,2}[.)]|[-*•])\s+`)
	filler   = lazy(`(?i)^[\s,]*(?:please|now|also|first|finally|next|then|and|just|(?:can|could|would|will) you)\b[\s,:]*`)
	verbs    = lazy(`(?i)^(?:[$!]\s*\S|(?:list|ls|tree|show|read|open|print|display|cat|view|look|find|locate|search|grep|where|which|what|how|count|` +
		`replace|change|rename|substitute|create|make|write|add|save|overwrite|append|put|touch|run|execute|test|build|describe|explain|` +
		`summari[sz]e|outline|overview|tell|give|help|in|lines?)\b)`)
	then = lazy(`(?i)[,;.!?]?\s+(?:and\s+)?(?:then|finally)[,:]?\s+`)
	// opening matches a line that announces the content of a file, or a task, in the lines after it.
	opening = lazy(`(?i)^(?:(?:create|make|write|add|overwrite)\b.*(?::|\bwith|\bcontaining)|give\b.*\btask\b.*:)\s*$`)
)

// clauses splits a masked text into clauses. Each is a line or a part of one. A line that begins with no known verb
// continues the clause before it, and the lines after an opening are its content, which gives no instructions.
func clauses(m *masked) (out []string) {
	lines := strings.Split(m.text, "\n")
	for i, line := range lines {
		body := bare(numbered().ReplaceAllString(line, ""))
		rest := strings.Join(lines[i+1:], "\n")
		n := len(out)
		switch {
		case body == "":
		case opening().MatchString(body) && strings.TrimSpace(rest) != "" && !strings.HasPrefix(strings.TrimSpace(rest), "\x00"):
			return append(out, body+"\n"+m.hide(strings.TrimRight(m.raw(rest), " \t\n")+"\n"))
		case n > 0 && !numbered().MatchString(line) && !verbs().MatchString(body):
			if len(out[n-1]) <= maxClause {
				out[n-1] += "\n" + body
			}
		default:
			out = append(out, split(body)...)
		}
	}
	return out
}

// bare removes the polite words before a clause.
func bare(s string) string {
	for {
		loc := filler().FindStringIndex(s)
		if loc == nil || loc[1] == len(s) {
			return strings.TrimSpace(s)
		}
		s = s[loc[1]:]
	}
}

// split cuts a line at each "then" between two clauses that begin with known verbs. It never splits a command after its
// mark or a text that begins with no verb: such a text may be a story about commands.
func split(s string) (out []string) {
	if len(s) > maxClause || strings.ContainsAny(s[:1], "$!") {
		return []string{s}
	}
	for from := 0; ; {
		loc := then().FindStringIndex(s[from:])
		if loc == nil {
			return append(out, s)
		}
		head, rest := s[:from+loc[0]], bare(s[from+loc[1]:])
		if from += loc[1]; verbs().MatchString(head) && verbs().MatchString(rest) {
			out, s, from = append(out, strings.TrimSpace(head)), rest, 0
		}
	}
}

// masked is a text whose quotes and code blocks are replaced by marks, so that no rule matches inside them.
type masked struct {
	text  string
	spans []span
}

// span is a quote: as the user wrote it, and the text inside.
type span struct{ raw, inner string }

var (
	mark   = lazy("\x00([0-9]+)\x00")
	quotes = lazy("(?s)(^|[\\s(=:,])(```[^\n]*\n(.*?)```|`([^`\n]+)`|\"((?:[^\"\\\\]|\\\\.)*)\"|'([^'\n]*)')")
)

// mask hides the quotes, backticks and code blocks of text. A quote opens only where a word could begin, so an apostrophe
// opens none.
func mask(text string) *masked {
	m := &masked{}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x00", "")
	m.text = quotes().ReplaceAllStringFunc(text, func(found string) string {
		g := quotes().FindStringSubmatch(found)
		m.spans = append(m.spans, span{g[2], g[3] + g[4] + strings.ReplaceAll(g[5], `\"`, `"`) + g[6]})
		return g[1] + m.last()
	})
	return m
}

func (m *masked) last() string { return fmt.Sprintf("\x00%d\x00", len(m.spans)-1) }

// hide makes a span of text.
func (m *masked) hide(text string) string {
	m.spans = append(m.spans, span{text, text})
	return m.last()
}

// raw returns s with its spans as the user wrote them.
func (m *masked) raw(s string) string { return m.unmask(s, func(q span) string { return q.raw }) }

// value returns the inside of s if s is one quote, and otherwise s as the user wrote it.
func (m *masked) value(s string) (value string, quoted bool) {
	s = strings.TrimSpace(s)
	if bare := strings.TrimRight(s, ".,;!?"); bare != "" && mark().FindString(bare) == bare {
		return m.unmask(bare, func(q span) string { return q.inner }), true
	}
	return m.raw(s), false
}

func (m *masked) unmask(s string, text func(span) string) string {
	return mark().ReplaceAllStringFunc(s, func(found string) string {
		i, err := strconv.Atoi(strings.Trim(found, "\x00"))
		if err != nil || i >= len(m.spans) {
			return ""
		}
		return text(m.spans[i])
	})
}

const globRunes = "*?[{"

var (
	article = lazy(`(?i)^` + the)
	suffix  = lazy(`(?i)\s+(?:file|directory|folder|package|module)$`)
	// everywhere matches the words for the project as a whole.
	everywhere = lazy(`(?i)^(?:here|there|\.|root|files?|` + project + `)?$`)
	kindFiles  = lazy(`(?i)^(\S+)\s+files?(?:\s+` + within + `\s+(.+))?$`)
)

// scope returns the place that s names: a file or directory, and a pattern for file names. Both are empty for the project
// as a whole.
func (m *masked) scope(s string) (dir, glob string) {
	s = article().ReplaceAllString(strings.TrimSpace(s), "")
	if g := kindFiles().FindStringSubmatch(s); g != nil {
		if name, _ := m.value(g[1]); kind(name) != "" {
			dir, _ = m.scope(g[2])
			return dir, kind(name)
		}
	}
	v, quoted := m.value(suffix().ReplaceAllString(s, ""))
	if v = strings.TrimRight(v, ",;!?"); !quoted && everywhere().MatchString(v) {
		return "", ""
	}
	if !strings.ContainsAny(v, globRunes) {
		return v, ""
	}
	if dir, glob = path.Split(v); strings.ContainsAny(dir, globRunes) {
		return "", v
	}
	return strings.TrimSuffix(dir, "/"), glob
}

// kind returns the pattern for file names that s means: a pattern itself, a language, or an extension. It returns "" for
// every other word.
func kind(s string) string {
	if strings.ContainsAny(s, globRunes) {
		return s
	}
	s = strings.ToLower(strings.TrimPrefix(s, "."))
	of := languages["."+s]
	var found []string
	for extension, language := range languages {
		if language == of || strings.ToLower(language) == s {
			found = append(found, extension[1:])
		}
	}
	switch slices.Sort(found); {
	case len(found) == 0:
		return ""
	case len(found) == 1:
		return "*." + found[0]
	default:
		return "*.{" + strings.Join(found, ",") + "}"
	}
}

// anywhere returns a pattern that matches in all directories if glob names none.
func anywhere(glob string) string {
	if glob == "" || strings.Contains(glob, "/") {
		return glob
	}
	return "**/" + glob
}

// fileLike matches a file name or a pattern for file names, but no plain word.
var fileLike = lazy(`(?i)^(?:[\w@~./\\+*?{},\[\]-]*(?:\.[a-z]\w{0,9}|[*?][\w.*{},]*|/[\w.-]+)|\.[^ /]\S*|(?:make|docker|gem|rake|proc|jenkins)file|license|readme|changelog|notice)$`)

func isFileLike(s string) bool { return fileLike().MatchString(s) }

// number returns the number that s is, or 0.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
