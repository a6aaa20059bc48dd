package permission

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// certainty is whether a rule matches.
type certainty int

const (
	no certainty = iota
	maybe
	yes
)

// wordPattern is a pattern of commands, word by word.
type wordPattern struct {
	words []glob
	rest  bool // any further words

	// How ask and deny rules read the words.
	options  []optionPattern
	operands []glob // without the program
}

// glob is a pattern of one word, or a text if it is not wild.
type glob struct {
	text string // * and ? are the signs star and one below
	wild bool
	lone bool // nothing but a star
}

const (
	star = '\uE000' // private characters, so that * and ? in the text stay literal
	one  = '\uE001'
)

// parseWords reads a pattern: words with * and ?, quotes and backslashes as in a shell.
func parseWords(s string) (wordPattern, error) {
	var p wordPattern
	var b strings.Builder
	open, wild, quote := false, false, rune(0)
	end := func() {
		if text := b.String(); open {
			p.words = append(p.words, glob{text, wild, text == string(star)})
		}
		open, wild = false, false
		b.Reset()
	}
	escaped := false
	for _, r := range s {
		switch {
		case r == star || r == one:
			return p, errors.New("invalid character")
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			open, quote = true, r
		case r == ' ' || r == '\t':
			end()
		case r == '*':
			b.WriteRune(star)
			open, wild = true, true
		case r == '?':
			b.WriteRune(one)
			open, wild = true, true
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if quote != 0 || escaped {
		return p, errors.New("unterminated quote or backslash")
	}
	end()
	if n := len(p.words); n > 0 && p.words[n-1].lone {
		p.words, p.rest = p.words[:n-1], true
	}
	if len(p.words) == 0 && !p.rest {
		return p, errors.New("no command; leave out the brackets for every command")
	}
	for _, r := range []string{";", "&&", "||", "|", "&"} {
		for _, w := range p.words {
			if w.text == r {
				return p, errors.New("a pattern is one command, without " + r + "; write one rule for each command")
			}
		}
	}
	p.sort()
	return p, nil
}

// is reports whether the pattern matches a word.
func (g glob) is(word string) bool {
	if !g.wild {
		return g.text == word
	}
	return fits([]rune(g.text), []rune(word))
}

// fits matches with stars, in time that grows with the product of the lengths.
func fits(pattern, word []rune) bool {
	p, w, back, from := 0, 0, -1, 0
	for w < len(word) {
		switch {
		case p < len(pattern) && pattern[p] == star:
			back, from = p, w
			p++
		case p < len(pattern) && (pattern[p] == one || pattern[p] == word[w]):
			p++
			w++
		case back >= 0:
			from++
			p, w = back+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == star {
		p++
	}
	return p == len(pattern)
}

// covers reports whether an allow rule with the pattern covers the command: word by word, with no unknown word and no effect of
// the text around it. Relative names of programs in rules start at root.
func (p wordPattern) covers(c *command.Command, root string) bool {
	words := c.Words
	if len(c.Dynamic) > 0 || c.Adds != 0 || len(words) < len(p.words) || len(words) > len(p.words) && !p.rest || len(words) == 0 {
		return false
	}
	if len(p.words) == 0 {
		return !strings.Contains(words[0], "/")
	}
	for i, g := range p.words {
		word := words[i]
		if i == 0 && strings.Contains(word, "/") {
			if !g.program(word, c.Dir, root) {
				return false
			}
			continue
		}
		if !g.is(word) || g.wild && strings.ContainsAny(word, "*?[") {
			return false // the shell may expand it to several words
		}
	}
	return true
}

// program reports whether the pattern matches a program that the command names by its path.
func (g glob) program(word, dir, root string) bool {
	if g.wild || !strings.Contains(g.text, "/") {
		return false
	}
	return dir != "" && at(dir, word) == at(root, g.text)
}

func at(dir, name string) string {
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		name = path.Join(filepath.ToSlash(dir), name)
	}
	return path.Clean(name)
}

// hits reports whether an ask or deny rule with the pattern matches the command. Options may stand anywhere and have
// values, programs may be named by a path, a star between words is any number of them.
func (p wordPattern) hits(c *command.Command) certainty {
	if len(c.Words) == 0 {
		return maybe
	}
	if len(p.words) > 0 {
		for _, via := range c.Via {
			if program, _, _ := strings.Cut(via, " "); p.words[0].names(program) {
				if p.rest && p.begins(strings.Fields(via)) {
					return yes
				}
				return max(maybe, p.itself(c))
			}
		}
	}
	return p.itself(c)
}

// begins reports whether these words have all of the pattern: sh -c.
func (p wordPattern) begins(words []string) bool {
	return len(p.words) <= len(words) && !slices.ContainsFunc(p.words[1:], func(g glob) bool { return !slices.ContainsFunc(words, g.is) })
}

// itself is hits for the command without its wrappers.
func (p wordPattern) itself(c *command.Command) certainty {
	dynamic := func(i int) bool { return slices.Contains(c.Dynamic, i) }
	if len(p.words) == 0 {
		return yes
	}
	found := yes
	switch {
	case dynamic(0): // it may be several words
		return maybe
	case p.words[0].expanded(c.Words[0]) || p.words[0].expanded(path.Base(c.Words[0])):
		found = maybe
	case !p.words[0].names(c.Words[0]):
		return no
	}
	for i := range p.options {
		fits, _ := p.options[i].hits(c, dynamic)
		found = min(found, fits)
	}
	if found == no || len(p.operands) == 0 && p.rest {
		return found
	}
	return min(found, ordered(p.operands, p.rest, c.Words, dynamic))
}

// expanded reports whether the shell may expand a word with *, ? or [ to the text of the pattern.
func (g glob) expanded(word string) bool {
	if g.wild || !strings.ContainsAny(word, "*?[") {
		return false
	}
	ok, _ := path.Match(word, g.text)
	return ok && word != g.text
}

// names reports whether the pattern matches a program, by name or path.
func (g glob) names(word string) bool {
	g.text, word = strings.ToLower(g.text), strings.TrimSuffix(strings.ToLower(word), ".exe")
	return g.is(word) || !strings.Contains(g.text, "/") && g.is(path.Base(filepath.ToSlash(word)))
}

// ordered reports whether the operands come in this order, with options and their values between them.
func ordered(operands []glob, rest bool, words []string, dynamic func(int) bool) certainty {
	m, n := len(operands), len(words)
	next, after := make([]certainty, m+1), make([]certainty, m+1) // of the words from the next one on, and from the one after that
	next[m] = yes
	for j := n - 1; j >= 1; j-- {
		now := make([]certainty, m+1)
		for i := m; i >= 0; i-- {
			best := no
			if i == m && rest {
				best = yes
			}
			switch word := words[j]; {
			case dynamic(j):
				for k := i; k <= m; k++ { // it may be any number of words
					best = max(best, min(maybe, next[k]))
				}
			default:
				if strings.HasPrefix(word, "-") && word != "-" {
					if best = max(best, next[i]); j+1 < n {
						best = max(best, after[i])
					}
				}
				value, attached := word, true
				if strings.HasPrefix(word, "--") {
					_, value, attached = strings.Cut(word, "=")
				}
				switch {
				case i == m:
				case operands[i].is(word) || attached && operands[i].is(value):
					best = max(best, next[i+1])
				case operands[i].expanded(word):
					best = max(best, min(maybe, next[i+1]))
				}
				if i < m && operands[i].lone {
					best = max(best, next[i])
				}
			}
			now[i] = best
		}
		next, after = now, next
	}
	return next[0]
}
