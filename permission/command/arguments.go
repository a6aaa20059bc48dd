package command

import "strings"

// given is an option in a command line.
type given struct {
	option
	text word // its value
}

// arguments are the words after a program, split into options and operands.
type arguments struct {
	options  []given
	operands []word
	sorted   bool   // options are apart from operands
	strange  string // the reason if the split is uncertain
	hidden   bool   // an unknown word may be an option
}

func (g *arguments) doubt(why string) {
	if g.strange == "" {
		g.strange = why
	}
}

// has reports whether the line has one of the options.
func (g *arguments) has(names ...string) bool {
	for _, o := range g.options {
		for _, n := range names {
			if o.name == n {
				return true
			}
		}
	}
	return false
}

// effect reports whether one of the options has the effect.
func (g *arguments) effect(letter byte) bool {
	for _, o := range g.options {
		if strings.IndexByte(o.effects, letter) >= 0 {
			return true
		}
	}
	return false
}

// sort splits the words after a program as its own parser does.
func (p *program) sort(words []word) (g arguments) {
	switch {
	case p.style == "plain":
		for _, w := range words {
			if g.hidden = g.hidden || w.mayBeOption(); p.stop && !strings.HasPrefix(w.text, "-") {
				break
			}
		}
		g.operands = words
		return g
	case p.options == " " && p.does != 0 && len(p.operands) == 0:
		g.operands = words
		return g
	case p.style == "tar":
		words = oldTar(words)
	}
	g.sorted = true
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.is("--"):
			g.operands = append(g.operands, words[i+1:]...)
			return g
		case !w.glob && strings.HasPrefix(w.text, "-") && (len(w.text) > 1 || w.dynamic):
			g.hidden = g.hidden || w.splits // into more words, which may be options
			i += p.take(&g, w, words[i+1:])
		default:
			g.hidden = g.hidden || w.mayBeOption()
			if p.stop {
				g.operands = append(g.operands, words[i:]...)
				return g
			}
			g.operands = append(g.operands, w)
		}
	}
	return g
}

// take reads one word of options, and returns how many of the following words are values of it.
func (p *program) take(g *arguments, w word, rest []word) int {
	if p.style == "go" || strings.HasPrefix(w.text, "--") {
		return p.takeLong(g, w, rest)
	}
	if o, ok := p.option(w.text); ok && w.known() && len(w.text) > 2 { // -nv of wget
		if o.value && !o.optional {
			return p.value(g, o, rest)
		}
		g.options = append(g.options, given{option: o})
		return 0
	}
	for i := 1; i < len(w.text); i++ {
		o, ok := p.option("-" + w.text[i:i+1])
		if !ok && w.text[i] >= '0' && w.text[i] <= '9' {
			o, ok = p.option("-#")
		}
		if !ok {
			g.doubt("unknown option -" + shown(w.text[i:i+1]))
			return 0
		}
		if o.value {
			attached := word{text: w.text[i+1:], dynamic: w.dynamic}
			if attached.text != "" || w.dynamic || o.optional {
				g.options = append(g.options, given{o, attached})
				return 0
			}
			return p.value(g, o, rest)
		}
		g.options = append(g.options, given{option: o})
	}
	if w.dynamic {
		g.doubt("an option cannot be determined in advance")
	}
	return 0
}

func (p *program) takeLong(g *arguments, w word, rest []word) int {
	name, value, attached := strings.Cut(w.text, "=")
	if w.dynamic && !attached {
		g.doubt("an option cannot be determined in advance")
		return 0
	}
	if p.style == "go" {
		name = "-" + strings.TrimLeft(name, "-")
	}
	o, ok := p.option(name)
	if !ok && p.style != "go" {
		o, ok = p.abbreviated(name)
	}
	switch {
	case !ok:
		g.doubt("unknown option " + shown(name))
		return 0
	case attached:
		g.options = append(g.options, given{o, word{text: value, dynamic: w.dynamic}})
		return 0
	case o.value && !o.optional:
		return p.value(g, o, rest)
	}
	g.options = append(g.options, given{option: o})
	return 0
}

// value takes the next word as the value of an option.
func (p *program) value(g *arguments, o option, rest []word) int {
	if len(rest) == 0 {
		g.options = append(g.options, given{option: o})
		return 0
	}
	v := rest[0]
	g.hidden = g.hidden || v.splits || v.glob
	if p.danger > cannotHarm && strings.HasPrefix(v.text, "-") && len(v.text) > 1 && !isNumber(v.text) {
		g.doubt("the value of " + o.name + " looks like an option")
	}
	if o.kind == twoTexts || o.kind == textAndRead {
		if len(rest) < 2 {
			return 1
		}
		g.options = append(g.options, given{o, rest[1]})
		return 2
	}
	g.options = append(g.options, given{o, v})
	return 1
}

// kinds returns the kinds of n operands, nil if the program takes fewer.
func (p *program) kinds(n int) []kind {
	star := -1
	for i, k := range p.operands {
		if k.many {
			star = i
		}
	}
	all := make([]kind, 0, n)
	for i := range n {
		switch after := len(p.operands) - star - 1; {
		case star < 0 && i >= len(p.operands):
			return nil
		case star < 0 || i < star:
			all = append(all, p.operands[i].kind)
		case n-i <= after:
			all = append(all, p.operands[len(p.operands)-(n-i)].kind)
		default:
			all = append(all, p.operands[star].kind)
		}
	}
	return all
}

// loose reports whether a word that may expand to several shifts other operands to other positions.
func (p *program) loose(operands []word) bool {
	star, n := -1, len(operands)
	for i, k := range p.operands {
		if k.many {
			star = i
		}
	}
	for i, w := range operands {
		if (w.splits || w.glob) && (star < 0 || i < star || i >= n-(len(p.operands)-star-1)) {
			return true
		}
	}
	return false
}
