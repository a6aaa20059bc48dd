package transfer

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// openCodeDB is opencode.db.
type openCodeDB struct{ *database }

func openOpenCode(ctx context.Context, file string) (openCodeStore, error) {
	f, _, err := openRegular(file)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 16)
	_, _ = f.Read(head) // a shorter file is no database
	_ = f.Close()
	if !isDatabase(head) {
		return newOpenCodeFiles(file)
	}
	return openOpenCodeDB(ctx, file)
}

func openOpenCodeDB(ctx context.Context, file string) (*openCodeDB, error) {
	d, err := openDatabase(ctx, file, "session", "message", "part", "todo")
	if err != nil {
		return nil, err
	}
	if !d.isOpenCode() {
		_ = d.Close() // it was only looked at
		return nil, fmt.Errorf("%s is no database of OpenCode that is known", file)
	}
	return &openCodeDB{d}, nil
}

func (d *database) isOpenCode() bool {
	return d.has("session", "id", "parent_id", "directory", "title", "time_created", "time_updated") &&
		d.has("message", "id", "session_id", "time_created", "data") && d.has("part", "id", "message_id", "data")
}

func listOpenCodeDB(ctx context.Context, file string) ([]Source, error) {
	d, err := openOpenCodeDB(ctx, file)
	if err != nil {
		return nil, err
	}
	defer d.Close() // it was only read
	rows, err := d.QueryContext(ctx, `SELECT id, substr(coalesce(directory, ''), 1, 5000), substr(coalesce(title, ''), 1, 1000), time_updated,
		coalesce(n, 0) FROM session LEFT JOIN (SELECT session_id, count(*) n FROM message GROUP BY session_id) ON session_id = id
		WHERE coalesce(parent_id, '') = '' ORDER BY time_updated DESC`)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer rows.Close()
	var found []Source
	for rows.Next() {
		s, err := sourceOf(OpenCode, file)
		if err != nil {
			return found, err
		}
		var updated float64
		if err := rows.Scan(&s.ID, &s.Dir, &s.Title, &updated, &s.Size); err != nil {
			return found, fmt.Errorf("%s: %w", file, err)
		}
		s.Dir, _ = cleanDir(s.Dir)
		s.Title, s.Updated = brief(s.Title, 80), unix(updated).UTC()
		found = append(found, s)
	}
	return found, rows.Err()
}

func (d *openCodeDB) session(ctx context.Context, id string) (info openCodeSession, err error) {
	info.ID = id
	query := `SELECT substr(coalesce(directory, ''), 1, 5000), substr(coalesce(title, ''), 1, 1000),
		time_created, time_updated, coalesce(` + d.column("session", "version", "''") + `, ''), coalesce(` +
		d.column("session", "revert", "''") + `, '') FROM session WHERE id = ?`
	var revert string
	err = d.QueryRowContext(ctx, query, id).Scan(&info.Dir, &info.Title, &info.Time.Created, &info.Time.Updated, &info.Version, &revert)
	if err == nil && revert != "" {
		_ = json.Unmarshal([]byte(revert), &info.Revert) // else nothing was taken back
	}
	return info, err
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

// data is the JSON of a row, with its ID in it as in the files.
func (d *openCodeDB) data(ctx context.Context, table, id string) ([]byte, error) {
	var data sql.RawBytes
	rows, err := d.QueryContext(ctx,
		`SELECT CASE WHEN length(data) <= ? THEN data ELSE '"too long"' END FROM `+table+` WHERE id = ?`, maxLine, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []byte
	if rows.Next() {
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		out = withID(data, id)
	}
	return out, rows.Err()
}

// withID puts the ID into a JSON object.
func withID(data []byte, id string) []byte {
	if len(data) < 2 || data[0] != '{' {
		return append([]byte(nil), data...)
	}
	key, err := json.Marshal(id)
	if err != nil {
		return append([]byte(nil), data...)
	}
	out := append([]byte(`{"id":`), key...)
	if data[1] != '}' {
		out = append(out, ',')
	}
	return append(out, data[1:]...)
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

func (d *openCodeDB) todo(ctx context.Context, id string) (todo session.Todo, err error) {
	if !d.has("todo", "session_id", "content", "status", "position") {
		return todo, nil
	}
	rows, err := d.QueryContext(ctx, `SELECT content, status FROM todo WHERE session_id = ? ORDER BY position LIMIT 1000`, id)
	if err != nil {
		return todo, err
	}
	defer rows.Close()
	for rows.Next() {
		var t session.TodoItem
		if err := rows.Scan(&t.Text, &t.Status); err != nil {
			return todo, err
		}
		t.Status = todoStatus(t.Status)
		todo.Items = append(todo.Items, t)
	}
	return todo, rows.Err()
}
