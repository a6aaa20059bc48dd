package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ch"); ok {
		return strconv.Itoa(n) + " " + stem + "ches"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// tokenWords is a number of tokens, rounded when it is large.
func tokenWords(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return strconv.FormatInt((n+500)/1000, 10) + "k"
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func costWords(cost float64) string {
	switch {
	case cost <= 0:
		return ""
	case cost < 0.01:
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// usageWords is what an answer consumed; empty when that is not known.
func usageWords(u llm.Usage) string {
	if u.Total() == 0 && u.Cost == 0 {
		return ""
	}
	in := tokenWords(u.Prompt()) + " in"
	if u.CacheRead > 0 {
		in += fmt.Sprintf(" (%.0f %% cached)", 100*u.CacheHits())
	}
	parts := []string{in, tokenWords(u.Output+u.Reasoning) + " out"}
	if c := costWords(u.Cost); c != "" {
		parts = append(parts, c)
	}
	return strings.Join(parts, " · ")
}

func timeWords(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// duration is how long something took, in words.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// ran is how long a call took; empty when that is not known.
func (c *callItem) ran() string {
	if c.Started.IsZero() || c.Ended.IsZero() || c.Ended.Before(c.Started) {
		return ""
	}
	return duration(c.Ended.Sub(c.Started))
}

// outcome is what became of a call, in a word; empty when it did what it was to do.
func (c *callItem) outcome() string {
	switch {
	case c.Result == nil && c.Denied != "":
		return "denied"
	case c.Result == nil:
		return "no result"
	case c.Result.Outcome != "":
		return strings.ReplaceAll(string(c.Result.Outcome), "_", " ")
	case c.Result.IsError:
		return "failed"
	}
	return ""
}

// gist is the argument that says most, on one line.
func (c *callItem) gist() string {
	var args map[string]json.RawMessage
	if len(c.Arguments) > 1<<20 || json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return firstLine(c.Arguments, 120)
	}
	for _, name := range []string{
		"command", "cmd", "path", "file_path", "filePath", "pattern", "query", "url", "description", "prompt", "name",
	} {
		raw, ok := args[name]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return firstLine(s, 120)
		}
		var words []string
		if json.Unmarshal(raw, &words) == nil && len(words) > 0 {
			return firstLine(strings.Join(words, " "), 120)
		}
	}
	if patch := patchDiffs(text(args, "patch", "patchText", "input")); len(patch) > 0 {
		return firstLine(patch[0].Path, 120)
	}
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	sort.Strings(names)
	var parts []string
	for _, name := range names {
		parts = append(parts, name+": "+firstLine(string(args[name]), 40))
	}
	return firstLine(strings.Join(parts, ", "), 120)
}

// pretty is the arguments of a call to read: a command as it is, else JSON with a member on each line.
func (c *callItem) pretty() string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &args) == nil && len(args) == 1 {
		if command := text(args, "command", "cmd", "patch", "input"); command != "" {
			return command
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(c.Arguments), "", "  ") == nil {
		return b.String()
	}
	return c.Arguments
}

// mark is something between messages, in words.
type mark struct {
	Kind   string // for its looks: "cut", "back", "info", "end", "error", "text"
	Title  string
	Detail string // Markdown
	Plain  string // text as it is, folded
}

// between says what an entry between messages means; false when a reader need not know.
func (o *overview) between(b session.Body) (mark, bool) {
	switch b := b.(type) {
	case session.Digest:
		title := "Summary: from here on the model sees this in place of what stands above"
		if b.Before > 0 && b.After > 0 {
			title += fmt.Sprintf(" (%s → %s tokens)", tokenWords(b.Before), tokenWords(b.After))
		} else if b.Before > 0 {
			title += fmt.Sprintf(" (%s tokens before)", tokenWords(b.Before))
		}
		return mark{Kind: "cut", Title: title, Detail: b.Summary}, true
	case session.Epoch:
		title := "New window"
		if b.Reason != "" {
			title += ": " + b.Reason
		}
		if b.Model.ID != "" {
			title += ", " + b.Model.Ref()
		}
		return mark{Kind: "info", Title: title, Plain: b.System}, true
	case session.Head:
		title := whither(o.seqs[b.To], b.Reason)
		title = strings.ToUpper(title[:1]) + title[1:]
		if b.Reason != "" {
			title += ": " + strings.ReplaceAll(b.Reason, "_", " ")
		}
		return mark{Kind: "back", Title: title}, true
	case session.ModelChanged:
		return mark{Kind: "info", Title: "Model: " + joined(b.Model.Ref(), b.Reason)}, true
	case session.RunEnded:
		return runEnded(b), true
	case session.Reduced:
		return mark{Kind: "cut", Title: counted(len(b.Messages), "older result") + " shortened in the window"}, true
	case session.Cleanup:
		return mark{Kind: "info", Title: "The model drops a result: " + b.Reason, Detail: b.Summary}, true
	case session.Revert:
		return mark{Kind: "back", Title: "The model goes back: " + b.Category, Detail: b.Lesson}, true
	case session.Context:
		return contextMark(b), len(b.Blocks) > 0
	case session.Todo:
		return mark{Kind: "text", Title: "Plan", Detail: todoText(b.Items)}, true
	case session.Note:
		return mark{Kind: "text", Title: "Note", Detail: b.Text}, true
	case session.Rejected:
		return mark{Kind: "error", Title: "A message was turned away: " + b.Reason, Plain: b.Message.Text()}, true
	case session.Partial:
		return mark{Kind: "text", Title: "Part of an answer", Detail: b.Content.Text()}, b.Content.Text() != ""
	case session.FilesChanged:
		return filesMark(o, b), true
	case session.Message: // a result without its call
		return mark{Kind: "text", Title: "Result of " + b.Tool, Plain: b.Text()}, true
	case session.Opaque:
		return mark{Kind: "info", Title: "An entry of a kind that this version does not know: " + o.opts.text(b.Name)}, true
	}
	return mark{}, false
}

// whither says where a head leads: a redo to what an undo left.
func whither(to int64, reason string) string {
	switch {
	case to <= 1:
		return "back to the beginning"
	case session.Cause(reason) == session.ByRedo:
		return fmt.Sprintf("forward to #%d", to)
	}
	return fmt.Sprintf("back to #%d", to)
}

func runEnded(b session.RunEnded) mark {
	m := mark{Kind: "end", Title: strings.ReplaceAll(string(b.Reason), "_", " ")}
	if b.Reason == session.ReasonError || b.Reason == session.ReasonRefused {
		m.Kind = "error"
	}
	if b.Message != "" {
		m.Title += ": " + b.Message
	}
	m.Title += " · " + counted(b.Turns, "turn")
	if u := usageWords(b.Usage); u != "" {
		m.Title += " · " + u
	}
	if b.Elapsed > 0 {
		m.Title += " · " + duration(time.Duration(b.Elapsed))
	}
	return m
}

func contextMark(b session.Context) mark {
	var names []string
	var all strings.Builder
	for _, block := range b.Blocks {
		names = append(names, block.Name)
		fmt.Fprintf(&all, "%s\n%s\n\n", block.Name, block.Text)
	}
	return mark{Kind: "info", Title: firstLine("Context: "+strings.Join(names, ", "), 160), Plain: all.String()}
}

func filesMark(o *overview, b session.FilesChanged) mark {
	what := "Files changed"
	switch b.Cause {
	case session.ByUndo:
		what = "Undo: files brought back"
	case session.ByRedo:
		what = "Redo: files changed again"
	}
	var list strings.Builder
	for i, f := range b.Files {
		if i == 50 {
			fmt.Fprintf(&list, "… and %d more\n", len(b.Files)-i)
			break
		}
		fmt.Fprintln(&list, relative(o.Dir, f.Path))
	}
	return mark{Kind: "info", Title: fmt.Sprintf("%s: %d", what, len(b.Files)+b.More), Plain: list.String()}
}

// todoText is a list of what is to be done, in Markdown.
func todoText(items []session.TodoItem) string {
	var b strings.Builder
	for _, t := range items {
		box := " "
		if t.Status == "completed" {
			box = "x"
		}
		text := firstLine(t.Text, 300)
		if t.Status == "in_progress" {
			text = "**" + text + "**"
		}
		fmt.Fprintf(&b, "- [%s] %s\n", box, text)
	}
	return b.String()
}

// withoutIntent splits off what a model states between <intent> and </intent>.
func withoutIntent(text string) (rest, intent string) {
	intent = session.Intent(text)
	before, after, ok := strings.Cut(text, "<intent>")
	if !ok {
		return text, ""
	}
	if _, tail, closed := strings.Cut(after, "</intent>"); closed {
		return strings.TrimSpace(before + tail), intent
	}
	return text, ""
}
