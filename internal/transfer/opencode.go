package transfer

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of OpenCode, as versions 1.2 to 1.4 keep them: in the tables session, message, part and todo of opencode.db. The data of a
// message and of a part is JSON. A step of the model begins with a part "step-start", and its calls contain their results. IDs sort by
// time.

type openCodeReader struct {
	b          *builder
	db         *openCodeDB
	last       int
	side       bool
	compacting object          // the part that asked for a compaction whose summary has not come yet
	nodes      map[string]int  // the first node of each message
	seen       map[string]bool // messages of all sessions
}

// openCodeMessage is a message with the facts that every handler needs.
type openCodeMessage struct {
	object
	place, id string
	at        time.Time
	parts     []object
}

func readOpenCode(ctx context.Context, s Source, b *builder) error {
	db, err := openOpenCode(ctx, s.File)
	if err != nil {
		return err
	}
	defer db.Close() // read-only
	info, err := db.session(ctx, s.ID)
	if err != nil {
		return fmt.Errorf("%s: session %s: %w", s.File, s.ID, err)
	}
	b.title, b.created = info.text("title"), unix(info.number("time.created"))
	b.setDir(info.text("directory"), shortName(s.File))
	seen := map[string]bool{}
	read := func(id string, side bool) (*openCodeReader, error) {
		r := &openCodeReader{b: b, db: db, last: root, side: side, nodes: map[string]int{}, seen: seen}
		return r, db.messages(ctx, id, func(place string, data []byte) error { return r.message(ctx, place, data) })
	}
	err = descend(s.ID, func(id string) ([]string, error) { return db.children(ctx, id) }, func(child string) error {
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
	if n, ok := r.nodes[info.text("revert.messageID")]; ok {
		b.leaf = b.nodes[n].parent
	}
	items, err := db.todo(ctx, s.ID)
	if err != nil {
		b.losses.add("todo list", shortName(s.File), err.Error())
		return nil
	}
	return b.toDo(todoOf(items))
}

func (r *openCodeReader) message(ctx context.Context, place string, data []byte) error {
	o, err := objectOf(data)
	if err != nil || o == nil {
		r.b.losses.add("unreadable message", place, string(data))
		return nil
	}
	m := openCodeMessage{object: o, place: place, id: o.text("id"), at: unix(o.number("time.created"))}
	if r.seen[m.id] { // its parts would be read again and again
		r.b.losses.add("duplicate message ID", place, m.id)
		return nil
	}
	r.seen[m.id] = true
	room := maxLine
	err = r.db.parts(ctx, m.id, func(place string, data []byte) error {
		if room -= len(data); room < 0 {
			r.b.losses.add("part of a message that is too long", place, "")
			return nil
		}
		p, err := objectOf(data)
		if err != nil || p == nil {
			r.b.losses.add("unreadable part", place, string(data))
			return nil
		}
		m.parts = append(m.parts, p)
		return nil
	})
	if err != nil {
		return err
	}
	first := len(r.b.nodes)
	switch role := m.text("role"); role {
	case "user":
		err = r.said(m)
	case "assistant":
		err = r.answer(m)
	default:
		r.b.losses.add(fmt.Sprintf("message of the role %q", brief(role, 30)), place, "")
	}
	if len(r.b.nodes) > first {
		r.nodes[m.id] = first
	}
	return err
}

// part converts a part. Some parts repeat what others say, and are not lost.
func (r *openCodeReader) part(m openCodeMessage, p object) llm.Part {
	if slices.Contains([]string{"step-start", "step-finish", "snapshot", "patch", "agent"}, p.text("type")) {
		return nil
	}
	if text, ok := strings.CutPrefix(p.text("url"), "data:text/plain,"); ok {
		if text, err := url.PathUnescape(text); err == nil {
			return llm.Text{Text: fmt.Sprintf("<file path=%q>\n%s\n</file>", p.text("filename"), text)}
		}
	}
	return r.b.part(m.place, p)
}

func (r *openCodeReader) said(m openCodeMessage) (err error) {
	var own, added llm.Content // by the person, by the program
	for _, p := range m.parts {
		switch kind := p.text("type"); {
		case kind == "text" && p.flag("ignored"):
			r.b.losses.add("text that the model did not see", m.place, p.text("text"))
		case kind == "subtask":
			added = append(added, llm.Text{Text: p.text("prompt")})
		case kind == "compaction":
			r.compacting = p
		default:
			if part := r.part(m, p); part != nil && p.flag("synthetic") {
				added = append(added, part)
			} else if part != nil {
				own = append(own, part)
			}
		}
	}
	if r.last, err = r.b.say(r.last, r.side, m.at, session.SpeakerPerson, own); err == nil {
		r.last, err = r.b.say(r.last, r.side, m.at, session.SpeakerTenon, added)
	}
	return err
}

// answer adds one message for each step.
func (r *openCodeReader) answer(m openCodeMessage) error {
	if name := m.text("error.name"); name != "" {
		r.b.losses.add("error of an answer", m.place, name+" "+m.text("error.data.message"))
	}
	if m.flag("summary") {
		return r.summary(m)
	}
	steps := [][]object{nil}
	for _, p := range m.parts {
		if p.text("type") == "step-start" {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], p)
	}
	first, counted := len(r.b.nodes), false
	for _, step := range steps {
		if err := r.step(m, step, &counted); err != nil {
			return err
		}
	}
	if !counted && len(r.b.nodes) > first { // before there were steps, only the message had the counts
		u := openCodeUsage(m.object)
		r.b.nodes[r.last].usage = &u
	}
	return nil
}

func openCodeUsage(o object) llm.Usage {
	return o.usage("tokens.input", "tokens.output", "tokens.reasoning", "tokens.cache.read", "tokens.cache.write", "cost")
}

func (r *openCodeReader) step(m openCodeMessage, parts []object, counted *bool) (err error) {
	out := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: modelOf(m.text("providerID"), m.text("modelID"))}}
	for _, p := range parts {
		if p.text("type") == "step-finish" {
			out.Usage, *counted = openCodeUsage(p), true
			out.Stop = stopReason(p.text("reason"))
		}
		if part := r.part(m, p); part != nil {
			out.Content = append(out.Content, part)
		}
	}
	if len(out.Content) == 0 {
		return nil
	}
	if m.text("error.name") == "MessageAbortedError" && len(out.Calls()) == 0 {
		out.Stop = llm.StopAborted
	}
	if r.last, err = r.b.add(r.last, r.side, m.at, out); err != nil {
		return err
	}
	for _, p := range parts {
		if p.text("type") == "tool" {
			if err := r.result(m, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// result adds the result of a call, if the call has one.
func (r *openCodeReader) result(m openCodeMessage, p object) error {
	out := session.Message{Message: llm.Message{CallID: p.text("callID", "id")}}
	switch p.text("state.status") {
	case "completed":
		out.Content = llm.Content{llm.Text{Text: p.text("state.output")}}
	case "error":
		out.Content, out.IsError = llm.Content{llm.Text{Text: p.text("state.error")}}, true
	default:
		return nil
	}
	for _, a := range p.list("state.attachments") {
		if part := r.part(m, a); part != nil {
			out.Content = append(out.Content, part)
		}
	}
	at := unix(p.number("state.time.end"))
	if at.IsZero() {
		at = m.at
	}
	_, err := r.b.result(at, m.place, out)
	return err
}

// summary reads the text of a compaction.
func (r *openCodeReader) summary(m openCodeMessage) (err error) {
	d := session.Summarized{
		Reason: "full", By: modelOf(m.text("providerID"), m.text("modelID")), Usage: openCodeUsage(m.object), Summary: textOf(m.parts),
	}
	asked := r.compacting
	r.compacting = nil
	if strings.TrimSpace(d.Summary) == "" {
		r.b.losses.add("empty summary", m.place, "")
		return nil
	}
	if asked != nil && !asked.flag("auto") {
		d.Reason = "asked"
	}
	before := r.last
	if r.last, err = r.b.add(before, r.side, m.at, d); err != nil {
		return err
	}
	if tail, ok := r.nodes[asked.text("tail_start_id")]; ok {
		r.b.nodes[r.last].kept = r.b.between(tail, before)
	}
	return nil
}
