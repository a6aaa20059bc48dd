package lines

import (
	"bytes"
	"strings"
)

// probe looks for one text by its rarest byte, which the processor finds many bytes at a time.
type probe struct {
	text string
	fold bool // the text is lower case, what it is looked for in is not
	at   int  // of the rarest byte in text
	rare byte
}

// frequent is bytes as often as they are in source code, the most frequent first. All others are rare.
const frequent = " etr\tniasolc,dufp./0()mgh\"=xb1SyT2E{}:_RvA4COkIwP63DLNMF-8B5V[]*G97U\\HX+!zW;'Y&%<q|$Kj>`Q#ZJ^?@~"

// probes are those for a set of texts. In fold each text has two when its rarest byte is a letter.
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

// next is where the text begins in data, not before from, or len(data). It counts the places that it looked at.
func (p *probe) next(data []byte, from int, looks *int) int {
	for i := from + p.at; i < len(data); i++ {
		n := bytes.IndexByte(data[i:], p.rare)
		if n < 0 {
			break
		}
		*looks++
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

// finder finds the places of a set of texts in data, one after the other.
type finder struct {
	probes []probe
	nexts  []int // of each probe, not before the place that was asked for last
	looks  int
}

func (f *finder) reset() {
	f.looks = 0
	for i := range f.nexts {
		f.nexts[i] = -1
	}
}

// next is the first place, not before from, or len(data).
func (f *finder) next(data []byte, from int) int {
	first := len(data)
	for i := range f.probes {
		if f.nexts[i] < from {
			f.nexts[i] = f.probes[i].next(data, from, &f.looks)
		}
		first = min(first, f.nexts[i])
	}
	return first
}
