package transfer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of Codex, as versions 0.20 to 0.120 write them: a file "rollout-<time>-<id>.jsonl" below sessions/YYYY/MM/DD. A line
// has a timestamp, a type and a payload: session_meta, turn_context, response_item (an item of OpenAI's Responses API), event_msg
// (what the screen shows, most of it again), compacted. Before 0.31 a line was the item itself. There is one branch; a rollback of
// turns is an event.

type codexLine struct {
	Time    string          `json:"timestamp"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`

	// Of the first line, as it was before 0.31.
	ID     string `json:"id"`
	Record string `json:"record_type"`
}

type codexMeta struct {
	ID       string `json:"id"`
	Time     string `json:"timestamp"`
	Dir      string `json:"cwd"`
	Version  string `json:"cli_version"`
	Provider string `json:"model_provider"`
	Forked   string `json:"forked_from_id"`
}

// codexItem is an item of the Responses API.
type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     string          `json:"input"`
	CallID    string          `json:"call_id"`
	ID        string          `json:"id"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Action    json.RawMessage `json:"action"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
}

type codexPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

type codexEvent struct {
	Type  string  `json:"type"`
	Turns float64 `json:"num_turns"`
	Name  string  `json:"thread_name"`
	Info  *struct {
		Total codexUsage `json:"total_token_usage"`
		Last  codexUsage `json:"last_token_usage"`
	} `json:"info"`
	Reason string `json:"reason"`
}

type codexUsage struct {
	Input     float64 `json:"input_tokens"`
	Cached    float64 `json:"cached_input_tokens"`
	Output    float64 `json:"output_tokens"`
	Reasoning float64 `json:"reasoning_output_tokens"`
	Total     float64 `json:"total_tokens"`
}

type codexReader struct {
	b        *builder
	last     int // the end of the branch
	answer   int // the answer that is still open for further items; root: there is none
	answered int // the last answer, to which the next count of tokens belongs
	provider string
	model    string
	total    float64        // tokens of all answers, as the last count said
	inputs   []int          // nodes of what the person said, for rollbacks
	said     map[string]int // nodes by what the person said, for what a summary keeps
	metas    int
}

func readCodex(ctx context.Context, s Source, b *builder) error {
	r := &codexReader{b: b, last: root, answer: root, answered: root, provider: "openai", said: map[string]int{}}
	return b.eachLine(ctx, s.File, r.line)
}

func (r *codexReader) line(place string, data []byte) error {
	var l codexLine
	if err := json.Unmarshal(data, &l); err != nil {
		return &badLine{err}
	}
	at := stamp(l.Time)
	if l.Payload == nil {
		switch {
		case l.Record != "":
			return nil // a state that means nothing by itself
		case l.Type == "" && l.ID != "":
			return r.meta(place, data)
		}
		return r.item(place, at, data)
	}
	switch l.Type {
	case "session_meta":
		return r.meta(place, l.Payload)
	case "response_item":
		return r.item(place, at, l.Payload)
	case "event_msg":
		return r.event(place, at, l.Payload)
	case "turn_context":
		return r.context(place, at, l.Payload)
	case "compacted":
		return r.compacted(place, at, l.Payload)
	}
	r.b.losses.add(fmt.Sprintf("line of the type %q", brief(l.Type, 30)), place, string(l.Payload[:min(len(l.Payload), 400)]))
	return nil
}

func (r *codexReader) meta(place string, data []byte) error {
	var m codexMeta
	if err := json.Unmarshal(data, &m); err != nil {
		return &badLine{err}
	}
	if r.metas++; r.metas > 1 {
		return nil // of the session that this one was forked from
	}
	r.b.id, r.b.version, r.b.created = m.ID, m.Version, stamp(m.Time)
	r.b.setDir(m.Dir, place)
	if m.Provider != "" {
		r.provider = m.Provider
	}
	return nil
}

