package transfer

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of Claude Code, as versions 1.0 to 2.1 write them: a file for each session, in a directory for each working directory.
// A line is a message, linked to the one before it by uuid and parentUuid. An answer is a line for each of its parts, which share
// message.id. Sub-agents are lines with isSidechain, in the same file or (since 2.0) in files of their own. A compaction is a
// system line "compact_boundary" that begins a new tree and names the last line before it, and a user line with the summary.

// claudeReader is the state of one session.
type claudeReader struct {
	b       *builder
	nodes   map[string]int // by uuid; a skipped line has the node before it
	answers map[string]int // by message.id
	last    int            // the last node of the main tree, for lines with a lost parent
	compact object         // a boundary whose summary has not come yet
	named   bool           // the person gave the title
}

// claudeLine is a line with the facts that every handler needs.
type claudeLine struct {
	object
	place, id string
	side      bool
	at        time.Time
}

func readClaude(ctx context.Context, s Source, b *builder) error {
	r := &claudeReader{b: b, nodes: map[string]int{}, answers: map[string]int{}, last: root}
	reader := func(side bool) func(string, object, []byte) error {
		return func(place string, o object, data []byte) error {
			return r.line(claudeLine{o, place, o.text("uuid"), side || o.flag("isSidechain"), stamp(o.text("timestamp"))}, data)
		}
	}
	if err := b.eachLine(ctx, s.File, reader(false)); err != nil {
		return err
	}
	for _, file := range filesIn(filepath.Join(strings.TrimSuffix(s.File, ".jsonl"), "subagents"), ".jsonl") {
		if !strings.HasPrefix(filepath.Base(file), "agent-") {
			continue
		}
		if err := b.eachLine(ctx, file, reader(true)); err != nil {
			b.losses.add("file of a sub-agent", shortName(file), err.Error())
		}
	}
	return nil
}

func (r *claudeReader) line(l claudeLine, data []byte) error {
	if _, seen := r.nodes[l.id]; l.id != "" && seen {
		return nil // a session that continues in another file begins with copies
	}
	r.b.setDir(l.text("cwd"), l.place)
	switch kind := l.text("type"); kind {
	case "user", "assistant":
		return r.message(l, kind)
	case "system":
		r.skip(l)
		if sub := l.text("subtype"); sub == "compact_boundary" {
			r.compact = l.object
		} else {
			r.b.losses.add("system line ("+brief(sub, 30)+")", l.place, l.text("content"))
		}
	case "summary", "custom-title", "ai-title":
		custom := l.text("customTitle")
		if title := claudeTitle(l.object); custom != "" || !r.named && title != "" {
			r.b.title, r.named = title, custom != ""
		}
	default:
		r.skip(l)
		r.b.losses.add(fmt.Sprintf("line of the type %q", brief(kind, 30)), l.place, string(data))
	}
	return nil
}

func claudeTitle(l object) string { return l.text("customTitle", "aiTitle", "summary") }

// skip leaves out a line. The lines after it follow the one before it.
func (r *claudeReader) skip(l claudeLine) {
	if l.id != "" {
		r.nodes[l.id] = r.parent(l, true)
	}
}

// parent is the node that a line follows.
func (r *claudeReader) parent(l claudeLine, quiet bool) int {
	parents := []string{l.text("parentUuid"), l.text("logicalParentUuid")}
	for _, id := range parents {
		if n, ok := r.nodes[id]; ok && id != "" {
			return n
		}
	}
	if parents[0]+parents[1] == "" || l.side {
		return root
	}
	if !quiet {
		r.b.losses.add("line with a missing predecessor", l.place, parents[0])
	}
	return r.last
}

func (r *claudeReader) message(l claudeLine, kind string) error {
	m := l.object.object("message")
	parts, err := m.parts("content")
	switch {
	case err != nil:
		return err
	case l.flag("isCompactSummary"):
		return r.summary(l, textOf(parts))
	case kind == "assistant" && (l.flag("isApiErrorMessage") || m.text("model") == "<synthetic>"):
		r.skip(l)
		r.b.losses.add("message of the program in the role of the model", l.place, textOf(parts))
		return nil
	case kind == "assistant":
		return r.answer(l, m, parts)
	}
	return r.said(l, parts)
}

func textOf(parts []object) (text string) {
	for _, p := range parts {
		if p.text("type") == "text" {
			text += p.text("text")
		}
	}
	return text
}

// summary reads the text that replaces older messages after a compaction.
func (r *claudeReader) summary(l claudeLine, text string) error {
	d := session.Summarized{Reason: "full", Summary: text, Before: tokens(r.compact.number("compactMetadata.preTokens"))}
	if r.compact.text("compactMetadata.trigger") == "manual" {
		d.Reason = "asked"
	}
	r.compact = nil
	parent := r.parent(l, false)
	if parent == root && !l.side {
		parent = r.last // older versions name no parent
	}
	if strings.TrimSpace(text) == "" {
		r.nodes[l.id] = parent
		r.b.losses.add("empty summary", l.place, "")
		return nil
	}
	return r.added(l)(r.b.add(parent, l.side, l.at, d))
}

