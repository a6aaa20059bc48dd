package lines

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// What a table of transitions has beside states. They are less than every state.
const (
	unknown int32 = iota
	matched       // the line matches, whatever comes
	dead          // it does not, whatever comes
	special       // the byte alone does not say
	reserved
)

// The bounds of the memory of a machine.
const (
	maxTable = 1 << 18 // transitions
	maxInsts = 1 << 18
	maxFlush = 10
)

// machine runs an automaton. The states of it are sets of instructions, made when they are needed; a state is its place in the table.
type machine struct {
	*automaton
	table   []int32
	stride  int32 // columns: the classes, the end of the line, special
	column  [256]uint8
	states  []state          // by place and stride, less one
	ids     map[string]int32 // by instructions and what was before
	size    int              // instructions of all states
	flushes int

	start     int32     // the state at the start of a line
	skip      [256]bool // bytes with which it stays in the start state
	set, next sparse
	key       []byte
}

// state is what may go on in a line. It waits at instructions that take a rune or depend on what is around.
type state struct {
	insts []uint32
	begin bool // at the start of the line
	word  bool // behind a rune of a word, if the program asks for that
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

// reset forgets all states.
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

// transition is where a state goes with a class or the end of the line. It makes the state when it is not there yet.
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

// follow adds what can be reached from an instruction without a rune. Around is what is known of the place; at an instruction that
// asks for more it waits, unless that can come no more: no line begins within a line.
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

// add is the state of the instructions in next.
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
