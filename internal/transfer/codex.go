package transfer

import (
	"cmp"
	"context"
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
// (the screen's view, most of it again), compacted. Before 0.31 a line was the item itself. There is one branch; a rollback of
// turns is an event.

type codexReader struct {
	b        *builder
	last     int // the end of the branch
	answer   int // the answer that takes further items, or root
	answered int // the last answer, to which the next count of tokens belongs
	provider string
	model    string
	total    float64        // tokens of all answers, according to the last count
	inputs   []int          // nodes of the person's messages, for rollbacks
	said     map[string]int // nodes by the person's text, for the messages that a summary keeps
	metas    int
}

func readCodex(ctx context.Context, s Source, b *builder) error {
	r := &codexReader{b: b, last: root, answer: root, answered: root, provider: "openai", said: map[string]int{}}
	return b.eachLine(ctx, s.File, r.line)
}

func (r *codexReader) line(place string, l object, data []byte) error {
	at, kind, payload := stamp(l.text("timestamp")), l.text("type"), l.object("payload")
	if payload == nil {
		switch {
		case l.text("record_type") != "":
			return nil // a state without a meaning of its own
		case kind == "" && l.text("id") != "":
			kind = "session_meta"
		default:
			kind = "response_item"
		}
		payload = l
	} else {
		data = l.raw("payload")
	}
	switch kind {
	case "session_meta":
		r.meta(place, payload)
	case "response_item":
		return r.item(place, at, payload, data)
	case "event_msg":
		r.event(place, payload, data)
	case "turn_context":
		return r.context(place, at, payload)
	case "compacted":
		return r.compacted(place, at, payload)
	default:
		r.b.losses.add(fmt.Sprintf("line of the type %q", brief(kind, 30)), place, string(data))
	}
	return nil
}

func (r *codexReader) meta(place string, m object) {
	if r.metas++; r.metas > 1 {
		return // of the session that this one was forked from
	}
	r.b.created = stamp(m.text("timestamp"))
	r.b.setDir(m.text("cwd"), place)
	if provider := m.text("model_provider"); provider != "" {
		r.provider = provider
	}
}

func (r *codexReader) context(place string, at time.Time, c object) error {
	r.b.setDir(c.text("cwd"), place)
	before, model := r.model, c.text("model")
	if model == "" || model == before {
		return nil
	}
	if r.model = model; before == "" {
		return nil
	}
	return r.add(at, session.ModelChanged{Model: llm.Model{Provider: r.provider, ID: model}, Reason: "chosen by the person"})
}

// add puts an entry at the end of the branch. It ends the open answer.
func (r *codexReader) add(at time.Time, body session.Body) (err error) {
	r.answer = root
	r.last, err = r.b.add(r.last, false, at, body)
	return err
}

func (r *codexReader) item(place string, at time.Time, it object, data []byte) error {
	switch kind := it.text("type"); kind {
	case "message":
		return r.message(place, at, it)
	case "reasoning":
		return r.grow(at, codexThinking(it, data))
	case "function_call":
		if err := r.grow(at, r.b.part(place, it)); err != nil || it.text("name") != "update_plan" {
			return err
		}
		args, err := objectOf([]byte(it.text("arguments")))
		if todo := todoOf(args.list("plan")); err == nil && len(todo.Items) > 0 {
			return r.b.grow(r.answer, at, todo)
		}
		return nil
	case "custom_tool_call":
		args, err := json.Marshal(map[string]string{"input": it.text("input")})
		if err != nil {
			return err
		}
		return r.grow(at, llm.ToolCall{ID: it.text("call_id"), Name: it.text("name"), Arguments: string(args)})
	case "local_shell_call":
		return r.grow(at, llm.ToolCall{ID: it.text("call_id", "id"), Name: "local_shell", Arguments: arguments(it, "action")})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return r.output(place, at, it)
	default:
		r.b.losses.add(fmt.Sprintf("item of the type %q", brief(kind, 30)), place, string(data))
		return nil
	}
}

// grow adds a part to the open answer, or opens one.
func (r *codexReader) grow(at time.Time, part llm.Part) error {
	if part == nil {
		return nil
	}
	m := session.Message{Message: llm.Message{Role: llm.RoleAssistant, Model: modelOf(r.provider, r.model), Content: llm.Content{part}}}
	if r.answer != root {
		return r.b.grow(r.answer, at, m)
	}
	n, err := r.b.add(r.last, false, at, m)
	r.last, r.answer, r.answered = n, n, n
	return err
}

func codexThinking(it object, data []byte) llm.Part {
	parts := it.list("summary")
	if len(parts) == 0 {
		parts = it.list("content")
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.text("text"))
	}
	t := llm.Thinking{Text: strings.Join(texts, "\n\n")}
	if it.text("encrypted_content") != "" {
		t.Opaque = slices.Clone(data) // the provider wants the item itself back
	}
	if t.Text == "" && t.Opaque == nil {
		return nil
	}
	return t
}