// added records the node of a line.
func (r *claudeReader) added(l claudeLine) func(int, error) error {
	return func(n int, err error) error {
		if r.nodes[l.id] = n; !l.side {
			r.last = n
		}
		return err
	}
}

func (r *claudeReader) answer(l claudeLine, m object, parts []object) error {
	body := session.Message{Message: llm.Message{
		Role: llm.RoleAssistant, Model: modelOf("anthropic", m.text("model")), Stop: stopReason(m.text("stop_reason")),
		Usage: m.object("usage").usage("input_tokens", "output_tokens", "", "cache_read_input_tokens", "cache_creation_input_tokens", ""),
	}}
	var todo session.Todo
	for _, p := range parts {
		if part := r.b.part(l.place, p); part != nil {
			body.Content = append(body.Content, part)
		}
		if p.text("type") == "tool_use" && p.text("name") == "TodoWrite" {
			todo = todoOf(p.list("input.todos"))
		}
	}
	n, more := r.answers[m.text("id")]
	if more && m.text("id") != "" {
		r.nodes[l.id] = n
		if err := r.b.grow(n, l.at, body); err != nil {
			return err
		}
	} else {
		if len(body.Content) == 0 {
			r.skip(l)
			return nil
		}
		if err := r.added(l)(r.b.add(r.parent(l, false), l.side, l.at, body)); err != nil {
			return err
		}
		n = r.nodes[l.id]
		r.answers[m.text("id")] = n
	}
	if len(todo.Items) == 0 {
		return nil
	}
	return r.b.grow(n, l.at, todo)
}

// said reads a user message: results of calls, and text of the person or the program.
func (r *claudeReader) said(l claudeLine, parts []object) error {
	var rest llm.Content
	to := root
	for _, p := range parts {
		if p.text("type") != "tool_result" {
			if part := r.b.part(l.place, p); part != nil {
				rest = append(rest, part)
			}
			continue
		}
		content, err := r.b.content(l.place, p, "content")
		if err != nil {
			return err
		}
		m := session.Message{Message: llm.Message{CallID: p.text("tool_use_id"), Content: content, IsError: p.flag("is_error")}}
		n, err := r.b.result(l.at, l.place, m)
		if err != nil {
			return err
		}
		if n != root {
			to = n
		}
	}
	parent := to
	if to != root {
		r.nodes[l.id] = to
		if data := l.raw("toolUseResult"); len(data) > 2 {
			r.b.losses.add("metadata of a result", l.place, string(data))
		}
	}
	if len(rest) == 0 {
		if to == root {
			r.skip(l)
		}
		return nil
	}
	if parent == root {
		parent = r.parent(l, false)
	}
	by := session.SpeakerPerson
	if l.flag("isMeta") {
		by = session.SpeakerTenon
	}
	return r.added(l)(r.b.say(parent, l.side, l.at, by, rest))
}

// ---- Discovery.

var notInDirName = regexp.MustCompile(`[^a-zA-Z0-9]`)

func claudeFiles(p Places) (files []string) {
	base := p.base("CLAUDE_CONFIG_DIR", ".claude")
	if base == "" {
		return nil
	}
	base = filepath.Join(base, "projects")
	dirs := []string{filepath.Join(base, notInDirName.ReplaceAllString(p.Dir, "-"))}
	if p.Dir == "" {
		dirs = subdirs(base)
	}
	for _, dir := range dirs {
		files = append(files, filesIn(dir, ".jsonl")...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "agent-") })
}

// lookClaude reads the facts in a line at the beginning of a file. Only Claude Code writes such lines.
func lookClaude(s *Source, l object) {
	kind, id := l.text("type"), l.text("uuid")
	known := []string{"file-history-snapshot", "queue-operation", "custom-title", "ai-title", "permission-mode", "last-prompt", "summary"}
	if id != "" && l.text("sessionId") != "" || id == "" && slices.Contains(known, kind) && l.text("timestamp", "summary", "sessionId") != "" {
		s.ID = strings.TrimSuffix(filepath.Base(s.File), ".jsonl")
	}
	if s.Dir == "" {
		s.Dir, _ = cleanDir(l.text("cwd"))
	}
	if title := claudeTitle(l); title != "" {
		s.Title = brief(title, 80)
	}
	if kind == "user" && !l.flag("isMeta") && !l.flag("isSidechain") && s.Title == "" {
		parts, _ := l.object("message").parts("content")
		if text := textOf(parts); !strings.HasPrefix(text, "<") {
			s.Title = brief(personText(llm.Content{llm.Text{Text: text}}), 80)
		}
	}
}
