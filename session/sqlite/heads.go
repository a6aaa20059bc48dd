package sqlite

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// heads is a file next to the database with the last entry of each journal. It reveals a database that lost its end: its log was removed, it
// was truncated, or replaced by an older copy. The file has a slot for each session, by key. A slot is written after the commit, and
// that of a purged session is cleared before it, so the file is never ahead of the database. It is not synced: after a power failure it may name entries that never reached the disk, so after another
// boot only synced entries count.
type heads struct {
	path string
	boot [8]byte

	mu   sync.Mutex
	file *os.File
}

// head is a slot of the file.
type head struct {
	key    int64
	id     session.SessionID
	seq    int64 // of the newest entry; 0: the session was purged
	synced int64 // of the newest entry that a sync has covered
	sum    []byte
	boot   [8]byte
	loose  bool // appended without a lease: the session may be purged before the slot is written
}

const (
	headsName = "heads"
	idSize    = 16
	slotSize  = 64
	slotCheck = slotSize - 8
)

func headOf(r *stored) *head { return &head{key: r.key, id: r.sum.ID, seq: r.sum.Entries, sum: r.head} }

func (h *heads) init(dir string) {
	h.path = filepath.Join(dir, headsName)
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // other systems: every process has its own boot
	if len(boot) == 0 {
		boot = []byte(rand.Text())
	}
	sum := sha256.Sum256(boot)
	copy(h.boot[:], sum[:])
}

// shortID is an ID in the form of a slot: a longer one, of an import, as its hash.
func shortID(id session.SessionID) (b [idSize]byte) {
	if len(id) <= idSize {
		copy(b[:], id)
	} else {
		sum := sha256.Sum256([]byte(id))
		copy(b[:], sum[:])
	}
	return b
}

func (r *head) slot(boot [8]byte) (b [slotSize]byte) {
	id := shortID(r.id)
	copy(b[:], id[:])
	binary.LittleEndian.PutUint64(b[16:], uint64(r.seq))
	binary.LittleEndian.PutUint64(b[24:], uint64(r.synced))
	copy(b[32:48], r.sum)
	copy(b[48:56], boot[:])
	sum := sha256.Sum256(b[:slotCheck])
	copy(b[slotCheck:], sum[:])
	return b
}

// headIn decodes the slot of a key. It reports false for an empty or damaged one.
func headIn(key int64, b []byte) (head, bool) {
	if len(b) < slotSize {
		return head{}, false
	}
	sum := sha256.Sum256(b[:slotCheck])
	r := head{
		key: key, id: session.SessionID(strings.TrimRight(string(b[:idSize]), "\x00")), sum: bytes.Clone(b[32:48]),
		seq: int64(binary.LittleEndian.Uint64(b[16:])), synced: int64(binary.LittleEndian.Uint64(b[24:])), boot: [8]byte(b[48:56]),
	}
	return r, bytes.Equal(sum[:8], b[slotCheck:slotSize]) && r.seq > 0
}

// open returns the file, or nil if it cannot be opened: without it, a loss is not noticed.
func (h *heads) open() *os.File {
	if h.file == nil {
		f, err := os.OpenFile(h.path, os.O_RDWR, 0)
		if err != nil {
			f, err = os.Open(h.path)
		}
		if err == nil {
			h.file = f
		}
	}
	return h.file
}

// keep writes the slot of a session. It keeps a newer slot of another process, unless anyway is set.
func (h *heads) keep(r *head, anyway bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.open()
	if f == nil {
		if makeDir(filepath.Dir(h.path)) != nil {
			return
		}
		f, _ = os.OpenFile(h.path, os.O_CREATE|os.O_RDWR, 0o600)
		if h.file = f; f == nil {
			return
		}
	}
	var b [slotSize]byte
	if _, err := f.ReadAt(b[:], r.key*slotSize); err == nil && !anyway {
		was, ok := headIn(r.key, b[:])
		same := ok && shortID(was.id) == shortID(r.id)
		if r.seq == 0 && !same { // the key has another session
			return
		}
		if same {
			synced := max(r.synced, was.synced)
			if was.seq > r.seq && r.seq > 0 {
				r = &was
			}
			r.synced = synced
		}
	}
	if b = r.slot(h.boot); r.seq == 0 {
		b = [slotSize]byte{}
	}
	_, _ = f.WriteAt(b[:], r.key*slotSize)
}

