package conversation

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
	"github.com/tenon-agent/tenon/workspace"
)

// Spent records the usage of a request that no other entry has, so that it counts for the session and the day. Text is a remark for people.
func Spent(a *agent.Agent, text, model string, u llm.Usage) {
	note := session.Note{Text: text, By: model, Usage: u}
	if err := a.Record(context.Background(), note); err != nil {
		a.Announce(live.Notice{Text: fmt.Sprintf("%s, and Tenon cannot record its cost: %v", note.Text, err)})
	}
}

// Pins returns the messages of the current branch that people pinned, oldest first, for [window.Options].
func Pins(ctx context.Context, a *agent.Agent, log session.Log) ([]session.Verbatim, error) {
	pinned := make(map[session.ID]bool)
	for e, err := range log.Read(ctx, a.Session(), 0, session.Pin{}.Kind()) {
		if err != nil {
			return nil, err
		}
		if p, ok := e.Body.(session.Pin); ok {
			pinned[p.Entry] = true
			if p.Removed {
				delete(pinned, p.Entry)
			}
		}
	}
	if len(pinned) == 0 {
		return nil, nil
	}
	var out []session.Verbatim
	for e, err := range a.Path().Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if !pinned[e.ID] {
			continue
		}
		if m, ok := e.Body.(session.Message); ok {
			out = append(out, session.Verbatim{Entry: e.ID, Message: window.Spoken(m), Pinned: true})
		}
		if delete(pinned, e.ID); len(pinned) == 0 {
			break
		}
	}
	slices.Reverse(out)
	return out, nil
}

// The bounds of the files that follow a summary.
const (
	maxFiles      = 5
	maxFileTokens = 5000
)

// OpenFiles returns the present contents of the newest of the named files, within a number of tokens, for [window.Options]. It leaves out
// binary files, files that the workspace does not let it read, and those for which skip, which may be nil, reports true. redact hides
// secrets in the contents.
func OpenFiles(ws *workspace.Workspace, names []string, left int, skip func(name string) bool, redact func(string) string) []session.ContextBlock {
	left = min(left, maxFiles*maxFileTokens)
	var out []session.ContextBlock
	for _, name := range slices.Backward(names) {
		if len(out) == maxFiles || left < 200 {
			break
		}
		if skip != nil && skip(name) {
			continue
		}
		text, ok := beginning(ws, name, min(maxFileTokens, left))
		if !ok {
			continue
		}
		text = redact(text)
		left -= tokens.Text(text)
		out = append(out, session.ContextBlock{Name: "file " + ws.Rel(name), Text: text})
	}
	return out
}

// beginning returns the text of a file, shortened to a number of tokens.
func beginning(ws *workspace.Workspace, name string, most int) (string, bool) {
	f, err := ws.OpenFile(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const (
		bytesPerToken = 6  // more than any text has
		note          = 16 // tokens of the note about the omitted part
	)
	most -= note
	data, err := io.ReadAll(io.LimitReader(f, int64(most*bytesPerToken)+1))
	if err != nil || len(data) == 0 || tool.Binary(string(data)) {
		return "", false
	}
	info, err := f.Stat()
	if err != nil {
		return "", false
	}
	text := strings.ToValidUTF8(string(data), "\ufffd")
	for n := tokens.Text(text); n > most; n = tokens.Text(text) {
		text = text[:len(text)*most/(n+1)]
	}
	if cut := info.Size() - int64(len(text)); cut > 0 {
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			cut += int64(len(text) - i - 1)
			text = text[:i+1]
		}
		text = strings.ToValidUTF8(text, "") + fmt.Sprintf("[%d bytes omitted]", cut)
	}
	return text, true
}
