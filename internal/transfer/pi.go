package transfer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of pi, in the versions 1 to 3 of their format: a file for each session below sessions/--<directory>--. The first line
// is the header; each other one is an entry, linked to the one before it by id and parentId (version 1 has no links: each follows
// the line before). The last entry is where the session goes on.

type piLine struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Parent   string          `json:"parentId"`
	Time     string          `json:"timestamp"`
	Version  float64         `json:"version"`
	Dir      string          `json:"cwd"`
	Message  json.RawMessage `json:"message"`
	Provider string          `json:"provider"`
	Model    string          `json:"modelId"`
	Summary  string          `json:"summary"`
	Kept     string          `json:"firstKeptEntryId"`
	Before   float64         `json:"tokensBefore"`
	Target   string          `json:"targetId"`
	Label    string          `json:"label"`
	Name     string          `json:"name"`
	Content  json.RawMessage `json:"content"`
	Usage    *piUsage        `json:"usage"`
}

type piMessage struct {
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Usage    piUsage         `json:"usage"`
	Stop     string          `json:"stopReason"`
	Error    string          `json:"errorMessage"`
	CallID   string          `json:"toolCallId"`
	IsError  bool            `json:"isError"`
	Details  json.RawMessage `json:"details"`
	Command  string          `json:"command"`
	Output   string          `json:"output"`
	ExitCode *int            `json:"exitCode"`
	Excluded bool            `json:"excludeFromContext"`
	Summary  string          `json:"summary"`
	Time     float64         `json:"timestamp"`
}

type piUsage struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Cost       struct {
		Total float64 `json:"total"`
	} `json:"cost"`
}

type piPart struct {
	Type              string          `json:"type"`
	Text              string          `json:"text"`
	Thinking          string          `json:"thinking"`
	ThinkingSignature string          `json:"thinkingSignature"`
	Redacted          bool            `json:"redacted"`
	ThoughtSignature  string          `json:"thoughtSignature"`
	ID                string          `json:"id"`
	Name              string          `json:"name"`
	Arguments         json.RawMessage `json:"arguments"`
	Data              string          `json:"data"`
	MIME              string          `json:"mimeType"`
}

type piReader struct {
	b      *builder
	nodes  map[string]int
	last   int // the node of the line before
	linear bool
}

func readPi(ctx context.Context, s Source, b *builder) error {
	r := &piReader{b: b, nodes: map[string]int{}, last: root}
	b.id = s.ID
	return b.eachLine(ctx, s.File, r.line)
}

func (r *piReader) line(place string, data []byte) error {
	var l piLine
	if err := json.Unmarshal(data, &l); err != nil {
		return &badLine{err}
	}
	if l.Type == "session" {
		r.b.created, r.linear = stamp(l.Time), l.Version < 2
		r.b.setDir(l.Dir, place)
		return nil
	}
	if _, seen := r.nodes[l.ID]; l.ID != "" && seen {
		r.b.losses.add("second entry of the same name", place, l.ID)
		return nil
	}
	parent := r.parent(place, l)
	n, err := r.entry(place, l, parent, data)
	if err != nil {
		return err
	}
	if l.ID != "" {
		r.nodes[l.ID] = n
	}
	r.last, r.b.leaf = n, n
	return nil
}

func (r *piReader) parent(place string, l piLine) int {
	switch n, ok := r.nodes[l.Parent]; {
	case ok && l.Parent != "":
		return n
	case r.linear || l.ID == "":
		return r.last
	case l.Parent == "":
		return root
	}
	r.b.losses.add("entry that follows one that is not there", place, l.Parent)
	return r.last
}