func (r *codexReader) context(place string, at time.Time, data []byte) error {
	var c struct {
		Dir   string `json:"cwd"`
		Model string `json:"model"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return &badLine{err}
	}
	r.b.setDir(c.Dir, place)
	if c.Model == "" || c.Model == r.model {
		return nil
	}
	before := r.model
	if r.model = c.Model; before == "" {
		return nil
	}
	return r.add(at, session.ModelChanged{Model: llm.Model{Provider: r.provider, ID: c.Model}, Reason: "chosen by the person"})
}

// add puts something at the end of the branch. It ends the open answer.
func (r *codexReader) add(at time.Time, body session.Body) (err error) {
	r.answer = root
	r.last, err = r.b.add(r.last, false, at, body)
	return err
}

func (r *codexReader) item(place string, at time.Time, data []byte) error {
	var it codexItem
	if err := json.Unmarshal(data, &it); err != nil {
		return &badLine{err}
	}
	switch it.Type {
	case "message":
		return r.message(place, at, it)
	case "reasoning":
		return r.grow(at, codexThinking(it, data))
	case "function_call":
		var args string
		if json.Unmarshal(it.Arguments, &args) != nil {
			args = string(it.Arguments)
		}
		if err := r.grow(at, llm.ToolCall{ID: it.CallID, Name: it.Name, Arguments: args}); err != nil {
			return err
		}
		return r.plan(at, it.Name, args)
	case "custom_tool_call":
		args, err := json.Marshal(map[string]string{"input": it.Input})
		if err != nil {
			return err
		}
		return r.grow(at, llm.ToolCall{ID: it.CallID, Name: it.Name, Arguments: string(args)})
	case "local_shell_call":
		id := it.CallID
		if id == "" {
			id = it.ID
		}
		return r.grow(at, llm.ToolCall{ID: id, Name: "local_shell", Arguments: arguments(it.Action)})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return r.output(place, at, it)
	}
	r.b.losses.add(fmt.Sprintf("item of the type %q", brief(it.Type, 30)), place, string(data[:min(len(data), 400)]))
	return nil
}

// grow adds a part to the open answer, or opens one.
func (r *codexReader) grow(at time.Time, part llm.Part) error {
	if part == nil {
		return nil
	}
	m := session.Message{Message: llm.Message{
		Role: llm.RoleAssistant, Model: modelOf(r.provider, r.model), Content: llm.Content{part},
	}}
	if r.answer != root {
		return r.b.grow(r.answer, at, m)
	}
	n, err := r.b.add(r.last, false, at, m)
	r.last, r.answer, r.answered = n, n, n
	return err
}

func codexThinking(it codexItem, data []byte) llm.Part {
	var texts []string
	for _, s := range it.Summary {
		texts = append(texts, s.Text)
	}
	var parts []codexPart
	if len(texts) == 0 && json.Unmarshal(it.Content, &parts) == nil {
		for _, p := range parts {
			texts = append(texts, p.Text)
		}
	}
	t := llm.Thinking{Text: strings.Join(texts, "\n\n")}
	if it.Encrypted != "" {
		t.Opaque = slices.Clone(data) // the item itself is what the provider wants back
	}
	if t.Text == "" && t.Opaque == nil {
		return nil
	}
	return t
}

func (r *codexReader) message(place string, at time.Time, it codexItem) error {
	content, err := r.content(place, it.Content)
	if err != nil {
		return &badLine{err}
	}
	if len(content) == 0 {
		return nil
	}
	switch it.Role {
	case "assistant":
		for _, p := range content {
			if err := r.grow(at, p); err != nil {
				return err
			}
		}
		return nil
	case "user":
		m := session.Message{Message: llm.Message{Role: llm.RoleUser, Content: content}}
		text := content.Text()
		if codexContext(text) {
			m.Source = session.FromLoop
		}
		if err := r.add(at, m); err != nil {
			return err
		}
		r.said[text] = r.last
		if m.Source == "" {
			r.inputs = append(r.inputs, r.last)
			if r.b.title == "" {
				r.b.title = brief(text, 60)
			}
		}
		return nil
	}
	r.b.losses.add("instructions ("+brief(it.Role, 20)+" message)", place, content.Text())
	return nil
}

// codexContext reports whether the program wrote a message, and not the person.
func codexContext(text string) bool {
	text = strings.TrimSpace(text)
	for _, start := range []string{
		"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>", "<permissions",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// content reads the parts of a message or of an output.
func (r *codexReader) content(place string, raw json.RawMessage) (llm.Content, error) {
	parts, err := partsOf(raw, func(text string) codexPart { return codexPart{Type: "text", Text: text} })
	if err != nil {
		return nil, err
	}
	return contentOf(parts, func(p codexPart) llm.Part {
		img, isImage := dataURL(p.ImageURL)
		switch {
		case isImage:
			return img
		case p.Text != "":
			return llm.Text{Text: p.Text}
		case p.ImageURL != "" || !strings.HasSuffix(p.Type, "text"):
			r.b.losses.add(fmt.Sprintf("part %q of a message", brief(p.Type, 30)), place, p.ImageURL)
		}
		return nil
	}), nil
}

// dataURL is the picture in a "data:" address.
func dataURL(address string) (llm.Image, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	head, data, found := strings.Cut(rest, ",")
	mime, coded := strings.CutSuffix(head, ";base64")
	if !ok || !found || !coded || !strings.HasPrefix(mime, "image/") {
		return llm.Image{}, false
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return llm.Image{}, false
	}
	mime, _, _ = strings.Cut(mime, ";")
	return llm.Image{MIME: mime, Data: raw}, true
}

func (r *codexReader) output(place string, at time.Time, it codexItem) error {
	m := session.Message{Message: llm.Message{CallID: it.CallID}}
	var structured struct {
		Content string `json:"content"`
		Success *bool  `json:"success"`
	}
	var err error
	switch {
	case len(it.Output) > 0 && it.Output[0] == '{':
		if err = json.Unmarshal(it.Output, &structured); err == nil && structured.Content != "" {
			m.Content = llm.Content{llm.Text{Text: structured.Content}}
			m.IsError = structured.Success != nil && !*structured.Success
		}
	default:
		m.Content, err = r.content(place, it.Output)
	}
	if err != nil {
		return &badLine{err}
	}
	if code, ok := exitCode(m.Content.Text()); ok && code != 0 {
		m.IsError = true
	}
	if _, err := r.b.result(at, place, m); err != nil {
		return err
	}
	r.answer = root
	return nil
}

// exitCode is that of a command, in the form of an output that has one.
func exitCode(text string) (int, bool) {
	var out struct {
		Metadata *struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(text, `{"output"`) && json.Unmarshal([]byte(text), &out) == nil && out.Metadata != nil {
		return out.Metadata.ExitCode, true
	}
	var code int
	head, _, _ := strings.Cut(text, "Output:")
	_, after, ok := strings.Cut(head, "xited with code ")
	if !ok {
		_, after, ok = strings.Cut(head, "Exit code: ")
	}
	if ok {
		_, err := fmt.Sscanf(after, "%d", &code)
		ok = err == nil
	}
	return code, ok
}

// plan is the todo list of the tool update_plan.
func (r *codexReader) plan(at time.Time, name, args string) error {
	var in struct {
		Plan []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}
	if name != "update_plan" || json.Unmarshal([]byte(args), &in) != nil || len(in.Plan) == 0 {
		return nil
	}
	var todo session.Todo
	for _, s := range in.Plan {
		todo.Items = append(todo.Items, session.TodoItem{Text: s.Step, Status: todoStatus(s.Status)})
	}
	return r.b.grow(r.answer, at, todo)
}

func (r *codexReader) event(place string, at time.Time, data []byte) error {
	var e codexEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return &badLine{err}
	}
	switch e.Type {
	case "token_count":
		if e.Info != nil {
			r.count(e.Info.Total, e.Info.Last)
		}
	case "thread_rolled_back":
		r.rollBack(int(min(max(e.Turns, 0), 1e6)))
	case "thread_name_updated":
		if e.Name != "" {
			r.b.title = e.Name
		}
	case "turn_aborted":
		r.b.losses.add("note that a turn was aborted", place, e.Reason)
	case "error", "stream_error", "warning":
		r.b.losses.add("event "+e.Type, place, string(data[:min(len(data), 400)]))
	default: // the screen's view of what the items say
	}
	return nil
}

// count gives the last answer its tokens. A count that says nothing new comes with news about limits.
func (r *codexReader) count(total, last codexUsage) {
	if r.answered == root || total.Total == r.total && r.total > 0 {
		return
	}
	r.total = total.Total
	u := llm.Usage{
		Input: tokens(last.Input - last.Cached), CacheRead: tokens(last.Cached),
		Output: tokens(last.Output - last.Reasoning), Reasoning: tokens(last.Reasoning),
	}
	if before := r.b.nodes[r.answered].usage; before != nil {
		u = u.Plus(*before)
	}
	r.b.nodes[r.answered].usage = &u
}

// rollBack goes back before the last turns. They stay as a branch.
func (r *codexReader) rollBack(turns int) {
	for ; turns > 0 && len(r.inputs) > 0; turns-- {
		n := r.inputs[len(r.inputs)-1]
		r.inputs = r.inputs[:len(r.inputs)-1]
		r.last = r.b.nodes[n].parent
	}
	r.answer, r.answered, r.b.leaf = root, root, r.last
}

func (r *codexReader) compacted(place string, at time.Time, data []byte) error {
	var c struct {
		Message string      `json:"message"`
		History []codexItem `json:"replacement_history"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return &badLine{err}
	}
	var kept []int
	summary := c.Message
	for i, it := range c.History {
		content, err := r.content(place, it.Content)
		if it.Type != "message" || err != nil {
			continue
		}
		text := content.Text()
		if n, ok := r.said[text]; ok {
			kept = append(kept, n)
		} else if i == len(c.History)-1 && summary == "" {
			summary = text
		}
	}
	if strings.TrimSpace(summary) == "" {
		r.b.losses.add("summary that only the provider can read (its messages are used instead)", place, "")
		return nil
	}
	if err := r.add(at, session.Digest{Reason: "full", Summary: summary}); err != nil {
		return err
	}
	r.b.nodes[r.last].kept = kept
	return nil
}

// ---- Where they are.

func findCodex(ctx context.Context, p Places) ([]Source, error) {
	base := p.env("CODEX_HOME")
	if base == "" && p.Home != "" {
		base = filepath.Join(p.Home, ".codex")
	}
	if base == "" {
		return nil, nil
	}
	var found []Source
	err := filepath.WalkDir(filepath.Join(base, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasPrefix(d.Name(), "rollout-") || filepath.Ext(path) != ".jsonl" {
			return nil // what cannot be looked at is not there for us
		}
		s, ok, err := lookCodex(ctx, path)
		if err == nil && ok && (p.Dir == "" || s.Dir == p.Dir) {
			found = append(found, s)
		}
		return ctx.Err()
	})
	return found, err
}

// lookCodex says what a file is from its beginning.
func lookCodex(ctx context.Context, file string) (Source, bool, error) {
	s, err := sourceOf(Codex, file)
	if err != nil {
		return s, false, err
	}
	r := codexReader{b: &builder{}}
	err = beginning(ctx, file, func(data []byte) bool {
		var l codexLine
		if json.Unmarshal(data, &l) != nil {
			return s.ID != ""
		}
		if s.ID == "" {
			var m codexMeta
			meta := data
			if l.Type == "session_meta" {
				meta = l.Payload
			} else if l.Type != "" || l.Payload != nil {
				return false
			}
			if json.Unmarshal(meta, &m) != nil || m.ID == "" || m.Time == "" {
				return false
			}
			s.ID = m.ID
			s.Dir, _ = cleanDir(m.Dir)
			return true
		}
		item := []byte(l.Payload)
		if l.Payload == nil {
			item = data
		}
		var it codexItem
		if json.Unmarshal(item, &it) == nil && it.Type == "message" && it.Role == "user" {
			if c, err := r.content("", it.Content); err == nil && !codexContext(c.Text()) {
				s.Title = brief(c.Text(), 80)
			}
		}
		return s.Title == ""
	})
	return s, s.ID != "", err
}
