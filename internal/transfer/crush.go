package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of Crush, as versions 0.1 to 0.30 keep them: .crush/crush.db in the project, with the tables sessions, messages and
// files. A message is a list of parts in JSON, each with a type and data. Sessions of sub-agents and of titles name their parent.

// crushRow is a message.
type crushRow struct {
	id, role, model, provider string
	parts                     []byte
	created                   float64
	summary                   bool
}

type crushReader struct {
	b       *builder
	db      *database
	last    int
	side    bool
	summary string // the message that is the summary, according to the session
}

func openCrush(ctx context.Context, file string) (*database, error) {
	d, err := openDatabase(ctx, file, "sessions", "messages", "files")
	if err != nil {
		return nil, err
	}
	if !d.isCrush() {
		_ = d.Close() // read-only
		return nil, fmt.Errorf("%s is no database of a known version of Crush", file)
	}
	return d, nil
}

func (d *database) isCrush() bool {
	return d.has("sessions", "id", "parent_session_id", "title", "created_at", "updated_at", "cost", "prompt_tokens") &&
		d.has("messages", "id", "session_id", "role", "parts", "model", "created_at")
}

func readCrush(ctx context.Context, s Source, b *builder) error {
	d, err := openCrush(ctx, s.File)
	if err != nil {
		return err
	}
	defer d.Close() // read-only
	var created float64
	var summary, todos string
	query := `SELECT substr(coalesce(title, ''), 1, 1000), created_at, coalesce(` +
		d.column("sessions", "summary_message_id", "''") + `, ''), substr(coalesce(` +
		d.column("sessions", "todos", "''") + `, ''), 1, 1000000) FROM sessions WHERE id = ?`
	err = d.QueryRowContext(ctx, query, s.ID).Scan(&b.title, &created, &summary, &todos)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("not found")
	}
	if err != nil {
		return fmt.Errorf("%s: session %s: %w", s.File, s.ID, err)
	}
	b.created = unix(created)
	b.setDir(s.Dir, shortName(s.File))
	children := func(id string) ([]string, error) {
		return d.strings(ctx, `SELECT id FROM sessions WHERE parent_session_id = ? AND id NOT LIKE 'title-%'
			ORDER BY created_at, id LIMIT 1000`, id)
	}
	err = descend(s.ID, children, func(child string) error {
		return (&crushReader{b: b, db: d, last: root, side: true}).session(ctx, child)
	})
	if err == nil {
		err = (&crushReader{b: b, db: d, last: root, summary: summary}).session(ctx, s.ID)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	var versions int
	if d.has("files", "session_id") && d.QueryRowContext(ctx, `SELECT count(*) FROM files WHERE session_id = ?`, s.ID).Scan(&versions) == nil {
		for range min(versions, 100_000) {
			b.losses.add("version of a file", shortName(s.File), "imports have no file contents")
		}
	}
	var items []object
	_ = decode([]byte(todos), &items) // an unreadable list is empty
	return b.toDo(todoOf(items))
}

func (r *crushReader) session(ctx context.Context, id string) error {
	query := `SELECT substr(id, 1, 1000), substr(role, 1, 1000),
		CASE WHEN length(parts) <= ? THEN parts ELSE '"too long"' END,
		substr(coalesce(model, ''), 1, 1000), substr(coalesce(` + r.db.column("messages", "provider", "''") + `, ''), 1, 1000), created_at,
		coalesce(` + r.db.column("messages", "is_summary_message", "0") + `, 0) FROM messages WHERE session_id = ? ORDER BY created_at, rowid`
	rows, err := r.db.QueryContext(ctx, query, maxLine, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m crushRow
		if err := rows.Scan(&m.id, &m.role, &m.parts, &m.model, &m.provider, &m.created, &m.summary); err != nil {
			return err
		}
		if err := r.message(m); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (r *crushReader) message(m crushRow) (err error) {
	place, at := "message "+brief(m.id, 60), unix(m.created)
	var parts []object
	if err := decode(m.parts, &parts); err != nil {
		r.b.losses.add("unreadable message", place, err.Error())
		return nil
	}
	out := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: modelOf(m.provider, m.model)}}
	for _, p := range parts {
		data := p.object("data")
		if data == nil {
			r.b.losses.add("part that is not JSON", place, string(p.raw("data")))
			continue
		}
		data["type"] = p["type"]
		switch p.text("type") {
		case "tool_result":
			if err := r.result(place, m, data); err != nil {
				return err
			}
		case "finish":
			if out.Stop = stopReason(data.text("reason")); m.role == "assistant" && data.text("message") != "" {
				r.b.losses.add("error of an answer", place, data.text("message"))
			}
		default:
			if part := r.b.part(place, data); part != nil {
				out.Content = append(out.Content, part)
			}
		}
	}
	switch {
	case len(out.Content) == 0:
	case m.summary || m.id == r.summary && m.id != "":
		r.last, err = r.b.add(r.last, r.side, at, session.Summarized{Reason: "full", Summary: out.Text(), By: out.Model})
	case m.role == "assistant":
		r.last, err = r.b.add(r.last, r.side, at, out)
	case m.role == "user":
		r.last, err = r.b.say(r.last, r.side, at, session.SpeakerPerson, out.Content)
	default:
		r.b.losses.add(fmt.Sprintf("message of the role %q", brief(m.role, 30)), place, out.Text())
	}
	return err
}

func (r *crushReader) result(place string, m crushRow, data object) error {
	out := session.Message{Message: llm.Message{
		CallID: data.text("tool_call_id"), IsError: data.flag("is_error"), Content: llm.Content{llm.Text{Text: data.text("content")}},
	}}
	if img, ok := media(data).(llm.Image); ok {
		out.Content = append(out.Content, img)
	}
	_, err := r.b.result(unix(m.created), place, out)
	return err
}

// ---- Discovery.

// findCrush looks in the working directory and those above it: Crush keeps its sessions in the project.
func findCrush(ctx context.Context, p Places) ([]Source, error) {
	for dir := p.Dir; dir != ""; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".crush", "crush.db")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return listCrush(ctx, file)
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return nil, nil
}

func listCrush(ctx context.Context, file string) ([]Source, error) {
	d, err := openCrush(ctx, file)
	if err != nil {
		return nil, err
	}
	found, err := d.sources(ctx, Crush, `SELECT id, '', substr(coalesce(title, ''), 1, 1000), updated_at, coalesce(n, 0)
		FROM sessions LEFT JOIN (SELECT session_id, count(*) n FROM messages GROUP BY session_id) ON session_id = id
		WHERE coalesce(parent_session_id, '') = '' ORDER BY updated_at DESC`)
	for i, s := range found {
		if dir := filepath.Dir(s.File); filepath.Base(dir) == ".crush" {
			found[i].Dir = filepath.Dir(dir)
		}
	}
	return found, err
}
