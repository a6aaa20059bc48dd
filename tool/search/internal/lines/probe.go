package lines

import (
	"bytes"
	"strings"
)

// probe looks for a text by its rarest byte, with the vector instructions of bytes.IndexByte.
type probe struct {
	text string
	fold bool // ignore the case of ASCII letters; the text is lower case
	at   int  // of the rarest byte in text
	rare byte
}

// frequent lists the bytes of source code, the most frequent first. All other bytes are rare.
const frequent = " etr\tniasolc,dufp./0()mgh\"=xb1SyT2E{}:_RvA4COkIwP63DLNMF-8B5V[]*G97U\\HX+!zW;'Y&%<q|$Kj>`Q#ZJ^?@~"

// probes returns the probes for a set of texts. A folded text whose rarest byte is a letter has two.
func probes(set texts) []probe {
	var out []probe
	for _, text := range set.all {
		p, best := probe{text: text, fold: set.fold}, -1
		for i := range len(text) {
			if rare := rarity(text[i], set.fold); rare > best {
				p.at, p.rare, best = i, text[i], rare
			}
		}
		out = append(out, p)
		if set.fold && 'a' <= p.rare && p.rare <= 'z' {
			p.rare -= 'a' - 'A'
			out = append(out, p)
		}
	}
	return out
}

// rarity is higher the rarer a byte is. A letter in both cases is as frequent as the more frequent one.
func rarity(c byte, fold bool) int {
	rank := strings.IndexByte(frequent, c)
	if rank < 0 {
		return len(frequent)
	}
	if fold && 'a' <= c && c <= 'z' {
		rank = min(rank, strings.IndexByte(frequent, c-'a'+'A'))
	}
	return rank
}

// next returns the first place of the text in data from an offset, or len(data).
func (p *probe) next(data []byte, from int) int {
	for i := from + p.at; i < len(data); i++ {
		n := bytes.IndexByte(data[i:], p.rare)
		if n < 0 {
			break
		}
		i += n
		if start := i - p.at; len(data)-start >= len(p.text) && p.is(data[start:start+len(p.text)]) {
			return start
		}
	}
	return len(data)
}

func (p *probe) is(data []byte) bool {
	if !p.fold {
		return string(data) == p.text
	}
	for i := range len(p.text) {
		if lower(data[i]) != p.text[i] {
			return false
		}
	}
	return true
}

// finder finds the places of a set of texts in data, in order.
type finder struct {
	probes []probe
	nexts  []int // the next place of each probe
}

func (f *finder) reset() {
	for i := range f.nexts {
		f.nexts[i] = -1
	}
}

// next returns the first place from an offset, or len(data).
func (f *finder) next(data []byte, from int) int {
	first := len(data)
	for i := range f.probes {
		if f.nexts[i] < from {
			f.nexts[i] = f.probes[i].next(data, from)
		}
		first = min(first, f.nexts[i])
	}
	return first
}
