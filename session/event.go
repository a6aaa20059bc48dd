package session

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"time"
)

// ID names an entry or, as [SessionID] and [RunID], what its entry begins. IDs are unique without coordination and stable
// across forks, exports and stores. The order of a journal is that of its sequence numbers, not of its IDs.
type ID string

// SessionID names a session.
type SessionID = ID

// RunID names a run of the loop.
type RunID = ID

// crockford is base 32 in lower case without the letters i, l, o and u. https://www.crockford.com/base32.html
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID returns an ID made from the time and 80 random bits: 26 characters of lower-case letters and digits. Such IDs sort
// by the time at which they were made, to the millisecond.
func NewID() ID {
	var b [18]byte // base 32 takes five bits a character: two leading zero bytes are cut off again below
	binary.BigEndian.PutUint64(b[0:], uint64(time.Now().UnixMilli()))
	_, _ = rand.Read(b[8:]) // never fails: crypto/rand ends the process instead
	var text [29]byte
	crockford.Encode(text[:], b[:])
	return ID(text[3:])
}

// NewSessionID returns an ID for a session: 12 random characters, 60 bits. It does not begin with the time, so that people
// can name a session by the first few characters.
func NewSessionID() SessionID {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return SessionID(crockford.EncodeToString(b[:])[:12])
}

// Event is one thing that happened. With a Seq it is an entry of the journal; without, a passing moment. Events are
// immutable and may be shared.
//
// JSON: {"seq","id","parent","run","turn","time","kind","body"}, empty fields left out.
type Event struct {
	Seq    int64     // place in the journal, from 1 without gaps; 0: a passing moment
	ID     ID        // empty for a passing moment
	Parent ID        // the entry before it on its branch; empty for the root and for what hangs on no branch
	Run    RunID     // the run that wrote it; empty for what people and programs did between runs
	Turn   int       // the turn of that run, from 1; 0 outside of turns
	Time   time.Time // UTC, to the microsecond
	Body   Body
}

// Durable reports whether the event is an entry of the journal.
func (e Event) Durable() bool { return e.Seq > 0 }

// Now is the time to stamp an event with: UTC, to the microsecond, as journals keep it.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

type eventJSON struct {
	Seq    int64           `json:"seq,omitzero"`
	ID     ID              `json:"id,omitzero"`
	Parent ID              `json:"parent,omitzero"`
	Run    RunID           `json:"run,omitzero"`
	Turn   int             `json:"turn,omitzero"`
	Time   time.Time       `json:"time,omitzero"`
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON implements [json.Marshaler].
func (e Event) MarshalJSON() ([]byte, error) {
	kind, body, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventJSON{e.Seq, e.ID, e.Parent, e.Run, e.Turn, e.Time, kind, body})
}

// UnmarshalJSON implements [json.Unmarshaler]. A kind that this version does not know becomes an [Opaque].
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	body, err := DecodeBody(j.Kind, j.Body)
	if err != nil {
		return err
	}
	*e = Event{j.Seq, j.ID, j.Parent, j.Run, j.Turn, j.Time, body}
	return nil
}