func (r *codexReader) message(place string, at time.Time, it object) error {
	content, err := r.b.content(place, it, "content")
	if err != nil || len(content) == 0 {
		return err
	}
	switch role := it.text("role"); role {
	case "assistant":
		for _, p := range content {
			if err := r.grow(at, p); err != nil {
				return err
			}
		}
	case "user":
		first := len(r.b.nodes)
		r.answer = root
		if r.last, err = r.b.say(r.last, false, at, session.SpeakerPerson, content); err != nil {
			return err
		}
		r.said[content.Text()] = r.last
		if text := personText(content); text != "" || len(content.Text()) == 0 {
			r.inputs = append(r.inputs, first)
			r.b.title = cmp.Or(r.b.title, brief(text, 60))
		}
	default:
		r.b.losses.add("instructions ("+brief(role, 20)+" message)", place, content.Text())
	}
	return nil
}

func (r *codexReader) output(place string, at time.Time, it object) (err error) {
	m := session.Message{Message: llm.Message{CallID: it.text("call_id")}}
	if out := it.object("output"); out == nil {
		if m.Content, err = r.b.content(place, it, "output"); err != nil {
			return err
		}
	} else if text := out.text("content"); text != "" {
		m.Content = llm.Content{llm.Text{Text: text}}
		m.IsError = len(out.raw("success")) > 0 && !out.flag("success")
	}
	m.IsError = m.IsError || exitCode(m.Content.Text()) != 0
	_, err = r.b.result(at, place, m)
	r.answer = root
	return err
}

// exitCode returns the exit code that the output of a command states.
func exitCode(text string) (code int) {
	if out, err := objectOf([]byte(text)); err == nil {
		return int(out.number("metadata.exit_code"))
	}
	head, _, _ := strings.Cut(text, "Output:")
	_, after, ok := strings.Cut(head, "xited with code ")
	if !ok {
		_, after, _ = strings.Cut(head, "Exit code: ")
	}
	_, _ = fmt.Sscanf(after, "%d", &code) // 0 if the output states none
	return code
}

func (r *codexReader) event(place string, e object, data []byte) {
	switch kind := e.text("type"); kind {
	case "token_count":
		r.count(e.number("info.total_token_usage.total_tokens"), e.object("info.last_token_usage"))
	case "thread_rolled_back":
		r.rollBack(int(min(max(e.number("num_turns"), 0), 1e6)))
	case "thread_name_updated":
		r.b.title = cmp.Or(e.text("thread_name"), r.b.title)
	case "turn_aborted":
		r.b.losses.add("note that a turn was aborted", place, e.text("reason"))
	case "error", "stream_error", "warning":
		r.b.losses.add("event "+kind, place, string(data))
	default: // the screen's view of the items
	}
}

// count gives the last answer its tokens. Codex repeats a count with news about limits.
func (r *codexReader) count(total float64, last object) {
	if r.answered == root || last == nil || total == r.total && r.total > 0 {
		return
	}
	r.total = total
	cached, reasoning := last.number("cached_input_tokens"), last.number("reasoning_output_tokens")
	u := llm.Usage{
		Input: tokens(last.number("input_tokens") - cached), CacheRead: tokens(cached),
		Output: tokens(last.number("output_tokens") - reasoning), Reasoning: tokens(reasoning),
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

func (r *codexReader) compacted(place string, at time.Time, c object) error {
	var kept []int
	summary, history := c.text("message"), c.list("replacement_history")
	for i, it := range history {
		content, err := r.b.content(place, it, "content")
		if it.text("type") != "message" || err != nil {
			continue
		}
		text := content.Text()
		if n, ok := r.said[text]; ok {
			kept = append(kept, n)
		} else if i == len(history)-1 && summary == "" {
			summary = text
		}
	}
	if strings.TrimSpace(summary) == "" {
		r.b.losses.add("summary that only the provider can read (its messages are used instead)", place, "")
		return nil
	}
	if err := r.add(at, session.Summarized{Reason: "full", Summary: summary}); err != nil {
		return err
	}
	r.b.nodes[r.last].kept = kept
	return nil
}

// ---- Discovery.

func codexFiles(p Places) (files []string) {
	base := p.base("CODEX_HOME", ".codex")
	if base == "" {
		return nil
	}
	_ = filepath.WalkDir(filepath.Join(base, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasPrefix(d.Name(), "rollout-") && filepath.Ext(path) == ".jsonl" {
			files = append(files, path)
		}
		return nil // skip inaccessible files
	})
	return files
}

// lookCodex reads the facts in a line at the beginning of a file.
func lookCodex(s *Source, l object) {
	payload := l.object("payload")
	if payload == nil {
		payload = l
	}
	if s.ID == "" {
		if kind := l.text("type"); (kind == "session_meta" || kind == "") && payload.text("timestamp") != "" {
			s.ID = payload.text("id")
			s.Dir, _ = cleanDir(payload.text("cwd"))
		}
		return
	}
	if payload.text("type") == "message" && payload.text("role") == "user" {
		c, _ := (&builder{}).content("", payload, "content")
		s.Title = brief(personText(c), 80)
	}
}
