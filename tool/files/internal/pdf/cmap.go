package pdf

import (
	"slices"
	"unicode/utf16"
)

// maxMap is the most entries of a character map.
const maxMap = 1 << 17

type cmap struct {
	chars  map[string]string
	ranges []coderange
}

type coderange struct {
	bytes     int
	low, high int
	first     []uint16 // text of low; the last unit counts up
	list      []any    // or the text of each code
}

// readCMap reads a character map. It looks only at the operators of its program.
func (f *File) readCMap(data []byte) *cmap {
	m := &cmap{chars: map[string]string{}}
	l := lexer{f, data, 0}
	var stack []any
	for {
		tok, ok := l.token()
		if !ok {
			break
		}
		v, isObject := l.objectOf(tok, 0)
		if isObject {
			if stack = append(stack, v); len(stack) > maxMap {
				break
			}
			continue
		}
		switch v {
		case keyword("endbfchar"):
			for pair := range slices.Chunk(stack, 2) {
				if a, b, ok := pairOf(pair); ok && len(m.chars) < maxMap {
					m.chars[string(a)] = string(utf16.Decode(units(b)))
				}
			}
		case keyword("endbfrange"):
			for three := range slices.Chunk(stack, 3) {
				m.addRange(three)
			}
		}
		stack = stack[:0]
	}
	slices.SortStableFunc(m.ranges, func(a, b coderange) int { return a.low - b.low })
	return m
}

func pairOf(list []any) (a, b text, ok bool) {
	if len(list) != 2 {
		return "", "", false
	}
	a, ok1 := list[0].(text)
	b, ok2 := list[1].(text)
	return a, b, ok1 && ok2 && a != ""
}

func (m *cmap) addRange(three []any) {
	if len(three) != 3 || len(m.ranges) >= maxMap {
		return
	}
	low, high, ok := pairOf(three[:2])
	if !ok || len(low) > 4 || len(high) > 4 {
		return
	}
	r := coderange{bytes: len(low), low: value(string(low)), high: value(string(high))}
	switch to := three[2].(type) {
	case text:
		r.first = units(to)
	case []any:
		r.list = to
	}
	m.ranges = append(m.ranges, r)
}

func value(code string) (n int) {
	for _, b := range []byte(code) {
		n = n<<8 | int(b)
	}
	return n
}

// units reads UTF-16.
func units(s text) []uint16 {
	out := make([]uint16, 0, len(s)/2+1)
	if len(s) == 1 {
		return append(out, uint16(s[0]))
	}
	for i := 0; i+1 < len(s) && i < 64; i += 2 {
		out = append(out, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return out
}

func (m *cmap) text(code string) (string, bool) {
	if s, ok := m.chars[code]; ok {
		return s, true
	}
	n := value(code)
	i, found := slices.BinarySearchFunc(m.ranges, n, func(r coderange, n int) int { return r.low - n })
	if !found {
		i--
	}
	// Ranges rarely overlap: the nearest few are enough.
	for j := i; j >= 0 && j > i-4; j-- {
		r := m.ranges[j]
		if n < r.low || n > r.high || r.bytes != len(code) {
			continue
		}
		if k := n - r.low; r.list != nil {
			if k < len(r.list) {
				s, ok := r.list[k].(text)
				return string(utf16.Decode(units(s))), ok
			}
			return "", false
		}
		if len(r.first) == 0 {
			return "", false
		}
		u := slices.Clone(r.first)
		u[len(u)-1] += uint16(n - r.low)
		return string(utf16.Decode(u)), true
	}
	return "", false
}
