package transfer

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
)

// openCodeDB is opencode.db.
type openCodeDB struct{ *database }

func openOpenCode(ctx context.Context, file string) (*openCodeDB, error) {
	d, err := openDatabase(ctx, file, "session", "message", "part", "todo")
	if err != nil {
		return nil, err
	}
	if !d.isOpenCode() {
		_ = d.Close() // read-only
		return nil, fmt.Errorf("%s is no database of OpenCode that is known", file)
	}
	return &openCodeDB{d}, nil
}

func (d *database) isOpenCode() bool {
	return d.has("session", "id", "parent_id", "directory", "title", "time_created", "time_updated") &&
		d.has("message", "id", "session_id", "time_created", "data") && d.has("part", "id", "message_id", "data")
}

func listOpenCode(ctx context.Context, file string) ([]Source, error) {
	d, err := openOpenCode(ctx, file)
	if err != nil {
		return nil, err
	}
	return d.sources(ctx, OpenCode, `SELECT id, substr(coalesce(directory, ''), 1, 5000), substr(coalesce(title, ''), 1, 1000), time_updated,
		coalesce(n, 0) FROM session LEFT JOIN (SELECT session_id, count(*) n FROM message GROUP BY session_id) ON session_id = id
		WHERE coalesce(parent_id, '') = '' ORDER BY time_updated DESC`)
}

func (d *openCodeDB) session(ctx context.Context, id string) (object, error) {
	var data []byte
	err := d.QueryRowContext(ctx, `SELECT json_object('directory', substr(directory, 1, 5000), 'title', substr(title, 1, 1000),
		'time', json_object('created', time_created),
		'revert', CASE WHEN json_valid(`+d.column("session", "revert", "''")+`) THEN json(`+d.column("session", "revert", "''")+`) END)
		FROM session WHERE id = ?`, id).Scan(&data)
	if err != nil {
		return nil, err
	}
	return objectOf(data)
}

func (d *openCodeDB) children(ctx context.Context, id string) ([]string, error) {
	return d.strings(ctx, `SELECT id FROM session WHERE parent_id = ? AND id <> ? ORDER BY time_created, id LIMIT 1000`, id, id)
}

func (d *openCodeDB) messages(ctx context.Context, id string, f func(string, []byte) error) error {
	// The IDs first: while rows are read, there is no second connection for the parts.
	ids, err := d.strings(ctx, `SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id`, id)
	if err != nil {
		return err
	}
	for _, m := range ids {
		data, err := d.data(ctx, "message", m)
		if err != nil {
			return err
		}
		if err := f("message "+brief(m, 60), data); err != nil {
			return err
		}
	}
	return nil
}

// data returns the JSON of a row, with its ID in it unless it has one of its own.
func (d *openCodeDB) data(ctx context.Context, table, id string) (data []byte, err error) {
	err = d.QueryRowContext(ctx, `SELECT CASE WHEN length(data) > ? THEN '"too long"' WHEN json_valid(data) AND json_type(data) = 'object'
		THEN json_patch(json_object('id', id), data) ELSE data END FROM `+table+` WHERE id = ? LIMIT 1`, maxLine, id).Scan(&data)
	return data, err
}

func (d *openCodeDB) parts(ctx context.Context, id string, f func(string, []byte) error) error {
	rows, err := d.QueryContext(ctx,
		`SELECT id, CASE WHEN length(data) <= ? THEN data ELSE '"too long"' END FROM part WHERE message_id = ? ORDER BY id`, maxLine, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var part string
		var data sql.RawBytes
		if err := rows.Scan(&part, &data); err != nil {
			return err
		}
		if err := f("part "+brief(part, 60), data); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *openCodeDB) todo(ctx context.Context, id string) (items []object, err error) {
	if !d.has("todo", "session_id", "content", "status", "position") {
		return nil, nil
	}
	rows, err := d.strings(ctx, `SELECT json_object('content', content, 'status', status) FROM todo WHERE session_id = ? ORDER BY position LIMIT 1000`, id)
	for _, row := range rows {
		item, e := objectOf([]byte(row))
		err = cmp.Or(err, e)
		items = append(items, item)
	}
	return items, err
}

// ---- Discovery.

func findOpenCode(ctx context.Context, p Places) ([]Source, error) {
	base := p.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = p.base("", ".local", "share")
	}
	file := filepath.Join(base, "opencode", "opencode.db")
	if _, err := os.Stat(file); base == "" || err != nil {
		return nil, nil
	}
	return listOpenCode(ctx, file)
}
