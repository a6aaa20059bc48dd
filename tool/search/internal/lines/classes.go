package lines

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// The limits of classes. Package regexp handles larger patterns.
const (
	maxClasses = 200
	maxWork    = 1 << 21
)

// classes groups runes that a program treats alike.
type classes struct {
	cuts []rune  // the first runes of classes, sorted
	of   []uint8 // the class that begins at each cut
	low  [utf8.RuneSelf]uint8
	reps []rune // one rune of each class
	word []bool // for each class: it has word characters
}

func (c *classes) rune(r rune) uint8 {
	if r < utf8.RuneSelf {
		return c.low[r]
	}
	i, found := slices.BinarySearch(c.cuts, r)
	if !found {
		i--
	}
	return c.of[i]
}

// newClasses reports false if there are too many classes.
func newClasses(prog *syntax.Prog) (*classes, bool) {
	insts := distinct(prog)
	c := &classes{cuts: cuts(insts)}
	if len(c.cuts)*len(insts) > maxWork {
		return nil, false
	}
	known := map[string]uint8{}
	sign := make([]byte, len(insts)+1)
	for _, r := range c.cuts {
		// The signature of the rune: newline, word character, matching instructions.
		sign[0] = 0
		switch {
		case r == '\n' || r == '\r':
			sign[0] = byte(r)
		case syntax.IsWordChar(r):
			sign[0] = 1
		}
		for i, inst := range insts {
			sign[i+1] = 0
			if inst.MatchRune(r) {
				sign[i+1] = 1
			}
		}
		id, ok := known[string(sign)]
		if !ok {
			if len(known) == maxClasses {
				return nil, false
			}
			id = uint8(len(known))
			known[string(sign)] = id
			c.reps, c.word = append(c.reps, r), append(c.word, sign[0] == 1)
		}
		c.of = append(c.of, id)
	}
	class := 0
	for r := range rune(utf8.RuneSelf) {
		if class+1 < len(c.cuts) && c.cuts[class+1] == r {
			class++
		}
		c.low[r] = c.of[class]
	}
	return c, true
}

// distinct returns the instructions that consume runes, without duplicates.
func distinct(prog *syntax.Prog) []*syntax.Inst {
	seen := map[string]bool{}
	var out []*syntax.Inst
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		if !takes(inst) {
			continue
		}
		if key := fmt.Sprint(inst.Arg, inst.Rune); !seen[key] {
			seen[key] = true
			out = append(out, inst)
		}
	}
	return out
}

func takes(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// cuts returns the runes at which the result of an instruction may change.
func cuts(insts []*syntax.Inst) []rune {
	out := []rune{0, '\n', '\n' + 1, '\r', '\r' + 1, utf8.RuneSelf, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	for _, inst := range insts {
		if len(inst.Rune) == 1 {
			for r := inst.Rune[0]; ; {
				out = append(out, r, r+1)
				if r = unicode.SimpleFold(r); r == inst.Rune[0] || syntax.Flags(inst.Arg)&syntax.FoldCase == 0 {
					break
				}
			}
			continue
		}
		for i := 0; i+1 < len(inst.Rune); i += 2 {
			out = append(out, inst.Rune[i], inst.Rune[i+1]+1)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
