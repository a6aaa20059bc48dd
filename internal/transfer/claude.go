package transfer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of Claude Code, as versions 1.0 to 2.1 write them: a file for each session in a directory for each working directory.
// A line is a message, linked to the one before it by uuid and parentUuid; an answer is a line for each of its parts, which share
// message.id. Sub-agents are lines with isSidechain, in the same file or (since 2.0) in files of their own. A compaction is a
// system line "compact_boundary" that begins a new tree and names the last line before it, and a user line with the summary.

type claudeLine struct {
	Type          string          `json:"type"`
	Subtype       string          `json:"subtype"`
	UUID          string          `json:"uuid"`
	Parent        string          `json:"parentUuid"`
	LogicalParent string          `json:"logicalParentUuid"`
	Side          bool            `json:"isSidechain"`
	Meta          bool            `json:"isMeta"`
	Summarizes    bool            `json:"isCompactSummary"`
	Failed        bool            `json:"isApiErrorMessage"`
	SessionID     string          `json:"sessionId"`
	Dir           string          `json:"cwd"`
	Time          string          `json:"timestamp"`
	Message       json.RawMessage `json:"message"`
	Content       json.RawMessage `json:"content"`
	Summary       string          `json:"summary"`
	CustomTitle   string          `json:"customTitle"`
	AITitle       string          `json:"aiTitle"`
	ToolResult    json.RawMessage `json:"toolUseResult"`
	Compact       struct {
		Trigger string  `json:"trigger"`
		Before  float64 `json:"preTokens"`
	} `json:"compactMetadata"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   struct {
		Input      float64 `json:"input_tokens"`
		CacheWrite float64 `json:"cache_creation_input_tokens"`
		CacheRead  float64 `json:"cache_read_input_tokens"`
		Output     float64 `json:"output_tokens"`
	} `json:"usage"`
}

// claudeBlock is a part of a message of Anthropic's API.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	CallID    string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	Title     string          `json:"title"`
	Source    struct {
		Type string `json:"type"`
		MIME string `json:"media_type"`
		Data string `json:"data"`
		URL  string `json:"url"`
	} `json:"source"`
}

// claudeReader is the state of one session that is read.
type claudeReader struct {
	b       *builder
	nodes   map[string]int // by uuid: also of lines that were left out, which lead to the node before them
	answers map[string]int // by message.id
	last    int            // the last node of the main tree, for lines whose parent is lost
	compact *claudeLine    // a boundary whose summary has not come yet
	named   bool           // the person gave the title
}

func readClaude(ctx context.Context, s Source, b *builder) error {
	r := &claudeReader{b: b, nodes: map[string]int{}, answers: map[string]int{}, last: root}
	b.id = s.ID
	if err := b.eachLine(ctx, s.File, r.line); err != nil {
		return err
	}
	for _, file := range filesIn(filepath.Join(strings.TrimSuffix(s.File, ".jsonl"), "subagents"), ".jsonl") {
		if !strings.HasPrefix(filepath.Base(file), "agent-") {
			continue
		}
		if err := b.eachLine(ctx, file, func(place string, data []byte) error { return r.lineOf(place, data, true) }); err != nil {
			b.losses.add("file of a sub-agent", shortName(file), err.Error())
		}
	}
	return nil
}

func (r *claudeReader) line(place string, data []byte) error { return r.lineOf(place, data, false) }

func (r *claudeReader) lineOf(place string, data []byte, side bool) error {
	var l claudeLine
	if err := json.Unmarshal(data, &l); err != nil {
		return &badLine{err}
	}
	l.Side = l.Side || side
	if _, seen := r.nodes[l.UUID]; l.UUID != "" && seen {
		return nil // a session that goes on in another file begins with copies
	}
	r.b.setDir(l.Dir, place)
	switch l.Type {
	case "user", "assistant":
		return r.message(place, &l)
	case "system":
		r.system(place, &l)
	case "summary", "custom-title", "ai-title":
		r.title(&l)
	default:
		r.skip(&l)
		r.b.losses.add(fmt.Sprintf("line of the type %q", brief(l.Type, 30)), place, string(data[:min(len(data), 400)]))
	}
	return nil
}

func (r *claudeReader) title(l *claudeLine) {
	switch {
	case l.CustomTitle != "":
		r.b.title, r.named = l.CustomTitle, true
	case !r.named && l.AITitle != "":
		r.b.title = l.AITitle
	case !r.named && l.Summary != "":
		r.b.title = l.Summary
	}
}

// skip leaves out a line: those behind it follow the one before it.
func (r *claudeReader) skip(l *claudeLine) {
	if l.UUID != "" {
		r.nodes[l.UUID] = r.parent("", l, true)
	}
}

// parent is the node that a line follows.
func (r *claudeReader) parent(place string, l *claudeLine, quiet bool) int {
	for _, id := range []string{l.Parent, l.LogicalParent} {
		if n, ok := r.nodes[id]; ok && id != "" {
			return n
		}
	}
	if l.Parent == "" && l.LogicalParent == "" || l.Side {
		return root
	}
	if !quiet {
		r.b.losses.add("line that follows one that is not there", place, l.Parent)
	}
	return r.last
}

func (r *claudeReader) system(place string, l *claudeLine) {
	r.skip(l)
	if l.Subtype == "compact_boundary" {
		r.compact = l
		return
	}
	var text string
	_ = json.Unmarshal(l.Content, &text)
	r.b.losses.add("system line ("+brief(l.Subtype, 30)+")", place, text)
}

func (r *claudeReader) message(place string, l *claudeLine) error {
	var m claudeMessage
	if err := json.Unmarshal(l.Message, &m); err != nil {
		return &badLine{err}
	}
	blocks, err := claudeBlocks(m.Content)
	if err != nil {
		return &badLine{err}
	}
	switch {
	case l.Summarizes:
		return r.summary(place, l, blocks)
	case l.Type == "assistant" && (l.Failed || m.Model == "<synthetic>"):
		r.skip(l)
		r.b.losses.add("message of the program in the model's place", place, textOf(blocks))
		return nil
	case l.Type == "assistant":
		return r.answer(place, l, m, blocks)
	}
	return r.said(place, l, blocks)
}

// claudeBlocks reads the parts of a message.
func claudeBlocks(raw json.RawMessage) ([]claudeBlock, error) {
	return partsOf(raw, func(text string) claudeBlock { return claudeBlock{Type: "text", Text: text} })
}

func textOf(blocks []claudeBlock) string {
	var b strings.Builder
	for _, k := range blocks {
		if k.Type == "text" {
			b.WriteString(k.Text)
		}
	}
	return b.String()
}

// summary is what the model is told after a compaction in place of all before.
func (r *claudeReader) summary(place string, l *claudeLine, blocks []claudeBlock) error {
	d := session.Digest{Reason: "full", Summary: textOf(blocks)}
	parent := r.parent(place, l, false)
	if c := r.compact; c != nil {
		d.Before = tokens(c.Compact.Before)
		if c.Compact.Trigger == "manual" {
			d.Reason = "asked"
		}
	}
	if parent == root && !l.Side {
		parent = r.last // older versions name nothing
	}
	r.compact = nil
	if strings.TrimSpace(d.Summary) == "" {
		r.nodes[l.UUID] = parent
		r.b.losses.add("summary without words", place, "")
		return nil
	}
	return r.add(l, parent, d)
}

func (r *claudeReader) add(l *claudeLine, parent int, body session.Body) error {
	n, err := r.b.add(parent, l.Side, stamp(l.Time), body)
	r.nodes[l.UUID] = n
	if !l.Side {
		r.last = n
	}
	return err
}

func (r *claudeReader) answer(place string, l *claudeLine, m claudeMessage, blocks []claudeBlock) error {
	body := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: modelOf("anthropic", m.Model), Stop: claudeStop(m.Stop)}}
	body.Usage = llm.Usage{
		Input: tokens(m.Usage.Input), Output: tokens(m.Usage.Output),
		CacheRead: tokens(m.Usage.CacheRead), CacheWrite: tokens(m.Usage.CacheWrite),
	}
	body.Content = contentOf(blocks, func(k claudeBlock) llm.Part { return r.part(place, k) })
	n, more := r.answers[m.ID]
	if more = more && m.ID != ""; !more {
		if len(body.Content) == 0 {
			r.skip(l)
			return nil
		}
		if err := r.add(l, r.parent(place, l, false), body); err != nil {
			return err
		}
		n = r.nodes[l.UUID]
		r.answers[m.ID] = n
	} else {
		r.nodes[l.UUID] = n
		if err := r.b.grow(n, stamp(l.Time), body); err != nil {
			return err
		}
	}
	for _, k := range blocks {
		if todo, ok := claudeTodo(k); ok {
			if err := r.b.grow(n, stamp(l.Time), todo); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is a part of an answer.
func (r *claudeReader) part(place string, k claudeBlock) llm.Part {
	switch k.Type {
	case "text":
		if k.Text != "" {
			return llm.Text{Text: k.Text}
		}
	case "thinking":
		if k.Thinking != "" || k.Signature != "" {
			return llm.Thinking{Text: k.Thinking, Signature: k.Signature}
		}
	case "redacted_thinking":
		if opaque, err := json.Marshal(map[string]string{"type": k.Type, "data": k.Data}); err == nil && k.Data != "" {
			return llm.Thinking{Opaque: opaque}
		}
	case "tool_use":
		return llm.ToolCall{ID: k.ID, Name: k.Name, Arguments: arguments(k.Input)}
	default:
		r.b.losses.add(fmt.Sprintf("part %q of an answer", brief(k.Type, 30)), place, k.Text)
	}
	return nil
}

func claudeStop(reason string) llm.StopReason {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.StopEnd
	case "tool_use":
		return llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefused
	}
	return ""
}

// claudeTodo is the list that a call of TodoWrite makes.
func claudeTodo(k claudeBlock) (session.Todo, bool) {
	var in struct {
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	if k.Type != "tool_use" || k.Name != "TodoWrite" || json.Unmarshal(k.Input, &in) != nil || len(in.Todos) == 0 {
		return session.Todo{}, false
	}
	var todo session.Todo
	for _, t := range in.Todos {
		todo.Items = append(todo.Items, session.TodoItem{Text: t.Content, Status: todoStatus(t.Status)})
	}
	return todo, true
}

// said is what stands in the place of the user: results of calls, and what a person or the program says.
func (r *claudeReader) said(place string, l *claudeLine, blocks []claudeBlock) error {
	var rest llm.Content
	to := root
	for _, k := range blocks {
		if k.Type != "tool_result" {
			if p := r.input(place, k); p != nil {
				rest = append(rest, p)
			}
			continue
		}
		content, err := r.resultContent(place, k)
		if err != nil {
			return &badLine{err}
		}
		m := session.Message{Message: llm.Message{CallID: k.CallID, Content: content, IsError: k.IsError}}
		n, err := r.b.result(stamp(l.Time), place, m)
		if err != nil {
			return err
		}
		if n != root {
			to = n
		}
	}
	if to != root {
		r.nodes[l.UUID] = to
		if len(l.ToolResult) > 2 {
			r.b.losses.add("facts about a result beside its text", place, string(l.ToolResult[:min(len(l.ToolResult), 400)]))
		}
	}
	if len(rest) == 0 {
		if to == root {
			r.skip(l)
		}
		return nil
	}
	m := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: rest}}
	if l.Meta {
		m.Source = session.FromLoop
	}
	parent := to
	if parent == root {
		parent = r.parent(place, l, false)
	}
	return r.add(l, parent, m)
}

// resultContent is what a call returned.
func (r *claudeReader) resultContent(place string, k claudeBlock) (llm.Content, error) {
	blocks, err := claudeBlocks(k.Content)
	if err != nil {
		return nil, err
	}
	return contentOf(blocks, func(in claudeBlock) llm.Part { return r.input(place, in) }), nil
}

// input is a part of what the model is given.
func (r *claudeReader) input(place string, k claudeBlock) llm.Part {
	switch k.Type {
	case "text":
		if k.Text != "" {
			return llm.Text{Text: k.Text}
		}
		return nil
	case "image", "document":
		data, err := base64.StdEncoding.DecodeString(k.Source.Data)
		if err == nil && len(data) > 0 {
			if k.Type == "image" {
				return llm.Image{MIME: k.Source.MIME, Data: data}
			}
			return llm.Document{MIME: k.Source.MIME, Name: k.Title, Data: data}
		}
		if k.Source.Type == "text" && k.Source.Data != "" {
			return llm.Text{Text: k.Source.Data}
		}
	}
	r.b.losses.add(fmt.Sprintf("part %q of a message", brief(k.Type, 30)), place, k.Source.URL+k.Text)
	return nil
}

// ---- Where they are.

var notInDirName = regexp.MustCompile(`[^a-zA-Z0-9]`)

func findClaude(ctx context.Context, p Places) ([]Source, error) {
	base := p.env("CLAUDE_CONFIG_DIR")
	if base == "" && p.Home != "" {
		base = filepath.Join(p.Home, ".claude")
	}
	if base == "" {
		return nil, nil
	}
	base = filepath.Join(base, "projects")
	var dirs []string
	if p.Dir != "" {
		dirs = []string{filepath.Join(base, notInDirName.ReplaceAllString(p.Dir, "-"))}
	} else {
		dirs = subdirs(base)
	}
	var found []Source
	for _, dir := range dirs {
		for _, file := range filesIn(dir, ".jsonl") {
			if strings.HasPrefix(filepath.Base(file), "agent-") {
				continue
			}
			s, ok, err := lookClaude(ctx, file)
			if err != nil {
				return found, err
			}
			if ok && (p.Dir == "" || s.Dir == "" || s.Dir == p.Dir) {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// lookClaude says what a file is from its beginning.
func lookClaude(ctx context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(Claude, file)
	if err != nil {
		return s, false, err
	}
	s.ID = strings.TrimSuffix(filepath.Base(file), ".jsonl")
	ok := false
	err = beginning(ctx, file, func(data []byte) bool {
		var l claudeLine
		if json.Unmarshal(data, &l) != nil {
			return true
		}
		ok = ok || isClaude(l)
		if d, fine := cleanDir(l.Dir); fine && s.Dir == "" {
			s.Dir = d
		}
		if l.CustomTitle != "" || l.AITitle != "" || l.Summary != "" {
			s.Title = brief(l.CustomTitle+l.AITitle+l.Summary, 80)
		}
		if l.Type == "user" && !l.Meta && !l.Side && s.Title == "" {
			var m claudeMessage
			if json.Unmarshal(l.Message, &m) == nil {
				blocks, _ := claudeBlocks(m.Content)
				if text := textOf(blocks); !strings.HasPrefix(text, "<") {
					s.Title = brief(text, 80)
				}
			}
		}
		return s.Title == "" || s.Dir == ""
	})
	return s, ok, err
}

// isClaude reports whether only Claude Code writes such lines.
func isClaude(l claudeLine) bool {
	known := []string{"file-history-snapshot", "queue-operation", "custom-title", "ai-title", "permission-mode", "last-prompt", "summary"}
	return l.UUID != "" && l.SessionID != "" || slices.Contains(known, l.Type) && l.UUID == "" && l.Time+l.Summary+l.SessionID != ""
}
