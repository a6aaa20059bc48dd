package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of OpenCode, as versions 0.6 to 1.4 keep them: until 1.1 in files storage/session/<project>/<id>.json,
// storage/message/<session>/<id>.json, storage/part/<message>/<id>.json and storage/todo/<session>.json, later in the tables session,
// message, part and todo of opencode.db, whose data is the same JSON without the IDs. A message has parts; a step of the model begins
// with a part "step-start", and its calls have their results in them. IDs sort by time.

type openCodeSession struct {
	ID      string `json:"id"`
	Parent  string `json:"parentID"`
	Dir     string `json:"directory"`
	Title   string `json:"title"`
	Version string `json:"version"`
	Time    struct {
		Created float64 `json:"created"`
		Updated float64 `json:"updated"`
	} `json:"time"`
	Revert struct {
		Message string `json:"messageID"`
	} `json:"revert"`
}

type openCodeMessage struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Time struct {
		Created   float64 `json:"created"`
		Completed float64 `json:"completed"`
	} `json:"time"`
	Model    string          `json:"modelID"`
	Provider string          `json:"providerID"`
	Summary  json.RawMessage `json:"summary"` // of an answer: whether it is one; of a user's message: something else
	Error    *struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
	Cost   float64        `json:"cost"`
	Tokens openCodeTokens `json:"tokens"`
	Finish string         `json:"finish"`
}

type openCodeTokens struct {
	Input     float64 `json:"input"`
	Output    float64 `json:"output"`
	Reasoning float64 `json:"reasoning"`
	Cache     struct {
		Read  float64 `json:"read"`
		Write float64 `json:"write"`
	} `json:"cache"`
}

func (t openCodeTokens) ours(cost float64) llm.Usage {
	return llm.Usage{
		Input: tokens(t.Input), Output: tokens(t.Output), Reasoning: tokens(t.Reasoning),
		CacheRead: tokens(t.Cache.Read), CacheWrite: tokens(t.Cache.Write), Cost: dollars(cost),
	}
}

type openCodePart struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Synthetic bool           `json:"synthetic"`
	Ignored   bool           `json:"ignored"`
	CallID    string         `json:"callID"`
	Tool      string         `json:"tool"`
	MIME      string         `json:"mime"`
	Name      string         `json:"filename"`
	URL       string         `json:"url"`
	Auto      bool           `json:"auto"`
	TailStart string         `json:"tail_start_id"`
	Reason    string         `json:"reason"`
	Cost      float64        `json:"cost"`
	Tokens    openCodeTokens `json:"tokens"`
	Prompt    string         `json:"prompt"`
	Metadata  struct {
		Anthropic struct {
			Signature string `json:"signature"`
		} `json:"anthropic"`
	} `json:"metadata"`
	State struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
		Time   struct {
			Start float64 `json:"start"`
			End   float64 `json:"end"`
		} `json:"time"`
		Attachments []openCodePart `json:"attachments"`
	} `json:"state"`
}

// openCodeStore is one of the two ways in which OpenCode keeps its sessions. The sequences are in the order of time.
type openCodeStore interface {
	session(ctx context.Context, id string) (openCodeSession, error)
	children(ctx context.Context, id string) ([]string, error)
	messages(ctx context.Context, id string, f func(place string, data []byte) error) error
	parts(ctx context.Context, id string, f func(place string, data []byte) error) error
	todo(ctx context.Context, id string) (session.Todo, error)
	io.Closer
}

type openCodeReader struct {
	b          *builder
	store      openCodeStore
	last       int
	side       bool
	compacting *openCodePart   // a compaction was asked for, and its summary has not come yet
	nodes      map[string]int  // the first node of each message
	seen       map[string]bool // messages, of all the sessions
}

func readOpenCode(ctx context.Context, s Source, b *builder) error {
	store, err := openOpenCode(ctx, s.File)
	if err != nil {
		return err
	}
	defer store.Close() // it was only read
	info, err := store.session(ctx, s.ID)
	if err != nil {
		return fmt.Errorf("%s: session %s: %w", s.File, s.ID, err)
	}
	b.id, b.title, b.version, b.created = s.ID, info.Title, info.Version, unix(info.Time.Created)
	b.setDir(info.Dir, shortName(s.File))
	seen := map[string]bool{}
	read := func(id string, side bool) (*openCodeReader, error) {
		r := &openCodeReader{b: b, store: store, last: root, side: side, nodes: map[string]int{}, seen: seen}
		return r, store.messages(ctx, id, func(place string, data []byte) error { return r.message(ctx, place, data) })
	}
	err = descend(s.ID, func(id string) ([]string, error) { return store.children(ctx, id) }, func(child string) error {
		_, err := read(child, true)
		return err
	})
	if err != nil {
		return err
	}
	r, err := read(s.ID, false)
	if err != nil {
		return err
	}
	if n, ok := r.nodes[info.Revert.Message]; ok && info.Revert.Message != "" {
		b.leaf = b.nodes[n].parent
	}
	todo, err := store.todo(ctx, s.ID)
	if err != nil {
		b.losses.add("todo list", shortName(s.File), err.Error())
		return nil
	}
	return b.toDo(todo)
}