// entry adds what a line says, and returns the node from which those behind it go on.
func (r *piReader) entry(place string, l piLine, parent int, data []byte) (int, error) {
	at := stamp(l.Time)
	switch l.Type {
	case "message":
		return r.message(place, l, parent)
	case "custom_message":
		content, err := r.content(place, l.Content)
		if err != nil || len(content) == 0 {
			return parent, bad(err)
		}
		m := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: content}, Source: session.FromLoop}
		return r.b.add(parent, false, at, m)
	case "model_change":
		m := llm.Model{Provider: l.Provider, ID: l.Model}
		return r.b.add(parent, false, at, session.ModelChanged{Model: m, Reason: "chosen by the person"})
	case "compaction":
		return r.compaction(l, parent)
	case "branch_summary":
		return r.b.add(parent, false, at, session.Message{
			Message: llm.UserText("What was tried on another branch, in short:\n\n" + l.Summary), Source: session.FromRevert,
		})
	case "session_info":
		r.b.title = l.Name
	case "label":
		if l.Label == "" {
			r.b.losses.add("label that was taken away", place, l.Target)
			break
		}
		about, ok := r.nodes[l.Target]
		if !ok {
			about = root
		}
		return parent, r.b.aside(at, about, session.Note{Text: "label " + l.Label})
	default:
		r.b.losses.add(fmt.Sprintf("entry of the type %q", brief(l.Type, 30)), place, string(data[:min(len(data), 400)]))
	}
	return parent, nil
}

func bad(err error) error {
	if err == nil {
		return nil
	}
	return &badLine{err}
}

func (r *piReader) compaction(l piLine, parent int) (int, error) {
	d := session.Digest{Reason: "full", Summary: l.Summary, Before: tokens(l.Before)}
	if l.Usage != nil {
		d.Usage = l.Usage.ours()
	}
	n, err := r.b.add(parent, false, stamp(l.Time), d)
	if err != nil {
		return n, err
	}
	if first, ok := r.nodes[l.Kept]; ok && first != root {
		r.b.nodes[n].kept = r.b.between(first, parent)
	}
	return n, nil
}

// between is the nodes of a branch from one to another, or nothing when they are on none.
func (b *builder) between(first, last int) []int {
	const most = 5000
	var out []int
	for n := last; n != root && len(out) < most; n = b.nodes[n].parent {
		out = append(out, n)
		if n == first {
			slices.Reverse(out)
			return out
		}
	}
	return nil
}

func (u piUsage) ours() llm.Usage {
	return llm.Usage{
		Input: tokens(u.Input), CacheRead: tokens(u.CacheRead), CacheWrite: tokens(u.CacheWrite), Output: tokens(u.Output),
		Cost: dollars(u.Cost.Total),
	}
}

func (r *piReader) message(place string, l piLine, parent int) (int, error) {
	var m piMessage
	if err := json.Unmarshal(l.Message, &m); err != nil {
		return parent, &badLine{err}
	}
	at := stamp(l.Time)
	if at.IsZero() {
		at = unix(m.Time)
	}
	if m.Role == "bashExecution" {
		return r.bash(place, at, m, parent)
	}
	content, err := r.content(place, m.Content)
	if err != nil {
		return parent, &badLine{err}
	}
	switch m.Role {
	case "user", "custom", "hookMessage":
		out := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: content}}
		if m.Role != "user" {
			out.Source = session.FromLoop
		}
		if len(content) == 0 {
			return parent, nil
		}
		return r.b.add(parent, false, at, out)
	case "assistant":
		return r.answer(place, at, m, content, parent)
	case "toolResult":
		n, err := r.b.result(at, place, session.Message{Message: llm.Message{CallID: m.CallID, Content: content, IsError: m.IsError}})
		if len(m.Details) > 2 {
			r.b.losses.add("facts about a result beside its text", place, string(m.Details[:min(len(m.Details), 400)]))
		}
		if n == root {
			n = parent
		}
		return n, err
	}
	r.b.losses.add(fmt.Sprintf("message of the role %q", brief(m.Role, 30)), place, content.Text()+m.Summary)
	return parent, nil
}

func (r *piReader) answer(place string, at time.Time, m piMessage, content llm.Content, parent int) (int, error) {
	if m.Error != "" {
		r.b.losses.add("error of an answer", place, m.Error)
	}
	if len(content) == 0 {
		return parent, nil
	}
	out := session.Message{Message: llm.Message{
		Role: llm.RoleAssistant, Content: content, Model: modelOf(m.Provider, m.Model), Usage: m.Usage.ours(),
	}}
	switch m.Stop {
	case "stop":
		out.Stop = llm.StopEnd
	case "length":
		out.Stop = llm.StopLength
	case "toolUse":
		out.Stop = llm.StopCalls
	case "error", "aborted":
		out.Stop = llm.StopAborted
	}
	return r.b.add(parent, false, at, out)
}

