package sqlite

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"github.com/tenon-agent/tenon/session"
)

// sumSize is the size of a checksum: the first half of a SHA-256.
const sumSize = 16

// chain is the value of entries.sum: the checksum of the previous entry, and that of the entry, which covers the first. So each entry can be
// verified by itself, and all of them are linked.
type chain [2 * sumSize]byte

var errSum = errors.New("its checksum differs")

func (c *chain) before() []byte { return c[:sumSize] }
func (c *chain) own() []byte    { return c[sumSize:] }

// next returns the chain of an entry after one whose own checksum is before; nil for the first.
func next(before []byte, at int64, e *session.Event, kind string, body []byte) (c chain) {
	copy(c.before(), before)
	var space [256]byte
	b := append(space[:0], c.before()...)
	b = numbers(b, at, int64(e.Turn), e.Time.UnixMicro(), number(e.Imported))
	b = texts(b, string(e.ID), string(e.Parent), string(e.Run), kind)
	h := sha256.New()
	_, _ = h.Write(b)
	_, _ = h.Write(body)
	copy(c.own(), h.Sum(b[:0]))
	return c
}

// verify compares an entry with its checksum.
func (c *chain) verify(at int64, e *session.Event, kind string, body []byte) error {
	if *c != next(c.before(), at, e, kind, body) {
		return errSum
	}
	return nil
}

// scanned takes a checksum as the database has it.
func (c *chain) scanned(raw []byte) {
	*c = chain{}
	if len(raw) == len(c) {
		copy(c[:], raw)
	}
}

// follows reports whether an entry with this chain follows one with that.
func (c *chain) follows(that *chain) bool { return bytes.Equal(c.before(), that.own()) }

// numbers and texts append values, such that different values give different bytes.
func numbers(b []byte, list ...int64) []byte {
	for _, n := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

// number returns 1 for true.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func texts(b []byte, list ...string) []byte {
	for _, s := range list {
		b = append(numbers(b, int64(len(s))), s...)
	}
	return b
}

// markOf is the checksum of a row of sessions, without the lease.
func (r *stored) markOf() []byte {
	s, u := &r.sum, &r.sum.Usage
	var space [512]byte
	b := numbers(space[:0], r.key, s.Entries, number(s.Named), microOrNever(s.Created), microOrNever(s.Updated), int64(s.Messages), int64(s.Runs),
		u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, int64(math.Float64bits(u.Cost)), r.base, microOrNever(s.Deleted), r.aside)
	b = texts(b, string(s.ID), string(r.tip), s.Title, s.Dir, s.Model, string(s.From.Session), string(s.From.Entry), string(packTags(s.Tags)))
	sum := sha256.Sum256(append(b, r.head...))
	return sum[:sumSize]
}
