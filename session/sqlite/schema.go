package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// applicationID marks an SQLite file as ours: "Teno" in ASCII.
const applicationID = 0x54656e6f

// schemaVersion grows with every change of the schema.
const schemaVersion = 5

// Everything except the lease, the blobs and the checksums can be computed from entries.
const schema = `
	CREATE TABLE sessions (
		key          INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, so that a stale one finds nothing
		id           TEXT NOT NULL UNIQUE,
		epoch        INTEGER NOT NULL DEFAULT 0,        -- grows whenever the lease changes hands
		token        TEXT NOT NULL DEFAULT '',          -- of the store that holds the lease; '': it is free
		owner        TEXT NOT NULL DEFAULT '',
		since        INTEGER NOT NULL DEFAULT 0,        -- microseconds since 1970, like all times here
		seq          INTEGER NOT NULL,                  -- of the last entry
		tip          TEXT NOT NULL,                     -- id of the entry at the end of the current branch
		title        TEXT NOT NULL DEFAULT '',
		named        INTEGER NOT NULL DEFAULT 0,
		dir          TEXT NOT NULL DEFAULT '',
		model        TEXT NOT NULL DEFAULT '',
		created      INTEGER NOT NULL DEFAULT 0,
		updated      INTEGER NOT NULL DEFAULT 0,
		from_session TEXT NOT NULL DEFAULT '',
		from_entry   TEXT NOT NULL DEFAULT '',
		messages     INTEGER NOT NULL DEFAULT 0,
		runs         INTEGER NOT NULL DEFAULT 0,
		input        INTEGER NOT NULL DEFAULT 0,
		cache_read   INTEGER NOT NULL DEFAULT 0,
		cache_write  INTEGER NOT NULL DEFAULT 0,
		output       INTEGER NOT NULL DEFAULT 0,
		reasoning    INTEGER NOT NULL DEFAULT 0,
		cost         REAL NOT NULL DEFAULT 0,
		base         INTEGER NOT NULL DEFAULT 0,        -- place of the entry that a fork continues from; 0: no fork
		tags         TEXT NOT NULL DEFAULT '',          -- a JSON array; '': none
		deleted      INTEGER NOT NULL DEFAULT 0,        -- when it was moved to the trash; 0: it is not there
		kept         INTEGER NOT NULL DEFAULT 0,        -- it was purged, and its entries are here for forks alone
		aside        INTEGER NOT NULL DEFAULT 0,        -- sum of the numbers of the entries aside of every branch
		head         BLOB NOT NULL,                     -- checksum of the last entry
		mark         BLOB NOT NULL                      -- checksum of the row, without lease and kept
	);
	CREATE INDEX sessions_base ON sessions(base) WHERE base <> 0;
	CREATE INDEX sessions_trash ON sessions(deleted) WHERE deleted <> 0;
	CREATE TABLE entries (
		place    INTEGER PRIMARY KEY, -- sessions.key << 36 | sequence number: a session lies together, in order
		id       TEXT NOT NULL,
		parent   TEXT NOT NULL,
		run      TEXT NOT NULL,
		turn     INTEGER NOT NULL,
		time     INTEGER NOT NULL,
		kind     TEXT NOT NULL,
		imported INTEGER NOT NULL,    -- 1: an import brought it; no entry says so itself
		sum      BLOB NOT NULL,       -- checksum of the entry before, and of this entry and that checksum
		body     BLOB NOT NULL
	);
	CREATE INDEX entries_id ON entries(id);
	CREATE INDEX entries_off_branch ON entries(place) WHERE parent = '';
	CREATE TABLE spending (
		time        INTEGER NOT NULL,
		place       INTEGER NOT NULL,
		model       TEXT NOT NULL,
		agent       TEXT NOT NULL DEFAULT '',
		input       INTEGER NOT NULL,
		cache_read  INTEGER NOT NULL,
		cache_write INTEGER NOT NULL,
		output      INTEGER NOT NULL,
		reasoning   INTEGER NOT NULL,
		cost        REAL NOT NULL,
		imported    INTEGER NOT NULL DEFAULT 0,
		names       INTEGER NOT NULL DEFAULT 0, -- CRC-32 of model and agent
		parity      INTEGER NOT NULL GENERATED ALWAYS AS (` + parity + `) STORED,
		PRIMARY KEY (time, place)
	) WITHOUT ROWID;
	CREATE TABLE blobs (
		key  INTEGER PRIMARY KEY,
		hash TEXT NOT NULL UNIQUE, -- SHA-256 in hexadecimal
		data BLOB NOT NULL
	);
	CREATE TABLE blob_uses (
		blob    INTEGER NOT NULL, -- blobs.key
		session INTEGER NOT NULL, -- sessions.key
		PRIMARY KEY (session, blob)
	) WITHOUT ROWID;
	CREATE INDEX blob_uses_blob ON blob_uses(blob);`

// parity is a sum over a row of spending, of which no bit can change without it. 2^54 is the factor that makes a cost an integer: a bit that
// this loses is worth less than 1e-16 dollars.
const parity = `(time + place + 3*input + 5*cache_read + 7*cache_write + 11*output + 13*reasoning + 17*imported + names
	+ CAST(cost * 18014398509481984.0 AS INTEGER) % 1000000007)`

// seqBits is how many bits of entries.place are the sequence number.
const seqBits = 36

func place(key, seq int64) int64 { return key<<seqBits | seq }
func seqOf(place int64) int64    { return place & (1<<seqBits - 1) }
func keyOf(place int64) int64    { return place >> seqBits }

// lastPlace is the highest place that an entry of the session can have.
func lastPlace(key int64) int64 { return place(key, 1<<seqBits-1) }

// identity is the identity of a file.
type identity struct{ application, version, schema int }

func identify(c *sql.Conn) (id identity, err error) {
	err = c.QueryRowContext(context.Background(), `SELECT application_id, user_version, schema_version
		FROM pragma_application_id, pragma_user_version, pragma_schema_version`).
		Scan(&id.application, &id.version, &id.schema)
	return id, err
}

// check reports whether a file with this identity can be used, and whether it is empty.
func (id identity) check(path string) (empty bool, err error) {
	switch {
	case id == identity{}:
		return true, nil
	case id.application != applicationID:
		return false, fmt.Errorf("session: %s is the SQLite database of another program: name another file", path)
	case id.version > schemaVersion:
		return false, fmt.Errorf("session: %s: %w (schema %d, this version knows %d): update Tenon, or name another file",
			path, session.ErrNewer, id.version, schemaVersion)
	case id.version < schemaVersion:
		return false, fmt.Errorf("session: %s has schema %d of a version before the first release: move it away", path, id.version)
	}
	return false, nil
}

// fill makes the tables in an empty file. Processes that call it at once take turns, and only the first one makes them.
func (s *committer) fill(ctx context.Context) error {
	return s.write(ctx, "prepare", true, func(t *txn) error {
		id, err := identify(t.conn)
		if err != nil {
			return err
		}
		if empty, err := id.check(s.path); !empty {
			return err
		}
		_, err = t.conn.ExecContext(context.Background(),
			fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, schemaVersion))
		return err
	})
}
