package command

import (
	"path"
	"strings"
)

// Sort splits the words of a command as its program does, by the table of programs. Options have all their spellings. Operands start
// with the program. If the table does not have everything, ok is false: the options are then the words that start with a dash, with
// the known spellings, and their values may be among the operands.
func Sort(words []string) (options []Option, operands []string, ok bool) {
	if len(words) == 0 {
		return nil, nil, false
	}
	name := path.Base(words[0])
	p, args := programs()[name], make([]word, len(words)-1)
	for i, w := range words[1:] {
		args[i].text = w
	}
	operands = words[:1:1]
	for last := p; ; {
		if p == nil {
			return last.guess(words)
		}
		g := p.sort(args)
		if last = p; !g.certain() {
			return p.guess(words)
		}
		for _, o := range g.options {
			options = append(options, o.listed())
		}
		if !p.sub || len(g.operands) == 0 {
			for _, w := range g.operands {
				operands = append(operands, w.text)
			}
			return options, operands, true
		}
		var next string
		if next, p, args = programs().subcommand(name, g.operands); next != name {
			operands = append(operands, g.operands[0].text)
		}
		name = next
	}
}

// Known reports whether the table has a program of this name.
func Known(program string) bool { return programs()[program] != nil }

// guess is [Sort] for a partly unknown command. The program may be nil.
func (p *program) guess(words []string) (options []Option, operands []string, ok bool) {
	operands = words[:1:1]
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			operands = append(operands, w)
			continue
		}
		name, value, valued := strings.Cut(w, "=")
		one := given{option: option{name: name, names: name, value: valued}, text: word{text: value}}
		if p != nil {
			if o, known := p.option(name); known {
				one.option = o
			}
		}
		options = append(options, one.listed())
	}
	return options, operands, false
}

// certain reports whether the list of options is complete.
func (g *arguments) certain() bool { return g.sorted && g.strange == "" && !g.hidden }

// listed is the exported form of the option.
func (o *given) listed() Option {
	return Option{
		Names: strings.Split(o.names, ","), Given: o.name, Value: o.text.text, Dynamic: o.text.dynamic,
		Valued: o.value && (!o.optional || o.text.text != "" || o.text.dynamic),
	}
}
