package transfer

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of Crush, as versions 0.1 to 0.30 keep them: .crush/crush.db in the project, with the tables sessions, messages and
// files. A message is a list of parts, each with a type and data, in JSON. Sessions of sub-agents and of titles name their parent.

type crushPart struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// crushData has the fields of the data of every part.
type crushData struct {
	Text             string `json:"text"`
	Thinking         string `json:"thinking"`
	Signature        string `json:"signature"`
	ThoughtSignature string `json:"thought_signature"`
	ID               string `json:"id"`
	Name             string `json:"name"`
	Input            string `json:"input"`
	CallID           string `json:"tool_call_id"`
	Content          string `json:"content"`
	Bytes            string `json:"data"`
	MIME             string `json:"mime_type"`
	IsError          bool   `json:"is_error"`
	Reason           string `json:"reason"`
	Message          string `json:"message"`
	URL              string `json:"url"`
	Command          string `json:"command"`
	Output           string `json:"output"`
	ExitCode         int    `json:"exit_code"`
	Hidden           bool   `json:"hidden"`
}

// crushBinary is the data of a part "binary", whose names are not those of the others.
type crushBinary struct {
	Path     string
	MIMEType string
	Data     []byte
}

// crushRow is a message.
type crushRow struct {
	id, role, model, provider string
	parts                     []byte
	created                   float64
	summary                   bool
}

type crushReader struct {
	b     *builder
	db    *database
	last  int
	side  bool
	costs string // the message that is a summary, as the session has it
}