func (r *openCodeReader) add(m openCodeMessage, body session.Body) error {
	n, err := r.b.add(r.last, r.side, unix(m.Time.Created), body)
	if _, ok := r.nodes[m.ID]; !ok {
		r.nodes[m.ID] = n
	}
	r.last = n
	return err
}

func (r *openCodeReader) message(ctx context.Context, place string, data []byte) error {
	var m openCodeMessage
	if err := decode(data, &m); err != nil {
		r.b.losses.add("message that cannot be read", place, err.Error())
		return nil
	}
	if r.seen[m.ID] { // its parts would be read again and again
		r.b.losses.add("second message of the same name", place, m.ID)
		return nil
	}
	r.seen[m.ID] = true
	var parts []openCodePart
	room := maxLine
	err := r.store.parts(ctx, m.ID, func(place string, data []byte) error {
		var p openCodePart
		if room -= len(data); room < 0 {
			r.b.losses.add("part of a message that is too long", place, "")
			return nil
		}
		if err := decode(data, &p); err != nil {
			r.b.losses.add("part that cannot be read", place, err.Error())
			return nil
		}
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		return err
	}
	switch m.Role {
	case "user":
		return r.said(place, m, parts)
	case "assistant":
		return r.answer(place, m, parts)
	}
	r.b.losses.add(fmt.Sprintf("message of the role %q", brief(m.Role, 30)), place, "")
	return nil
}

func (r *openCodeReader) said(place string, m openCodeMessage, parts []openCodePart) error {
	var own, added llm.Content // by the person, by the program
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Ignored:
			r.b.losses.add("text that the model was not told", place, p.Text)
		case p.Type == "text" && p.Text != "" && p.Synthetic:
			added = append(added, llm.Text{Text: p.Text})
		case p.Type == "text" && p.Text != "":
			own = append(own, llm.Text{Text: p.Text})
		case p.Type == "text":
		case p.Type == "file":
			if part := r.file(place, p); part != nil {
				own = append(own, part)
			}
		case p.Type == "subtask":
			added = append(added, llm.Text{Text: p.Prompt})
		case p.Type == "compaction":
			r.compacting = &p
			if n, ok := r.nodes[p.TailStart]; !ok || n == root {
				p.TailStart = ""
			}
		default:
			r.lose(place, p)
		}
	}
	if len(own)+len(added) == 0 {
		return nil
	}
	out := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: append(own, added...)}}
	if len(own) == 0 {
		out.Source = session.FromLoop
	}
	return r.add(m, out)
}

// file is a file that was given to the model, when its content is in the session.
func (r *openCodeReader) file(place string, p openCodePart) llm.Part {
	if img, ok := dataURL(p.URL); ok {
		return img
	}
	if rest, ok := strings.CutPrefix(p.URL, "data:text/plain,"); ok {
		if text, err := url.PathUnescape(rest); err == nil {
			return llm.Text{Text: text}
		}
	}
	if doc, ok := dataDocument(p); ok {
		return doc
	}
	r.b.losses.add("file that is not in the session", place, p.Name+" "+p.URL)
	return nil
}

func dataDocument(p openCodePart) (llm.Document, bool) {
	if p.MIME != "application/pdf" {
		return llm.Document{}, false
	}
	img, ok := dataURL(strings.Replace(p.URL, "data:application/pdf", "data:image/pdf", 1))
	return llm.Document{MIME: p.MIME, Name: p.Name, Data: img.Data}, ok
}

func (r *openCodeReader) lose(place string, p openCodePart) {
	switch p.Type {
	case "step-start", "step-finish", "snapshot", "patch", "agent": // they say nothing that is not said elsewhere
	default:
		r.b.losses.add(fmt.Sprintf("part %q of a message", brief(p.Type, 30)), place, p.Text)
	}
}

// answer makes one message of each step.
func (r *openCodeReader) answer(place string, m openCodeMessage, parts []openCodePart) error {
	if m.Error != nil {
		r.b.losses.add("error of an answer", place, m.Error.Name+" "+m.Error.Data.Message)
	}
	if string(m.Summary) == "true" {
		return r.summary(place, m, parts)
	}
	steps := [][]openCodePart{nil}
	for _, p := range parts {
		if p.Type == "step-start" {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], p)
	}
	counted := false
	for _, step := range steps {
		if err := r.step(place, m, step, &counted); err != nil {
			return err
		}
	}
	if !counted && r.nodeOf(m) != root { // before there were steps, the message alone knew
		if n := &r.b.nodes[r.last]; n.usage == nil {
			u := m.Tokens.ours(m.Cost)
			n.usage = &u
		}
	}
	return nil
}

