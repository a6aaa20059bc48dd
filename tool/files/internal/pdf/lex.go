package pdf

import (
	"bytes"
	"strconv"
)

// The objects of a file are nil, bool, float64, name, text, []any, dict, ref and *stream. All other tokens are keywords.
type (
	name    string
	text    string // a string, undecoded
	keyword string
	dict    map[name]any
	ref     int
	stream  struct {
		dict
		raw []byte
	}
)

// lexer reads tokens.
type lexer struct {
	f    *File
	data []byte
	at   int
}

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skip() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case space(c):
			l.at++
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		default:
			return
		}
	}
}

// token reads the next token; ok is false at the end.
func (l *lexer) token() (tok any, ok bool) {
	from := l.at
	l.skip()
	if l.at >= len(l.data) {
		return nil, false
	}
	tok = l.next()
	return tok, l.f.spend(1 + (l.at-from)/16)
}

// next reads the token at the current place.
func (l *lexer) next() any {
	c := l.data[l.at]
	switch {
	case c == '/':
		return l.name()
	case c == '(':
		return l.literal()
	case c == '<' && !l.double():
		return l.hex()
	case (c == '<' || c == '>') && l.double():
		l.at += 2
		return keyword(l.data[l.at-2 : l.at])
	case delimiter(c):
		l.at++
		return keyword(string(c))
	}
	from := l.at
	for l.at < len(l.data) && !space(l.data[l.at]) && !delimiter(l.data[l.at]) {
		l.at++
	}
	word := l.data[from:l.at]
	if c := word[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if n, err := strconv.ParseFloat(string(word[:min(len(word), 40)]), 64); err == nil {
			return n
		}
	}
	return keyword(word)
}

// double reports whether the next character is the same.
func (l *lexer) double() bool { return l.at+1 < len(l.data) && l.data[l.at+1] == l.data[l.at] }

func (l *lexer) name() name {
	var b []byte
	for l.at++; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		if space(c) || delimiter(c) {
			break
		}
		if c == '#' && l.at+2 < len(l.data) {
			if n, err := strconv.ParseUint(string(l.data[l.at+1:l.at+3]), 16, 8); err == nil {
				c = byte(n)
				l.at += 2
			}
		}
		b = append(b, c)
	}
	return name(b)
}

func (l *lexer) literal() text {
	var b []byte
	depth := 0
	for ; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		switch c {
		case '(':
			if depth++; depth == 1 {
				continue
			}
		case ')':
			if depth--; depth == 0 {
				l.at++
				return text(b)
			}
		case '\\':
			b = l.escape(b)
			continue
		}
		b = append(b, c)
	}
	return text(b)
}

// escape reads the rest of an escape sequence after the backslash, up to its last character.
func (l *lexer) escape(b []byte) []byte {
	l.at++
	if l.at >= len(l.data) {
		return b
	}
	c := l.data[l.at]
	if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
		return append(b, "\n\r\t\b\f"[i])
	}
	switch {
	case c == '\r':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '\n' {
			l.at++
		}
		return b
	case c == '\n':
		return b
	case c < '0' || c > '7':
		return append(b, c)
	}
	n := 0
	for i := 0; i < 3 && l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '7'; i++ {
		n = n*8 + int(l.data[l.at]-'0')
		l.at++
	}
	l.at--
	return append(b, byte(n))
}

func (l *lexer) hex() text {
	var b []byte
	half, n := false, byte(0)
	for l.at++; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		if c == '>' {
			l.at++
			break
		}
		d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if d < 0 {
			continue
		}
		if half {
			b = append(b, n<<4|byte(d))
		}
		n, half = byte(d), !half
	}
	if half {
		b = append(b, n<<4)
	}
	return text(b)
}

// object reads an object. If the token is a keyword, it returns the keyword and false.
func (l *lexer) object(depth int) (any, bool) {
	tok, ok := l.token()
	if !ok {
		return nil, false
	}
	return l.objectOf(tok, depth)
}

func (l *lexer) objectOf(tok any, depth int) (any, bool) {
	if depth > maxDepth {
		l.f.err = errLimit
		return nil, false
	}
	switch tok := tok.(type) {
	case float64:
		return l.reference(tok), true
	case keyword:
		switch tok {
		case "null":
			return nil, true
		case "true", "false":
			return tok == "true", true
		case "[":
			return l.array(depth), true
		case "<<":
			return l.dict(depth), true
		}
		return tok, false
	}
	return tok, true
}

// reference reads "12 0 R" after its first number, or returns the number.
func (l *lexer) reference(n float64) any {
	at := l.at
	if n >= 0 && n == float64(int(n)) {
		if _, ok := l.number(); ok {
			l.skip()
			if l.at < len(l.data) && l.data[l.at] == 'R' && (l.at+1 == len(l.data) || space(l.data[l.at+1]) || delimiter(l.data[l.at+1])) {
				l.at++
				return ref(n)
			}
		}
	}
	l.at = at
	return n
}

// number reads a whole number without sign.
func (l *lexer) number() (int, bool) {
	l.skip()
	from := l.at
	for l.at < len(l.data) && l.data[l.at] >= '0' && l.data[l.at] <= '9' && l.at-from < 11 {
		l.at++
	}
	n, err := strconv.Atoi(string(l.data[from:l.at]))
	return n, err == nil
}

func (l *lexer) array(depth int) []any {
	var list []any
	for {
		tok, ok := l.token()
		if !ok || tok == keyword("]") {
			return list
		}
		if v, ok := l.objectOf(tok, depth+1); ok {
			list = append(list, v)
		} else if l.f.err != nil {
			return list
		}
	}
}

func (l *lexer) dict(depth int) dict {
	d := dict{}
	for {
		tok, ok := l.token()
		if !ok || tok == keyword(">>") {
			return d
		}
		key, isName := tok.(name)
		if !isName {
			continue
		}
		v, ok := l.object(depth + 1)
		switch {
		case ok:
			d[key] = v
		case v == keyword(">>") || l.f.err != nil:
			return d
		}
	}
}
