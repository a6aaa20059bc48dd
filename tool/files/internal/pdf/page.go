package pdf

import (
	"math"
	"strings"
	"unicode"
)

// matrix is an affine map: x' = a x + c y + e, y' = b x + d y + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// times applies m first, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// state is the graphics state of a page.
type state struct {
	device                   matrix
	font                     *font
	size, leading, rise      float64
	character, word, stretch float64
}

// painter executes the operators that show text.
type painter struct {
	*File
	state
	saved      []state
	text, line matrix // of the text object
	out        strings.Builder
	x, y       float64 // the end of the last character
	height     float64 // of the last character
	began      bool
	forms      int // painted
	stack      []any
}

// pageText returns the text of a page in painting order. It turns gaps into spaces and line breaks.
func (f *File) pageText(page dict) string {
	p := &painter{File: f, state: state{device: identity, stretch: 1, font: &font{width: 500}}, text: identity, line: identity}
	var data []byte
	contents := f.resolve(page["Contents"])
	list, ok := contents.([]any)
	if !ok {
		list = []any{contents}
	}
	for _, v := range list {
		if s, ok := f.resolve(v).(*stream); ok && len(data) < maxStream {
			data = append(append(data, f.unpack(s)...), '\n')
		}
	}
	p.paint(data, f.dict(page["Resources"]), 0)
	return tidy(p.out.String())
}

// tidy removes control characters and trailing spaces.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' || r == '\u00ad' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// paint executes a stream of operators.
func (p *painter) paint(data []byte, resources dict, depth int) {
	if depth > 12 {
		return
	}
	l := &lexer{p.File, data, 0}
	for p.out.Len() < maxText {
		tok, ok := l.token()
		if !ok {
			return
		}
		v, isObject := l.objectOf(tok, 0)
		if isObject {
			if p.stack = append(p.stack, v); len(p.stack) > 1000 {
				p.stack = p.stack[:0]
			}
			continue
		}
		op, _ := v.(keyword)
		switch op {
		case "BI":
			l.inlineImage()
		case "Do":
			p.form(resources, depth)
		case "Tf":
			p.font, p.size = p.fontOf(p.dict(resources["Font"])[p.nameAt(2)]), p.at(1)
		default:
			p.operate(op)
		}
		p.stack = p.stack[:0]
	}
}

// inlineImage skips the data of an image.
func (l *lexer) inlineImage() {
	for {
		tok, ok := l.token()
		if !ok {
			return
		}
		if tok == keyword("ID") {
			break
		}
	}
	for l.at++; l.at+2 < len(l.data); l.at++ {
		if space(l.data[l.at]) && l.data[l.at+1] == 'E' && l.data[l.at+2] == 'I' && (l.at+3 == len(l.data) || space(l.data[l.at+3])) {
			l.at += 3
			return
		}
	}
	l.at = len(l.data)
}

// at returns a numeric operand, counted from the last, which is 1.
func (p *painter) at(fromEnd int) float64 {
	if fromEnd > len(p.stack) {
		return 0
	}
	n, _ := p.stack[len(p.stack)-fromEnd].(float64)
	return n
}

func (p *painter) nameAt(fromEnd int) name {
	if fromEnd > len(p.stack) {
		return ""
	}
	n, _ := p.stack[len(p.stack)-fromEnd].(name)
	return n
}

func (p *painter) matrix() matrix {
	return matrix{p.at(6), p.at(5), p.at(4), p.at(3), p.at(2), p.at(1)}
}

// form paints a form, a content that pages share.
func (p *painter) form(resources dict, depth int) {
	s, ok := p.resolve(p.dict(resources["XObject"])[p.nameAt(1)]).(*stream)
	if p.forms++; !ok || p.forms > maxForms || p.name(s.dict["Subtype"]) != "Form" {
		return
	}
	own := p.dict(s.dict["Resources"])
	if own == nil {
		own = resources
	}
	saved, n := p.state, len(p.saved)
	if m := p.list(s.dict["Matrix"]); len(m) == 6 {
		p.stack = m
		p.device = p.matrix().times(p.device)
	}
	p.stack = nil
	p.paint(p.unpack(s), own, depth+1)
	p.state, p.saved = saved, p.saved[:min(n, len(p.saved))]
}

// operate executes the operators that need only their operands.
func (p *painter) operate(op keyword) {
	switch op {
	case "q":
		if len(p.saved) < 1000 {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			p.state, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		p.device = p.matrix().times(p.device)
	case "BT":
		p.text, p.line = identity, identity
	case "Tc":
		p.character = p.at(1)
	case "Tw":
		p.word = p.at(1)
	case "Tz":
		p.stretch = p.at(1) / 100
	case "TL":
		p.leading = p.at(1)
	case "Ts":
		p.rise = p.at(1)
	case "Tm":
		p.line = p.matrix()
		p.text = p.line
	case "TD":
		p.leading = -p.at(1)
		p.move(p.at(2), p.at(1))
	case "Td":
		p.move(p.at(2), p.at(1))
	case "T*":
		p.move(0, -p.leading)
	case "Tj", "TJ", "'", "\"":
		p.showOperand(op)
	}
}

func (p *painter) showOperand(op keyword) {
	if op == "\"" {
		p.word, p.character = p.at(3), p.at(2)
	}
	if op == "'" || op == "\"" {
		p.move(0, -p.leading)
	}
	if len(p.stack) == 0 {
		return
	}
	switch v := p.stack[len(p.stack)-1].(type) {
	case text:
		p.show(v)
	case []any:
		for _, one := range v {
			switch one := one.(type) {
			case text:
				p.show(one)
			case float64:
				p.advance(-one / 1000 * p.size * p.stretch)
			}
		}
	}
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.text = p.line
}

func (p *painter) advance(x float64) {
	p.text = matrix{1, 0, 0, 1, x, 0}.times(p.text)
}

func (p *painter) show(s text) {
	p.font.decode(s, func(text string, width float64, space bool) {
		if !p.spend(1) || p.out.Len() > maxText {
			return
		}
		p.place(text)
		w := width/1000*p.size + p.character
		if space {
			w += p.word
		}
		p.advance(w * p.stretch)
		end := p.text.times(p.device)
		p.x, p.y = end.e, end.f
	})
}

// place writes a character, after a line break or a space if its distance from the last character requires one.
func (p *painter) place(text string) {
	m := matrix{1, 0, 0, 1, 0, p.rise}.times(p.text).times(p.device)
	height := math.Abs(p.size) * math.Hypot(m.c, m.d)
	// Measure along the line of writing, which may be rotated.
	length := math.Hypot(m.a, m.b)
	if length == 0 {
		length = 1
	}
	dx, dy := m.e-p.x, m.f-p.y
	along, across := (dx*m.a+dy*m.b)/length, math.Abs(dy*m.a-dx*m.b)/length
	size := max(height, p.height, 0.1)
	switch {
	case !p.began:
	case across > 1.8*size:
		p.out.WriteString("\n\n")
	case across > 0.5*size || along < -size:
		p.out.WriteByte('\n')
	case along > 0.15*size && text != " " && !strings.HasSuffix(p.out.String(), " "):
		p.out.WriteByte(' ')
	}
	p.began, p.height = true, height
	p.out.WriteString(text)
}