// bash is a command that the person ran.
func (r *piReader) bash(place string, at time.Time, m piMessage, parent int) (int, error) {
	if m.Excluded {
		r.b.losses.add("command that the model was not told of", place, m.Command)
		return parent, nil
	}
	text := "$ " + m.Command + "\n" + m.Output
	if m.ExitCode != nil && *m.ExitCode != 0 {
		text += fmt.Sprintf("\n(exit code %d)", *m.ExitCode)
	}
	return r.b.add(parent, false, at, session.Message{Message: llm.UserText(text)})
}

// content reads the parts of a message.
func (r *piReader) content(place string, raw json.RawMessage) (llm.Content, error) {
	parts, err := partsOf(raw, func(text string) piPart { return piPart{Type: "text", Text: text} })
	if err != nil {
		return nil, err
	}
	return contentOf(parts, func(p piPart) llm.Part { return r.part(place, p) }), nil
}

func (r *piReader) part(place string, p piPart) llm.Part {
	switch p.Type {
	case "text":
		if p.Text != "" {
			return llm.Text{Text: p.Text}
		}
		return nil
	case "thinking":
		return piThinking(p)
	case "toolCall":
		c := llm.ToolCall{ID: p.ID, Name: p.Name, Arguments: arguments(p.Arguments)}
		if p.ThoughtSignature != "" {
			c.Opaque, _ = json.Marshal(map[string]string{"thoughtSignature": p.ThoughtSignature}) // of a text: it does not fail
		}
		return c
	case "image":
		if data, err := base64.StdEncoding.DecodeString(p.Data); err == nil && len(data) > 0 {
			return llm.Image{MIME: p.MIME, Data: data}
		}
	}
	r.b.losses.add(fmt.Sprintf("part %q of a message", brief(p.Type, 30)), place, p.Text)
	return nil
}

// piThinking is thinking with its proof: a signature, or, of OpenAI, the item itself as JSON.
func piThinking(p piPart) llm.Part {
	t := llm.Thinking{Text: p.Thinking}
	switch {
	case strings.HasPrefix(p.ThinkingSignature, "{") && json.Valid([]byte(p.ThinkingSignature)):
		t.Opaque = json.RawMessage(p.ThinkingSignature)
	case p.Redacted:
		t = llm.Thinking{}
		t.Opaque, _ = json.Marshal(map[string]string{"type": "redacted_thinking", "data": p.ThinkingSignature}) // as above
	default:
		t.Signature = p.ThinkingSignature
	}
	if t.Text == "" && t.Signature == "" && t.Opaque == nil {
		return nil
	}
	return t
}

// ---- Where they are.

func findPi(ctx context.Context, p Places) ([]Source, error) {
	base := p.env("PI_CODING_AGENT_DIR")
	if base == "" && p.Home != "" {
		base = filepath.Join(p.Home, ".pi", "agent")
	}
	if base == "" {
		return nil, nil
	}
	var found []Source
	for _, dir := range subdirs(filepath.Join(base, "sessions")) {
		for _, file := range filesIn(dir, ".jsonl") {
			s, ok, err := lookPi(ctx, file)
			if err != nil {
				return found, err
			}
			if ok && (p.Dir == "" || s.Dir == p.Dir) {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// lookPi says what a file is from its beginning.
func lookPi(ctx context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(Pi, file)
	if err != nil {
		return s, false, err
	}
	r := piReader{b: &builder{}}
	err = beginning(ctx, file, func(data []byte) bool {
		var l piLine
		if json.Unmarshal(data, &l) != nil {
			return s.ID != ""
		}
		if s.ID == "" {
			if l.Type != "session" || l.ID == "" {
				return false
			}
			s.ID = l.ID
			s.Dir, _ = cleanDir(l.Dir)
			return true
		}
		var m piMessage
		if l.Type == "message" && json.Unmarshal(l.Message, &m) == nil && m.Role == "user" {
			if c, err := r.content("", m.Content); err == nil {
				s.Title = brief(c.Text(), 80)
			}
		}
		return s.Title == ""
	})
	return s, s.ID != "", err
}
