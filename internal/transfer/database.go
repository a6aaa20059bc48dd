package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// database is another program's SQLite file, opened read-only. Its schema is untrusted: a table may be a view that
// never ends.
type database struct {
	*sql.DB
	path    string
	columns map[string][]string // of known tables
}

// openDatabase opens a file and reads its tables.
func openDatabase(ctx context.Context, path string, tables ...string) (*database, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	_ = f.Close() // read-only
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slash := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slash, "/") { // such as C:/
		slash = "/" + slash
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "trusted_schema(0)", "busy_timeout(2000)"}}
	if _, err := os.Stat(path + "-wal"); errors.Is(err, os.ErrNotExist) {
		q.Set("immutable", "1") // it has no writer now; SQLite would otherwise create files next to it
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slash, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &database{db, path, map[string][]string{}}
	for _, table := range tables {
		d.columns[table], err = d.strings(ctx,
			`SELECT c.name FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table' AND s.name = ?`, table) // none for a view
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
		}
	}
	return d, nil
}

// has reports whether a table has all of these columns.
func (d *database) has(table string, columns ...string) bool {
	for _, c := range columns {
		if !slices.Contains(d.columns[table], c) {
			return false
		}
	}
	return len(d.columns[table]) > 0
}

// column is the name of a column, or an expression in its place if the table lacks it.
func (d *database) column(table, name, otherwise string) string {
	if d.has(table, name) {
		return name
	}
	return otherwise
}

// strings runs a query for one column.
func (d *database) strings(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := d.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// sources closes the database and returns the sessions of a query for ID, directory, title, time of the last change, and size.
func (d *database) sources(ctx context.Context, program, query string) (found []Source, err error) {
	defer d.Close() // read-only
	rows, err := d.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		s, err := sourceOf(program, d.path)
		if err != nil {
			return found, err
		}
		var updated float64
		if err := rows.Scan(&s.ID, &s.Dir, &s.Title, &updated, &s.Size); err != nil {
			return found, fmt.Errorf("%s: %w", d.path, err)
		}
		s.Dir, _ = cleanDir(s.Dir)
		s.Title, s.Updated = brief(s.Title, 80), unix(updated).UTC()
		found = append(found, s)
	}
	return found, rows.Err()
}

// isDatabase reports whether a file has the header of SQLite.
func isDatabase(head []byte) bool { return strings.HasPrefix(string(head), "SQLite format 3\x00") }