func (r *openCodeReader) nodeOf(m openCodeMessage) int {
	if n, ok := r.nodes[m.ID]; ok {
		return n
	}
	return root
}

func (r *openCodeReader) step(place string, m openCodeMessage, parts []openCodePart, counted *bool) error {
	out := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: modelOf(m.Provider, m.Model)}}
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.Text != "":
			out.Content = append(out.Content, llm.Text{Text: p.Text})
		case p.Type == "reasoning" && p.Text != "":
			out.Content = append(out.Content, llm.Thinking{Text: p.Text, Signature: p.Metadata.Anthropic.Signature})
		case p.Type == "tool":
			out.Content = append(out.Content, llm.ToolCall{ID: p.CallID, Name: p.Tool, Arguments: arguments(p.State.Input)})
		case p.Type == "step-finish":
			out.Usage, *counted = p.Tokens.ours(p.Cost), true
			out.Stop = openCodeStop(p.Reason)
		case p.Type == "text" || p.Type == "reasoning":
		default:
			r.lose(place, p)
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	if m.Error != nil && m.Error.Name == "MessageAbortedError" && len(out.Calls()) == 0 {
		out.Stop = llm.StopAborted
	}
	if err := r.add(m, out); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "tool" {
			if err := r.result(place, m, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func openCodeStop(reason string) llm.StopReason {
	switch reason {
	case "length":
		return llm.StopLength
	case "content-filter":
		return llm.StopRefused
	case "tool-calls":
		return llm.StopCalls
	}
	return ""
}

// result is what a call returned, when it did.
func (r *openCodeReader) result(place string, m openCodeMessage, p openCodePart) error {
	out := session.Message{Message: llm.Message{CallID: p.CallID}}
	switch p.State.Status {
	case "completed":
		out.Content = llm.Content{llm.Text{Text: p.State.Output}}
	case "error":
		out.Content, out.IsError = llm.Content{llm.Text{Text: p.State.Error}}, true
	default:
		return nil
	}
	for _, a := range p.State.Attachments {
		if part := r.file(place, a); part != nil {
			out.Content = append(out.Content, part)
		}
	}
	at := unix(p.State.Time.End)
	if at.IsZero() {
		at = unix(m.Time.Created)
	}
	_, err := r.b.result(at, place, out)
	return err
}

// summary is what the model is told after a compaction.
func (r *openCodeReader) summary(place string, m openCodeMessage, parts []openCodePart) error {
	d := session.Digest{Reason: "full", By: modelOf(m.Provider, m.Model), Usage: m.Tokens.ours(m.Cost)}
	for _, p := range parts {
		if p.Type == "text" {
			d.Summary += p.Text
		}
	}
	asked := r.compacting
	r.compacting = nil
	if strings.TrimSpace(d.Summary) == "" {
		r.b.losses.add("summary without words", place, "")
		return nil
	}
	if asked != nil && !asked.Auto {
		d.Reason = "asked"
	}
	before := r.last
	if err := r.add(m, d); err != nil {
		return err
	}
	if asked != nil && asked.TailStart != "" {
		r.b.nodes[r.last].kept = r.b.between(r.nodes[asked.TailStart], before)
	}
	return nil
}

// ---- Where they are.

func findOpenCode(ctx context.Context, p Places) ([]Source, error) {
	base := p.env("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		base = ""
	}
	if base == "" && p.Home != "" {
		base = filepath.Join(p.Home, ".local", "share")
	}
	if base == "" {
		return nil, nil
	}
	base = filepath.Join(base, "opencode")
	var found []Source
	var errs []error
	seen := map[string]bool{} // a session that was moved to the database is in the files still
	if _, err := os.Stat(filepath.Join(base, "opencode.db")); err == nil {
		some, err := listOpenCodeDB(ctx, filepath.Join(base, "opencode.db"))
		errs = append(errs, err)
		for _, s := range some {
			seen[s.ID] = true
		}
		found = append(found, some...)
	}
	for _, dir := range subdirs(filepath.Join(base, "storage", "session")) {
		for _, file := range filesIn(dir, ".json") {
			if s, ok, err := lookOpenCode(ctx, file); err == nil && ok && !seen[s.ID] {
				found = append(found, s)
			}
		}
	}
	if p.Dir != "" {
		var here []Source
		for _, s := range found {
			if s.Dir == p.Dir {
				here = append(here, s)
			}
		}
		found = here
	}
	return found, errors.Join(errs...)
}
