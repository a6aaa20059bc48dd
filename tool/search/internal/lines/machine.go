package lines

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// automaton is a program that reads each rune of a line once. It decides only whether a line has a match.
type automaton struct {
	*classes
	prog  *syntax.Prog
	words bool // the program has word boundaries
	begin bool // the program has the start of the line
}

// newAutomaton returns nil for an expression that is too large.
func newAutomaton(re *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(re)
	if err != nil {
		return nil
	}
	c, ok := newClasses(prog)
	if !ok {
		return nil
	}
	a := &automaton{classes: c, prog: prog}
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth {
			a.words = a.words || syntax.EmptyOp(inst.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
			a.begin = a.begin || syntax.EmptyOp(inst.Arg)&beginning != 0
		}
	}
	return a
}

const beginning = syntax.EmptyBeginLine | syntax.EmptyBeginText

// Special values in the table of transitions. Every state is greater.
const (
	unknown int32 = iota
	matched       // the line matches
	dead          // the line cannot match
	special       // the byte is not enough to decide
	reserved
)

// The memory limits of a machine.
const (
	maxTable = 1 << 18 // transitions
	maxInsts = 1 << 18
	maxFlush = 10
)

// machine runs an automaton. Its states are sets of instructions, created on demand. A state is its index in the table.
type machine struct {
	*automaton
	table   []int32
	stride  int32 // columns: the classes, the end of the line, special
	column  [256]uint8
	states  []state          // by index/stride-1
	ids     map[string]int32 // by flags and instructions
	size    int              // instructions of all states
	flushes int

	start     int32     // the state at the start of a line
	skip      [256]bool // bytes that keep the start state
	set, next sparse
	key       []byte
}

// state is a set of instructions that consume a rune or depend on the context.
type state struct {
	insts []uint32
	begin bool // at the start of the line
	word  bool // after a word character, if the program has word boundaries
}

func newMachine(a *automaton) *machine {
	m := &machine{automaton: a, stride: int32(max(len(a.reps)+2, int(reserved)))}
	m.set, m.next = newSparse(len(a.prog.Inst)), newSparse(len(a.prog.Inst))
	for c := range m.column {
		m.column[c] = uint8(m.stride - 1)
		if c < utf8.RuneSelf && c != '\r' {
			m.column[c] = a.low[c]
		}
	}
	m.column['\n'] = m.eol()
	m.reset()
	return m
}

func (m *machine) eol() uint8 { return uint8(m.stride - 2) }

func (m *machine) reset() {
	m.table, m.states, m.size = append(m.table[:0], make([]int32, m.stride)...), m.states[:0], 0
	m.ids = map[string]int32{}
	m.next.clear()
	m.follow(&m.next, uint32(m.prog.Start), 0, true)
	m.start = m.add(true, false)
	m.skip = [256]bool{}
	if m.start < reserved {
		return
	}
	for class := range m.reps {
		m.transition(m.start, uint8(class))
	}
	m.transition(m.start, m.eol())
	stays := func(column uint8) bool { return m.table[m.start+int32(column)] == m.start }
	wide := true // every rune of more than one byte
	for i, r := range m.cuts {
		wide = wide && (r < utf8.RuneSelf || stays(m.of[i]))
	}
	for c := range m.skip {
		switch {
		case c >= utf8.RuneSelf:
			m.skip[c] = wide
		case c == '\r':
			m.skip[c] = stays(m.low['\r']) && stays(m.eol())
		default:
			m.skip[c] = stays(m.column[c])
		}
	}
}

// transition returns the next state for a class or the end of the line. It creates the state if necessary.
func (m *machine) transition(from int32, column uint8) int32 {
	if to := m.table[from+int32(column)]; to != unknown {
		return to
	}
	to := m.step(m.states[from/m.stride-1], column)
	m.table[from+int32(column)] = to
	return to
}

func (m *machine) step(s state, column uint8) int32 {
	end := column == m.eol()
	word := !end && m.words && m.word[column]
	var around syntax.EmptyOp
	if s.begin {
		around |= beginning
	}
	if end {
		around |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if s.word != word {
		around |= syntax.EmptyWordBoundary
	} else {
		around |= syntax.EmptyNoWordBoundary
	}
	m.set.clear()
	for _, pc := range s.insts {
		m.follow(&m.set, pc, around, s.begin)
	}
	if m.set.match {
		return matched
	}
	if end {
		return m.start
	}
	m.next.clear()
	for _, pc := range m.set.list {
		if inst := &m.prog.Inst[pc]; takes(inst) && inst.MatchRune(m.reps[column]) {
			m.follow(&m.next, inst.Out, 0, false)
		}
	}
	m.follow(&m.next, uint32(m.prog.Start), 0, false)
	if m.next.match {
		return matched
	}
	return m.add(false, word)
}

// follow adds the instructions that pc reaches without a rune. An instruction that needs more context than around stays in the set,
// unless it needs the start of the line, which has passed.
func (m *machine) follow(set *sparse, pc uint32, around syntax.EmptyOp, begin bool) {
	set.stack = append(set.stack[:0], pc)
	for len(set.stack) > 0 {
		pc := set.stack[len(set.stack)-1]
		set.stack = set.stack[:len(set.stack)-1]
		if !set.insert(pc) {
			continue
		}
		inst := &m.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstMatch:
			set.match = true
		case syntax.InstAlt, syntax.InstAltMatch:
			set.stack = append(set.stack, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop:
			set.stack = append(set.stack, inst.Out)
		case syntax.InstEmptyWidth:
			need := syntax.EmptyOp(inst.Arg)
			if need&^around == 0 {
				set.stack = append(set.stack, inst.Out)
			} else if begin || need&beginning == 0 {
				set.list = append(set.list, pc)
			}
		case syntax.InstFail:
		default:
			set.list = append(set.list, pc)
		}
	}
}

// add returns the state of the instructions in next.
func (m *machine) add(begin, word bool) int32 {
	if m.next.match {
		return matched
	}
	if len(m.next.list) == 0 {
		return dead
	}
	slices.Sort(m.next.list)
	flags := byte(0)
	if begin && m.begin {
		flags |= 1
	}
	if word {
		flags |= 2
	}
	m.key = append(m.key[:0], flags)
	for _, pc := range m.next.list {
		m.key = binary.LittleEndian.AppendUint32(m.key, pc)
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	id := int32(len(m.table))
	m.table = append(m.table, make([]int32, m.stride)...)
	m.table[id+m.stride-1] = special
	m.states = append(m.states, state{slices.Clone(m.next.list), flags&1 != 0, word})
	m.ids[string(m.key)] = id
	m.size += len(m.next.list)
	return id
}

// full reports whether the states take too much memory.
func (m *machine) full() bool { return len(m.table) > maxTable || m.size > maxInsts }

// sparse is a set of instructions that clears in constant time.
type sparse struct {
	seen  []uint32 // the round in which each instruction was inserted
	round uint32
	list  []uint32
	stack []uint32
	match bool
}

func newSparse(n int) sparse { return sparse{seen: make([]uint32, n)} }

func (s *sparse) clear() {
	s.list, s.match = s.list[:0], false
	if s.round++; s.round == 0 {
		clear(s.seen)
		s.round = 1
	}
}

func (s *sparse) insert(pc uint32) bool {
	if s.seen[pc] == s.round {
		return false
	}
	s.seen[pc] = s.round
	return true
}
