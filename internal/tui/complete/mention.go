package complete

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mention is a file or a directory that a prompt mentions with @.
type Mention struct {
	Path       string // as written, without quotes
	From, To   int    // lines, the first is 1; zero without a range
	Start, End int    // the bytes of the mention in the text
}

// maxMentions bounds the mentions of one prompt.
const maxMentions = 200

var lineRange = regexp.MustCompile(`^:(\d{1,9})(?:-(\d{1,9}))?`)

// Mentions returns the mentions of a text: @path, @path:10, @path:10-40 or @"path with blanks":10-40, at the start of a word. Whether a file
// has the path, the caller finds out.
func Mentions(text string) []Mention {
	var all []Mention
	for at := 0; len(all) < maxMentions; {
		n := strings.IndexByte(text[at:], '@')
		if n < 0 {
			break
		}
		at += n
		start := at
		at++
		if !startsWord(text, start) {
			continue
		}
		m := Mention{Start: start}
		if path, rest, ok := quoted(text[at:]); ok {
			m.Path, at = path, len(text)-len(rest)
			if found := lineRange.FindStringSubmatch(rest); found != nil {
				at += len(found[0])
				m.lines(found)
			}
		} else {
			end := strings.IndexAny(text[at:], " \t\n\"'`<>|()[]{}")
			if end < 0 {
				end = len(text) - at
			}
			m.Path = strings.TrimRight(text[at:at+end], ".,;:!?")
			at += len(m.Path)
			if colon := strings.LastIndexByte(m.Path, ':'); colon > 0 {
				if found := lineRange.FindStringSubmatch(m.Path[colon:]); found != nil && len(found[0]) == len(m.Path)-colon {
					m.Path = m.Path[:colon]
					m.lines(found)
				}
			}
		}
		if m.End = at; m.Path != "" {
			all = append(all, m)
		}
	}
	return all
}

func (m *Mention) lines(found []string) {
	m.From, _ = strconv.Atoi(found[1])
	if m.To = m.From; found[2] != "" {
		m.To, _ = strconv.Atoi(found[2])
	}
	if m.To < m.From {
		m.From, m.To = m.To, m.From
	}
}

// startsWord reports whether a mention may start at a place.
func startsWord(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\n([{\"'`,;", text[at-1]) >= 0
}

// quoted cuts a text in quotation marks from the start of s. A backslash escapes a quotation mark and a backslash.
func quoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\n':
			return "", s, false
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", s, false
}

// Write returns the mention of a path as a person writes it, in quotation marks if it needs them.
func Write(path string) string {
	if strings.ContainsAny(path, " \t\"'`<>|()[]{}:\\") || strings.TrimRight(path, ".,;!?") != path {
		return `@"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
	}
	return "@" + path
}

// Token is the mention that a person is writing.
type Token struct {
	Start   int    // of the @
	Pattern string // the path so far
	Lines   string // the range of lines so far, with its colon
	Quoted  bool
}

// maxToken bounds how far back a mention may start.
const maxToken = 1 << 10

// Writing returns the mention at the end of the text before the cursor.
func Writing(before string) (t Token, ok bool) {
	from := max(len(before)-maxToken, strings.LastIndexByte(before, '\n')+1, 0)
	for at := len(before) - 1; at >= from; at-- {
		if before[at] != '@' || !startsWord(before, at) {
			continue
		}
		t.Start, t.Pattern = at, before[at+1:]
		if t.Pattern, t.Quoted = strings.CutPrefix(t.Pattern, `"`); !t.Quoted {
			if strings.ContainsAny(t.Pattern, " \t") {
				return t, false
			}
			if colon := strings.LastIndexByte(t.Pattern, ':'); colon > 0 && strings.Trim(t.Pattern[colon+1:], "0123456789-") == "" {
				t.Pattern, t.Lines = t.Pattern[:colon], t.Pattern[colon:]
			}
			return t, true
		}
		if _, _, closed := quoted(before[at+1:]); closed {
			return t, false
		}
		t.Pattern = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(t.Pattern)
		return t, true
	}
	return t, false
}

// Limits of a paste of dropped files.
const (
	maxDropped     = 16 << 10
	maxDroppedFile = 50
)

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// Dropped returns the paths of a paste that consists of nothing but absolute paths and file URIs, as terminals write them if a person drops
// files: with quotation marks or with escaped blanks. It is nil for every other text. Whether the files exist, the caller finds out.
func Dropped(paste string) []string {
	text := strings.TrimSpace(paste)
	if text == "" || len(text) > maxDropped || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) {
		return nil
	}
	paths, ok := Fields(text)
	for i, word := range paths {
		paths[i] = absolute(word)
	}
	switch {
	case ok && len(paths) <= maxDroppedFile && !slices.Contains(paths, ""):
		return paths
	case absolute(text) != "" && !strings.ContainsAny(text, "\n\r"): // with blanks, but without quotes
		return []string{absolute(text)}
	}
	return nil
}

// absolute returns the absolute path that a word is, or is a file URI of.
func absolute(word string) string {
	if strings.HasPrefix(word, "file://") {
		u, err := url.Parse(word)
		if err != nil || u.Host != "" && u.Host != "localhost" || strings.IndexByte(u.Path, 0) >= 0 {
			return ""
		}
		if word = u.Path; drive.MatchString(strings.TrimPrefix(word, "/")) {
			word = word[1:]
		}
	}
	if strings.HasPrefix(word, "/") && len(word) > 1 || drive.MatchString(word) {
		return word
	}
	return ""
}

// Fields splits a text at blanks outside of quotation marks, as a shell does. ok is false if a quotation mark is missing. A backslash does
// not escape in a path that begins with a drive.
func Fields(text string) (words []string, ok bool) {
	const blanks = " \t\r\n"
	for text = strings.TrimLeft(text, blanks); text != ""; text = strings.TrimLeft(text, blanks) {
		windows := drive.MatchString(strings.TrimLeft(text, `"'`))
		var word strings.Builder
		quote, i := byte(0), 0
		for ; i < len(text) && (quote != 0 || strings.IndexByte(blanks, text[i]) < 0); i++ {
			switch c := text[i]; {
			case c == quote:
				quote = 0
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case c == '\\' && quote != '\'' && !windows && i+1 < len(text):
				i++
				word.WriteByte(text[i])
			default:
				word.WriteByte(c)
			}
		}
		if quote != 0 {
			return nil, false
		}
		words, text = append(words, word.String()), text[i:]
	}
	return words, true
}