// of returns the slot of a session.
func (h *heads) of(key int64, id session.SessionID) (head, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.open()
	if f == nil {
		return head{}, false
	}
	var b [slotSize]byte
	if _, err := f.ReadAt(b[:], key*slotSize); err != nil {
		return head{}, false
	}
	r, ok := headIn(key, b[:])
	return r, ok && shortID(r.id) == shortID(id)
}

// all returns the slots of all sessions.
func (h *heads) all() (list []head) {
	data, _ := os.ReadFile(h.path)
	for key := int64(0); int(key+1)*slotSize <= len(data); key++ {
		if r, ok := headIn(key, data[key*slotSize:]); ok {
			list = append(list, r)
		}
	}
	return list
}

// expects returns the number of the last entry that must be there.
func (h *heads) expects(r head) int64 {
	if r.boot == h.boot {
		return r.seq
	}
	return r.synced
}

func (h *heads) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		return nil
	}
	err := h.file.Close()
	h.file = nil
	return err
}

// whole returns an error if a session lost its last entries.
func (s *reader) whole(r *stored) error {
	have, known := s.heads.of(r.key, r.sum.ID)
	if !known || s.heads.expects(have) <= r.sum.Entries {
		return nil
	}
	now, err := rowNamed(s, r.sum.ID) // it may have been appended to since
	if err != nil || s.heads.expects(have) <= now.sum.Entries {
		return err
	}
	return s.damaged(r.sum.ID, now.sum.Entries+1, fmt.Errorf(
		"entries %d to %d are missing at the end; restore a backup, or accept the loss with: tenon sessions check --repair",
		now.sum.Entries+1, s.heads.expects(have)))
}

// complete returns an error if any session lost its last entries, or all of them. It looks once.
func (s *reader) complete() error { return s.lost.check(s.compareHeads) }

func (s *reader) compareHeads() error {
	slots := s.heads.all() // before the rows, which may be ahead of them
	if len(slots) == 0 {
		return nil
	}
	have, err := s.entryCounts()
	if err != nil {
		return err
	}
	if err := s.compareTo(slots, have); err != nil {
		return err
	}
	// Damage of the index hides a session from those who read by it.
	var same bool
	err = s.row(`SELECT (SELECT total(key) FROM sessions INDEXED BY sqlite_autoindex_sessions_1) = (SELECT total(key) FROM sessions NOT INDEXED)`,
		nil, &same)
	if err == nil && !same {
		err = fmt.Errorf("session: %w: the index of sessions does not match them; run tenon sessions check --repair", session.ErrCorrupt)
	}
	return err
}

// entryCount is the number of entries that the row of a session has.
type entryCount struct {
	id  session.SessionID
	seq int64
}

// entryCounts returns the numbers of entries by the key of the session.
func (s *reader) entryCounts() (map[int64]entryCount, error) {
	rows, err := s.query(`SELECT key, id, seq FROM sessions NOT INDEXED WHERE kept = 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	have := map[int64]entryCount{}
	for rows.Next() {
		var key int64
		var r entryCount
		if err := rows.Scan(&key, (*string)(&r.id), &r.seq); err != nil {
			return nil, err
		}
		have[key] = r
	}
	return have, rows.Err()
}

// compareTo returns an error if the rows lack entries of a slot.
func (s *reader) compareTo(slots []head, have map[int64]entryCount) error {
	for _, want := range slots {
		r := have[want.key]
		if shortID(r.id) == shortID(want.id) && r.seq >= s.heads.expects(want) || s.heads.expects(want) == 0 {
			continue
		}
		if now, known := s.heads.of(want.key, want.id); !known || now.seq != want.seq { // purged or appended to meanwhile
			continue
		}
		return s.damaged(want.id, r.seq+1, errors.New(
			"entries are missing at the end, or all of them; restore a backup, or accept the loss with: tenon sessions check --repair"))
	}
	return nil
}
