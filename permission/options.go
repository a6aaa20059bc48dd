package permission

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// optionPattern is an option of a pattern, as rules that ask or deny read it: it may be spelled in other ways, be bundled with
// others, and stand anywhere.
type optionPattern struct {
	names  []glob // its spellings, of which the first is the one of the pattern
	value  glob
	valued bool // only with this value
}

// sort makes the options and operands of the words.
func (p *wordPattern) sort() {
	words := make([]string, len(p.words), len(p.words)+1)
	for i, g := range p.words {
		words[i] = g.text
	}
	if p.rest {
		words = append(words, string(star)) // which an option may take for its value
	}
	if len(p.words) == 0 {
		return
	}
	options, operands, _ := command.Sort(words)
	for _, o := range options {
		one := optionPattern{names: []glob{globOf(o.Given)}}
		for _, n := range o.Names {
			if n != o.Given {
				one.names = append(one.names, globOf(n))
			}
		}
		one.value, one.valued = globOf(o.Value), o.Valued && o.Value != string(star)
		p.options = append(p.options, one)
	}
	if p.rest && len(operands) > 1 && operands[len(operands)-1] == string(star) {
		operands = operands[:len(operands)-1]
	}
	for _, o := range operands[1:] {
		p.operands = append(p.operands, globOf(o))
	}
}

// globOf is the pattern whose text has the signs for * and ?.
func globOf(text string) glob {
	return glob{text, strings.ContainsRune(text, star) || strings.ContainsRune(text, one), text == string(star)}
}

// hits reports whether a command has the option, and in which spelling.
func (o *optionPattern) hits(c *command.Command, dynamic func(int) bool) (certainty, string) {
	best, given := no, ""
	note := func(fits certainty, as string) {
		if fits > best {
			best, given = fits, as
		}
	}
	for i := range c.Options {
		g := &c.Options[i]
		if !o.means(g.Names) {
			continue
		}
		switch {
		case !o.valued || g.Valued && !g.Dynamic && o.value.is(g.Value):
			note(yes, g.Given)
		case g.Dynamic:
			note(maybe, g.Given)
		}
	}
	if best == yes {
		return best, given
	}
	if letters := o.names[0].letters(); len(letters) > 1 && !slices.ContainsFunc(letters, func(l string) bool { return !has(c, l, dynamic) }) {
		return yes, o.names[0].text
	}
	if c.Sorted {
		return best, given
	}
	for i := 1; i < len(c.Words) && best != yes; i++ {
		if dynamic(i) {
			note(maybe, "")
			continue
		}
		for _, name := range o.names {
			if value, attached, ok := name.option(c.Words[i]); ok {
				note(o.with(value, attached, c, i+1, dynamic), c.Words[i])
			}
		}
	}
	return best, given
}

// means reports whether one of the spellings is one of the option.
func (o *optionPattern) means(names []string) bool {
	return slices.ContainsFunc(o.names, func(g glob) bool { return slices.ContainsFunc(names, g.is) })
}

// with reports whether the option has its value, attached or in the next word.
func (o *optionPattern) with(value string, attached bool, c *command.Command, next int, dynamic func(int) bool) certainty {
	switch {
	case !o.valued || attached && o.value.is(value):
		return yes
	case next < len(c.Words) && dynamic(next):
		return maybe
	case next < len(c.Words) && o.value.is(c.Words[next]):
		return yes
	}
	return no
}

// has reports whether a command has an option of one letter.
func has(c *command.Command, letter string, dynamic func(int) bool) bool {
	one := optionPattern{names: []glob{{text: letter}}}
	fits, _ := one.hits(c, dynamic)
	return fits == yes
}

// letters splits a bundle of options such as -rf, for programs that the table does not have.
func (g glob) letters() (all []string) {
	const most = 3 // a longer one is probably a word, such as -jar
	rest, ok := strings.CutPrefix(g.text, "-")
	if !ok || g.wild || len(rest) > most || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return nil
	}
	for _, r := range rest {
		all = append(all, "-"+string(r))
	}
	return all
}

// option reports whether a word is the option, shortened or with its value, or has it among its letters.
func (g glob) option(word string) (value string, attached, ok bool) {
	name, value, attached := strings.Cut(word, "=")
	switch {
	case g.is(word):
		return "", false, true
	case g.is(name):
		return value, attached, true
	case strings.HasPrefix(word, "--"):
		shortened := len(name) > 3 && strings.HasPrefix(g.text, name)
		return value, attached, shortened || len(g.text) > 2 && g.is(name[1:])
	case len(g.text) == 2 && len(word) > 1 && word[0] == '-':
		_, value, ok = strings.Cut(word[1:], g.text[1:])
		return value, value != "", ok
	}
	return value, attached, strings.HasPrefix(word, "-") && g.is("-"+name)
}

// synonyms lists the words of a command that match options of the pattern in another spelling: "--recursive is -r".
func (p wordPattern) synonyms(c *command.Command) string {
	var all []string
	for i := range p.options {
		o := &p.options[i]
		_, given := o.hits(c, func(i int) bool { return slices.Contains(c.Dynamic, i) })
		written, bundle := o.names[0], strings.HasPrefix(given, "-") && !strings.HasPrefix(given, "--")
		if given == "" || written.is(given) || bundle && len(written.text) == 2 && strings.Contains(given, written.text[1:]) {
			continue
		}
		all = append(all, given+" is "+asWritten(written.text))
	}
	return strings.Join(all, ", ")
}

// asWritten is the text of a glob as rules write it.
func asWritten(text string) string {
	return strings.NewReplacer(string(star), "*", string(one), "?").Replace(text)
}
