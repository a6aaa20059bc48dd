package session

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/tenon-agent/tenon/session/internal/place"
)

// ID identifies an entry, and as [SessionID] and [RunID] the session or run that begins with the entry. IDs are unique without
// coordination and stable across forks, exports and stores. Sequence numbers, not IDs, order a journal.
type ID string

// SessionID identifies a session.
type SessionID = ID

// RunID identifies a run.
type RunID = ID

// crockford is base 32 in lower case without the letters i, l, o and u. https://www.crockford.com/base32.html
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID returns an ID of the time and 80 random bits: 26 lower-case letters and digits. IDs sort by time, to the millisecond.
func NewID() ID {
	var b [18]byte // base 32 takes five bits a character: two leading zero bytes are cut off again below
	binary.BigEndian.PutUint64(b[0:], uint64(time.Now().UnixMilli()))
	_, _ = rand.Read(b[8:]) // never fails: crypto/rand ends the process instead
	var text [29]byte
	crockford.Encode(text[:], b[:])
	return ID(text[3:])
}

// NewSessionID returns an ID for a session: 12 random characters, 60 bits. It does not begin with the time, so that a short prefix is
// unique.
func NewSessionID() SessionID {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return SessionID(crockford.EncodeToString(b[:])[:12])
}

// Event is an entry of the journal, or a transient event if it has no Seq. Events are immutable and may be shared.
//
// JSON: {"seq","after","id","parent","run","turn","time","kind","body","imported"}, without empty fields.
type Event struct {
	Seq    int64     // position in the journal, from 1 without gaps; 0: a transient event
	After  int64     // of a transient event: the number of the newest entry when it happened
	ID     ID        // empty for a transient event
	Parent ID        // the previous entry on its branch; empty for the root and for entries aside of branches
	Run    RunID     // the run that wrote it; empty between runs
	Turn   int       // the turn of that run, from 1; 0 outside of turns
	Time   time.Time // UTC, to the microsecond
	Body   Body

	// Imported reports that the entry is a claim: [Log.Import] took it from elsewhere. The log sets it, whatever the
	// source says. A claim is shown and sent like any entry, and decides nothing about files, permissions and limits.
	Imported bool
}

// Durable reports whether the event is an entry of the journal.
func (e Event) Durable() bool { return e.Seq > 0 }

// Kind returns the kind of the body, and "" for an event without a body, such as the zero Event that accompanies an error.
func (e Event) Kind() string {
	if e.Body == nil {
		return ""
	}
	return e.Body.Kind()
}

// OnBranch reports whether an entry with this body continues a branch. Entries aside of every branch, such as titles and notes,
// have no parent and no children. An [Opaque] continues a branch.
func (e Event) OnBranch() bool { return e.Body != nil && e.Body.Place() == place.Branch }

// Transient reports whether the body is of a kind that is never an entry.
func (e Event) Transient() bool { return e.Body != nil && e.Body.Place() == place.Transient }

// Now returns the time for a new event: UTC, to the microsecond, as journals keep it.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

type eventJSON struct {
	Seq    int64           `json:"seq,omitzero"`
	After  int64           `json:"after,omitzero"`
	ID     ID              `json:"id,omitzero"`
	Parent ID              `json:"parent,omitzero"`
	Run    RunID           `json:"run,omitzero"`
	Turn   int             `json:"turn,omitzero"`
	Time   time.Time       `json:"time,omitzero"`
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body"`

	Imported bool `json:"imported,omitzero"`
}

// MarshalJSON implements [json.Marshaler].
func (e Event) MarshalJSON() ([]byte, error) {
	kind, body, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventJSON{e.Seq, e.After, e.ID, e.Parent, e.Run, e.Turn, e.Time, kind, body, e.Imported})
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
	*e = Event{j.Seq, j.After, j.ID, j.Parent, j.Run, j.Turn, j.Time, body, j.Imported}
	return nil
}