func openCrush(ctx context.Context, file string) (*database, error) {
	d, err := openDatabase(ctx, file, "sessions", "messages", "files")
	if err != nil {
		return nil, err
	}
	if !d.isCrush() {
		_ = d.Close() // it was only looked at
		return nil, fmt.Errorf("%s is no database of Crush that is known", file)
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
	defer d.Close() // it was only read
	var created float64
	var summary, todos string
	query := `SELECT substr(coalesce(title, ''), 1, 1000), created_at, coalesce(` +
		d.column("sessions", "summary_message_id", "''") + `, ''), substr(coalesce(` +
		d.column("sessions", "todos", "''") + `, ''), 1, 1000000) FROM sessions WHERE id = ?`
	err = d.QueryRowContext(ctx, query, s.ID).Scan(&b.title, &created, &summary, &todos)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("it is not there")
	}
	if err != nil {
		return fmt.Errorf("%s: session %s: %w", s.File, s.ID, err)
	}
	b.id, b.created = s.ID, unix(created)
	b.setDir(s.Dir, shortName(s.File))
	children := func(id string) ([]string, error) {
		return d.strings(ctx, `SELECT id FROM sessions WHERE parent_session_id = ? AND id NOT LIKE 'title-%'
			ORDER BY created_at, id LIMIT 1000`, id)
	}
	err = descend(s.ID, children, func(child string) error {
		return (&crushReader{b: b, db: d, last: root, side: true}).session(ctx, child)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	r := &crushReader{b: b, db: d, last: root, costs: summary}
	if err := r.session(ctx, s.ID); err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	return r.rest(ctx, s, todos)
}

// rest is what belongs to the session as a whole.
func (r *crushReader) rest(ctx context.Context, s Source, todos string) error {
	var n int
	if r.db.has("files", "session_id") && r.db.QueryRowContext(ctx, `SELECT count(*) FROM files WHERE session_id = ?`, s.ID).Scan(&n) == nil {
		for range min(n, 100_000) {
			r.b.losses.add("version of a file", shortName(s.File), "what files contained is not taken over; git has it, perhaps")
		}
	}
	var items []struct{ Content, Status string }
	if decode([]byte(todos), &items) != nil {
		return nil
	}
	var todo session.Todo
	for _, t := range items {
		todo.Items = append(todo.Items, session.TodoItem{Text: t.Content, Status: todoStatus(t.Status)})
	}
	return r.b.toDo(todo)
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

func (r *crushReader) message(m crushRow) error {
	place := "message " + brief(m.id, 60)
	var parts []crushPart
	if err := decode(m.parts, &parts); err != nil {
		r.b.losses.add("message that cannot be read", place, err.Error())
		return nil
	}
	at := unix(m.created)
	out := session.Message{Message: llm.Message{Role: llm.RoleUser}}
	if m.role == "assistant" {
		out.Role, out.Model = llm.RoleAssistant, modelOf(m.provider, m.model)
	}
	for _, p := range parts {
		var d crushData
		if p.Type != "binary" && json.Unmarshal(p.Data, &d) != nil {
			r.b.losses.add("part that is no JSON", place, string(p.Data[:min(len(p.Data), 400)]))
			continue
		}
		switch {
		case p.Type == "tool_result":
			if _, err := r.b.result(at, place, crushResult(d)); err != nil {
				return err
			}
		case p.Type == "finish" && m.role == "assistant":
			out.Stop = crushStop(d.Reason)
			if d.Message != "" {
				r.b.losses.add("error of an answer", place, d.Message)
			}
		case p.Type == "finish":
		default:
			if part := r.part(place, p, d); part != nil {
				out.Content = append(out.Content, part)
			}
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	var body session.Body = out
	switch {
	case m.summary || m.id == r.costs && m.id != "":
		body = session.Digest{Reason: "full", Summary: out.Text(), By: out.Model}
	case m.role != "user" && m.role != "assistant":
		r.b.losses.add(fmt.Sprintf("message of the role %q", brief(m.role, 30)), place, out.Text())
		return nil
	}
	n, err := r.b.add(r.last, r.side, at, body)
	r.last = n
	return err
}

func crushResult(d crushData) session.Message {
	m := session.Message{Message: llm.Message{CallID: d.CallID, IsError: d.IsError, Content: llm.Content{llm.Text{Text: d.Content}}}}
	if img, ok := dataURL("data:" + d.MIME + ";base64," + d.Bytes); ok {
		m.Content = append(m.Content, img)
	}
	return m
}

func crushStop(reason string) llm.StopReason {
	switch reason {
	case "end_turn":
		return llm.StopEnd
	case "tool_use":
		return llm.StopCalls
	case "max_tokens":
		return llm.StopLength
	case "content_filter":
		return llm.StopRefused
	case "canceled", "error":
		return llm.StopAborted
	}
	return ""
}

func (r *crushReader) part(place string, p crushPart, d crushData) llm.Part {
	switch p.Type {
	case "text":
		if d.Text != "" {
			return llm.Text{Text: d.Text}
		}
		return nil
	case "reasoning":
		if d.Thinking == "" && d.Signature == "" {
			return nil
		}
		return llm.Thinking{Text: d.Thinking, Signature: d.Signature}
	case "tool_call":
		return llm.ToolCall{ID: d.ID, Name: d.Name, Arguments: arguments(json.RawMessage(d.Input))}
	case "shell_command":
		return llm.Text{Text: fmt.Sprintf("$ %s\n%s\n(exit code %d)", d.Command, d.Output, d.ExitCode)}
	case "binary":
		var bin crushBinary
		if json.Unmarshal(p.Data, &bin) != nil || len(bin.Data) == 0 {
			break
		}
		switch {
		case strings.HasPrefix(bin.MIMEType, "image/"):
			return llm.Image{MIME: bin.MIMEType, Data: bin.Data}
		case strings.HasPrefix(bin.MIMEType, "text/"):
			return llm.Text{Text: "<file path=" + fmt.Sprintf("%q", bin.Path) + ">\n" + string(bin.Data) + "\n</file>"}
		}
		return llm.Document{MIME: bin.MIMEType, Name: filepath.Base(bin.Path), Data: bin.Data}
	case "image_url":
		if img, ok := dataURL(d.URL); ok {
			return img
		}
	}
	r.b.losses.add(fmt.Sprintf("part %q of a message", brief(p.Type, 30)), place, string(p.Data[:min(len(p.Data), 400)]))
	return nil
}

// ---- Where they are.

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
	defer d.Close() // it was only read
	rows, err := d.QueryContext(ctx, `SELECT id, substr(coalesce(title, ''), 1, 1000), updated_at, coalesce(n, 0)
		FROM sessions LEFT JOIN (SELECT session_id, count(*) n FROM messages GROUP BY session_id) ON session_id = id
		WHERE coalesce(parent_session_id, '') = '' ORDER BY updated_at DESC`)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	defer rows.Close()
	var found []Source
	for rows.Next() {
		s, err := sourceOf(Crush, file)
		if err != nil {
			return found, err
		}
		var updated float64
		if err := rows.Scan(&s.ID, &s.Title, &updated, &s.Size); err != nil {
			return found, fmt.Errorf("%s: %w", file, err)
		}
		if dir := filepath.Dir(s.File); filepath.Base(dir) == ".crush" {
			s.Dir = filepath.Dir(dir)
		}
		s.Title, s.Updated = brief(s.Title, 80), unix(updated).UTC()
		found = append(found, s)
	}
	return found, rows.Err()
}
