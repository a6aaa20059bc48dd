package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// applicationID marks an SQLite file as ours: "Teno" in ASCII.
const applicationID = 0x54656e6f

// migrations lead from each version of the schema to the next; the version is how many were applied. What was released is
// never changed: a new version is a new migration.
//
// Everything but the lease and the blobs can be computed anew from entries.
var migrations = []string{
	`CREATE TABLE sessions (
		key          INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, so that a stale one finds nothing
		id           TEXT NOT NULL UNIQUE,
		epoch        INTEGER NOT NULL DEFAULT 0,        -- grows whenever the lease changes hands
		token        TEXT NOT NULL DEFAULT '',          -- of the store that holds the lease; '': it is free
		owner        TEXT NOT NULL DEFAULT '',
		since        INTEGER NOT NULL DEFAULT 0,        -- microseconds since 1970, like all times here
		seq          INTEGER NOT NULL,                  -- of the last entry
		tip          TEXT NOT NULL,                     -- id of the entry at the end of the current branch
		title        TEXT NOT NULL,
		named        INTEGER NOT NULL,
		dir          TEXT NOT NULL,
		model        TEXT NOT NULL DEFAULT '',
		created      INTEGER NOT NULL,
		updated      INTEGER NOT NULL,
		from_session TEXT NOT NULL,
		from_entry   TEXT NOT NULL,
		messages     INTEGER NOT NULL DEFAULT 0,
		input        INTEGER NOT NULL DEFAULT 0,
		cache_read   INTEGER NOT NULL DEFAULT 0,
		cache_write  INTEGER NOT NULL DEFAULT 0,
		output       INTEGER NOT NULL DEFAULT 0,
		reasoning    INTEGER NOT NULL DEFAULT 0,
		cost         REAL NOT NULL DEFAULT 0
	);
	CREATE TABLE entries (
		place  INTEGER PRIMARY KEY, -- sessions.key << 36 | sequence number: a session lies together, in order
		id     TEXT NOT NULL,
		parent TEXT NOT NULL,
		run    TEXT NOT NULL,
		turn   INTEGER NOT NULL,
		time   INTEGER NOT NULL,
		kind   TEXT NOT NULL,
		body   BLOB NOT NULL
	);
	CREATE INDEX entries_id ON entries(id);
	CREATE INDEX entries_off_branch ON entries(place) WHERE parent = '';
	CREATE TABLE spending (
		time        INTEGER NOT NULL,
		place       INTEGER NOT NULL,
		model       TEXT NOT NULL,
		input       INTEGER NOT NULL,
		cache_read  INTEGER NOT NULL,
		cache_write INTEGER NOT NULL,
		output      INTEGER NOT NULL,
		reasoning   INTEGER NOT NULL,
		cost        REAL NOT NULL,
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
	CREATE INDEX blob_uses_blob ON blob_uses(blob);`,

	// What was there before has no forks, tags or trash; its runs are counted, and those that have a name give it to what they spent.
	`ALTER TABLE sessions ADD COLUMN base INTEGER NOT NULL DEFAULT 0;    -- place of the entry that a fork goes on from; 0: no fork
	ALTER TABLE sessions ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '';       -- a JSON array; '': none
	ALTER TABLE sessions ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;  -- when it was moved to the trash; 0: it is not there
	ALTER TABLE sessions ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;     -- it was purged, and its entries are here for forks alone
	ALTER TABLE spending ADD COLUMN agent TEXT NOT NULL DEFAULT '';
	CREATE INDEX sessions_base ON sessions(base) WHERE base <> 0;
	CREATE INDEX sessions_trash ON sessions(deleted) WHERE deleted <> 0;
	CREATE TEMP TABLE runs_of_old AS
		SELECT place >> 36 AS key, run, json_extract(CAST(body AS TEXT), '$.tag') AS tag, json_extract(CAST(body AS TEXT), '$.trigger') AS trig
		FROM entries WHERE kind = 'run_started' AND json_valid(CAST(body AS TEXT));
	UPDATE sessions SET runs = (SELECT count(*) FROM runs_of_old r WHERE r.key = sessions.key);
	DELETE FROM runs_of_old WHERE coalesce(tag, '') = '' AND coalesce(trig, '') <> 'sub_agent';
	UPDATE spending SET agent = coalesce((SELECT CASE WHEN coalesce(tag, '') = '' THEN 'sub-agent' ELSE tag END
		FROM runs_of_old r JOIN entries e ON e.place = spending.place WHERE r.key = spending.place >> 36 AND r.run = e.run), '')
		WHERE EXISTS (SELECT 1 FROM runs_of_old);
	DROP TABLE runs_of_old;`,
}

// seqBits is how many bits of entries.place are the sequence number.
const seqBits = 36

func place(key, seq int64) int64 { return key<<seqBits | seq }
func seqOf(place int64) int64    { return place & (1<<seqBits - 1) }
func keyOf(place int64) int64    { return place >> seqBits }

// lastPlace is the highest place that an entry of the session can have.
func lastPlace(key int64) int64 { return place(key, 1<<seqBits-1) }

// identity is what a file says that it is.
type identity struct{ application, version, schema int }

func identify(c *sql.Conn) (id identity, err error) {
	err = c.QueryRowContext(context.Background(), `SELECT application_id, user_version, schema_version
		FROM pragma_application_id, pragma_user_version, pragma_schema_version`).
		Scan(&id.application, &id.version, &id.schema)
	return id, err
}

// check reports whether a file with this identity can be used, and whether it must be migrated before.
func (id identity) check(path string) (migrate bool, err error) {
	switch {
	case id == identity{}:
		return true, nil
	case id.application != applicationID:
		return false, fmt.Errorf("session: %s is the SQLite database of another program: name another file", path)
	case id.version > len(migrations):
		return false, fmt.Errorf("session: %s: %w (schema %d, this version knows up to %d): update Tenon, or name another file",
			path, session.ErrNewer, id.version, len(migrations))
	}
	return id.version < len(migrations), nil
}

// migrate brings the schema up to date. Processes that do so at once take turns; all but the first find nothing to do.
func (s *Store) migrate(ctx context.Context) error {
	return s.write(ctx, "prepare", true, func(t *txn) error {
		id, err := identify(t.conn)
		if err != nil {
			return err
		}
		if todo, err := id.check(s.path); !todo {
			return err
		}
		for _, m := range migrations[id.version:] {
			if _, err := t.conn.ExecContext(context.Background(), m); err != nil {
				return err
			}
		}
		_, err = t.conn.ExecContext(context.Background(),
			fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations)))
		return err
	})
}
