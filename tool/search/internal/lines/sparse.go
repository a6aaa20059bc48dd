package lines

// sparse is a set of instructions that is cleared at once.
type sparse struct {
	seen  []uint32 // the round in which an instruction was inserted
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
