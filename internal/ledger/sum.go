package ledger

import "github.com/tenon-agent/tenon/llm"

// Sum is the total of requests. The zero value has none.
type Sum struct {
	Requests int
	Usage    llm.Usage
	Lost     map[Miss]Lost // by reason; nil: nothing
}

// Lost counts the cache misses for one reason.
type Lost struct {
	Requests int     `json:"requests"`
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"` // US dollars, as far as prices are known
}

// Add counts a request.
func (s *Sum) Add(r Request) {
	s.Requests++
	s.Usage = s.Usage.Plus(r.Usage)
	s.miss(r)
}

// miss counts the tokens of a request that the cache lacked.
func (s *Sum) miss(r Request) {
	if r.Miss == Hit {
		return
	}
	if s.Lost == nil {
		s.Lost = make(map[Miss]Lost)
	}
	l := s.Lost[r.Miss]
	s.Lost[r.Miss] = Lost{l.Requests + 1, l.Tokens + r.Lost, l.Cost + r.Cost}
}

// AllLost returns the sum of the cache misses for all reasons.
func (s *Sum) AllLost() (tokens int64, cost float64) {
	for _, l := range s.Lost {
		tokens += l.Tokens
		cost += l.Cost
	}
	return tokens, cost
}
