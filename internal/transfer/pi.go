package transfer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The sessions of pi, in the versions 1 to 3 of their format: a file for each session below sessions/--<directory>--. The first line
// is the header. Each other line is an entry, linked to the one before it by id and parentId (version 1 has no links: each follows
// the line before). The session continues at the last entry.

type piReader struct {
	b      *builder
	nodes  map[string]int
	last   int // the node of the line before
	linear bool
}

func readPi(ctx context.Context, s Source, b *builder) error {
	r := &piReader{b: b, nodes: map[string]int{}, last: root}
	return b.eachLine(ctx, s.File, r.line)
}

func (r *piReader) line(place string, l object, data []byte) error {
	if l.text("type") == "session" {
		r.b.created, r.linear = stamp(l.text("timestamp")), l.number("version") < 2
		r.b.setDir(l.text("cwd"), place)
		return nil
	}
	id := l.text("id")
	if _, seen := r.nodes[id]; id != "" && seen {
		r.b.losses.add("duplicate entry ID", place, id)
		return nil
	}
	n, err := r.entry(place, l, r.parent(place, l), data)
	if err != nil {
		return err
	}
	if id != "" {
		r.nodes[id] = n
	}
	r.last, r.b.leaf = n, n
	return nil
}

func (r *piReader) parent(place string, l object) int {
	parent := l.text("parentId")
	switch n, ok := r.nodes[parent]; {
	case ok && parent != "":
		return n
	case r.linear || l.text("id") == "":
		return r.last
	case parent == "":
		return root
	}
	r.b.losses.add("entry with a missing predecessor", place, parent)
	return r.last
}

// entry adds the entry of a line and returns the node that the next lines follow.
func (r *piReader) entry(place string, l object, parent int, data []byte) (int, error) {
	at := stamp(l.text("timestamp"))
	switch kind := l.text("type"); kind {
	case "message":
		m := l.object("message")
		if at.IsZero() {
			at = unix(m.number("timestamp"))
		}
		return r.message(place, at, m, parent)
	case "custom_message":
		content, err := r.b.content(place, l, "content")
		if err != nil {
			return parent, err
		}
		return r.b.say(parent, false, at, session.SpeakerHook, content)
	case "model_change":
		m := llm.Model{Provider: l.text("provider"), ID: l.text("modelId")}
		return r.b.add(parent, false, at, session.ModelChanged{Model: m, Reason: "chosen by the person"})
	case "compaction":
		n, err := r.b.add(parent, false, at, session.Summarized{
			Reason: "full", Summary: l.text("summary"), Before: tokens(l.number("tokensBefore")), Usage: piUsage(l),
		})
		if first, ok := r.nodes[l.text("firstKeptEntryId")]; ok && first != root && err == nil {
			r.b.nodes[n].kept = r.b.between(first, parent)
		}
		return n, err
	case "branch_summary":
		return r.b.add(parent, false, at, session.Message{
			Message: llm.UserText("Summary of another branch:\n\n" + l.text("summary")), Source: session.FromRevert,
			Speaker: session.Speaker{Kind: session.SpeakerModel},
		})
	case "session_info":
		r.b.title = l.text("name")
	case "label":
		about, ok := r.nodes[l.text("targetId")]
		if !ok {
			about = root
		}
		if label := l.text("label"); label != "" {
			return parent, r.b.aside(at, about, session.Note{Text: "label " + label})
		}
		r.b.losses.add("label that was taken away", place, l.text("targetId"))
	default:
		r.b.losses.add(fmt.Sprintf("entry of the type %q", brief(kind, 30)), place, string(data))
	}
	return parent, nil
}

// between returns the nodes of a branch from one to another, or none if no branch has both.
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

func piUsage(o object) llm.Usage {
	return o.object("usage").usage("input", "output", "", "cacheRead", "cacheWrite", "cost.total")
}

func (r *piReader) message(place string, at time.Time, m object, parent int) (int, error) {
	content, err := r.b.content(place, m, "content")
	if err != nil {
		return parent, err
	}
	switch role := m.text("role"); role {
	case "user":
		return r.b.say(parent, false, at, session.SpeakerPerson, content)
	case "custom", "hookMessage":
		return r.b.say(parent, false, at, session.SpeakerHook, content)
	case "bashExecution":
		if m.flag("excludeFromContext") {
			r.b.losses.add("command that the model did not see", place, m.text("command"))
			return parent, nil
		}
		text := ranCommand(m.text("command"), m.text("output"), m.number("exitCode"))
		return r.b.say(parent, false, at, session.SpeakerTool, llm.Content{llm.Text{Text: text}})
	case "assistant":
		if text := m.text("errorMessage"); text != "" {
			r.b.losses.add("error of an answer", place, text)
		}
		if len(content) == 0 {
			return parent, nil
		}
		return r.b.add(parent, false, at, session.Message{Message: llm.Message{
			Role: llm.RoleAssistant, Content: content, Model: modelOf(m.text("provider"), m.text("model")), Usage: piUsage(m),
			Stop: stopReason(m.text("stopReason")),
		}})
	case "toolResult":
		n, err := r.b.result(at, place, session.Message{Message: llm.Message{CallID: m.text("toolCallId"), Content: content, IsError: m.flag("isError")}})
		if data := m.raw("details"); len(data) > 2 {
			r.b.losses.add("metadata of a result", place, string(data))
		}
		if n == root {
			n = parent
		}
		return n, err
	default:
		r.b.losses.add(fmt.Sprintf("message of the role %q", brief(role, 30)), place, content.Text()+m.text("summary"))
		return parent, nil
	}
}

// ---- Discovery.

func piFiles(p Places) (files []string) {
	base := p.base("PI_CODING_AGENT_DIR", ".pi", "agent")
	if base == "" {
		return nil
	}
	for _, dir := range subdirs(filepath.Join(base, "sessions")) {
		files = append(files, filesIn(dir, ".jsonl")...)
	}
	return files
}

// lookPi reads the facts in a line at the beginning of a file.
func lookPi(s *Source, l object) {
	if s.ID == "" {
		if l.text("type") == "session" {
			s.ID = l.text("id")
			s.Dir, _ = cleanDir(l.text("cwd"))
		}
		return
	}
	if m := l.object("message"); l.text("type") == "message" && m.text("role") == "user" {
		c, _ := (&builder{}).content("", m, "content")
		s.Title = brief(personText(c), 80)
	}
}
