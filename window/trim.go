package window

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
)

// The least age of a result before its kind is trimmed, in answers after it, and its least size, in bytes of text. A result that the model
// has not seen yet is trimmed only if it does not fit at all: see truncate.
const (
	failedAge, failedSize = 3, 600
	staleAge, staleSize   = 3, 1500
	outputAge, outputSize = 2, 3000
	readAge               = 8 // of a read that is still current, only with Hard

	findingAge, findingsKept, findingSize = 5, 3, 160 // incidental findings: all but the newest fade
)

// Trimming selects the results that [View.Trim] trims.
type Trimming struct {
	// Hard also trims old reads of unchanged files: the model can read them again.
	Hard bool
	// Reads are the names of the tools whose result is the content of the one file that they read. Default "read".
	Reads []string
	// Keep are the entries that stay unchanged, because people pinned them.
	Keep []session.ID
}

// Trim returns shorter texts for results that are no longer worth their tokens: reads of files that were read again or changed since,
// repeated outputs, old failures, old outputs of commands, and results that the model discarded. It also shortens incidental findings from
// states that the model reverted, if they are old or many. It works on the originals in the journal, so the same journal gives the same
// texts. Trimmed results stay as they are.
func (v *View) Trim(how Trimming) []session.Trim {
	if how.Reads == nil {
		how.Reads = []string{"read"}
	}
	out := v.discarded(how.Keep)
	stays := make(map[session.ID]bool, len(how.Keep)+len(out))
	for _, id := range how.Keep {
		stays[id] = true
	}
	for _, r := range out {
		stays[r.Entry] = true
	}
	later := newLater()
	var shorter []session.Trim
	for _, r := range slices.Backward(v.results(how.Reads)) {
		if !r.trimmed && r.age > 0 && !stays[r.entry] {
			reason, text := r.shorter(later, how)
			if reason != "" && len(text) < len(r.text) {
				shorter = append(shorter, session.Trim{Entry: r.entry, Reason: reason, Text: text})
			}
		}
		later.take(r)
	}
	slices.Reverse(shorter)
	out = append(out, shorter...)
	return append(out, v.fading()...)
}

// fading returns shorter texts for old incidental findings from reverted states.
func (c *conversation) fading() []session.Trim {
	var out []session.Trim
	answers, newer := 0, 0
	for _, e := range slices.Backward(c.entries) {
		m := e.Body.(session.Message)
		if m.Role == llm.RoleAssistant {
			answers++
		}
		title, text := lessonOf(m)
		if title != titleFinding {
			continue
		}
		newer++
		_, trimmed := c.originals[e.ID]
		if short := excerpt.HeadTail(text, findingSize); !trimmed && len(short) < len(text) && (answers > findingAge || newer > findingsKept) {
			out = append(out, session.Trim{Entry: e.ID, Reason: "stale", Text: "[An earlier finding, shortened.]\n" + short})
		}
	}
	slices.Reverse(out)
	return out
}

// result is one result of a call in a view.
type result struct {
	entry     session.ID
	tool      string
	arguments string
	file      string   // that it shows; empty: it is no read of a file
	whole     bool     // it shows the whole file
	writes    []string // files and trees
	exec      bool
	failed    bool
	age       int  // answers after it
	again     bool // the same call was trimmed before
	trimmed   bool
	text      string
}

// results are the results of a conversation, oldest first.
func (c *conversation) results(reads []string) []result {
	var out []result
	calls := make(map[string]llm.ToolCall) // of the newest answer
	asked := make(map[string]bool)         // calls with trimmed results
	begun, in := c.started(len(c.entries))
	started := make(map[startedKey]session.CallStarted, len(begun))
	for i, b := range begun {
		started[startedKey{b.Call, in[i]}] = b
	}
	answers := 0
	for _, e := range c.entries {
		m := e.Body.(session.Message)
		switch m.Role {
		case llm.RoleAssistant:
			answers++
			clear(calls)
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case llm.RoleTool:
			call, ok := calls[m.CallID]
			if !ok {
				continue
			}
			_, trimmed := c.originals[e.ID]
			r := result{
				entry: e.ID, tool: call.Name, arguments: compact(call.Arguments), failed: m.IsError,
				age: answers, trimmed: trimmed, text: m.Text(),
			}
			key := r.tool + "\x00" + r.arguments
			r.again = asked[key]
			asked[key] = asked[key] || r.trimmed
			r.touch(started[startedKey{call.ID, answers}], reads)
			out = append(out, r)
		}
	}
	for i := range out {
		out[i].age = answers - out[i].age
	}
	return out
}

// touch takes the paths of a call from its effects. The start of a call has the names of the tool and of its arguments; the answer has them as the
// model wrote them.
func (r *result) touch(started session.CallStarted, reads []string) {
	type path struct {
		Name string `json:"name"`
		Tree bool   `json:"tree"`
	}
	var effects struct {
		Reads     []path `json:"reads"`
		Writes    []path `json:"writes"`
		Exclusive bool   `json:"exclusive"`
	}
	if len(started.Effects) == 0 || json.Unmarshal(started.Effects, &effects) != nil {
		return
	}
	r.exec = effects.Exclusive
	for _, w := range effects.Writes {
		r.writes = append(r.writes, w.Name)
	}
	if slices.Contains(reads, cmp.Or(started.Tool, r.tool)) && len(effects.Reads) == 1 && !effects.Reads[0].Tree && !r.failed {
		r.file, r.whole = effects.Reads[0].Name, whole(cmp.Or(string(started.Arguments), r.arguments))
	}
}

// later is the facts from the results after the current one.
type later struct {
	written map[string]bool   // files
	read    map[string]bool   // whole files, and "file\x00arguments"
	said    map[string]string // the newest text of "tool\x00arguments"
}

func newLater() later {
	return later{written: make(map[string]bool), read: make(map[string]bool), said: make(map[string]string)}
}

func (l later) take(r result) {
	if r.failed {
		return
	}
	for _, w := range r.writes {
		l.written[w] = true
	}
	if r.file != "" {
		l.read[r.file] = l.read[r.file] || r.whole
		l.read[r.file+"\x00"+r.arguments] = true
	}
	if key := r.tool + "\x00" + r.arguments; l.said[key] == "" {
		l.said[key] = r.text
	}
}

// shorter is the shorter text of a result and the reason; empty if the result stays.
func (r *result) shorter(l later, how Trimming) (reason, text string) {
	if len(r.text) < 200 { // the note would be as long
		return "", ""
	}
	switch {
	case r.file != "" && (l.read[r.file] || l.read[r.file+"\x00"+r.arguments]):
		return "superseded", fmt.Sprintf("[Content of %s (%s) omitted: you read it again later.]", r.file, lines(r.text))
	case r.file != "" && l.written[r.file]:
		return "stale", fmt.Sprintf("[Content of %s (%s) omitted: the file has changed since. Read it again if you need it.]", r.file, lines(r.text))
	case l.said[r.tool+"\x00"+r.arguments] == r.text:
		return "repeated", fmt.Sprintf("[Output (%s) omitted: a later call of %s with the same arguments returned the same.]", lines(r.text), r.tool)
	}
	age := r.age
	if r.again {
		age /= 3 // the model needed it again, so it stays longer
	}
	switch {
	case r.failed && age >= failedAge && len(r.text) > failedSize:
		return "failed", fmt.Sprintf("[A failed call of %s, shortened from %s.]\n", r.tool, lines(r.text)) + excerpt.HeadTail(r.text, failedSize/2)
	case r.file != "":
		if how.Hard && age >= readAge {
			return "stale", fmt.Sprintf("[Content of %s (%s) omitted: you read it long ago. Read it again if you need it.]", r.file, lines(r.text))
		}
	case r.exec && age >= outputAge && len(r.text) > outputSize, age >= staleAge && len(r.text) > staleSize:
		return "stale", r.head() + excerpt.Of(r.text, staleSize/2)
	}
	return "", ""
}

// head describes a shortened result: its call, its size, and how to see the rest. A command can have effects, so it does not suggest to
// repeat one.
func (r *result) head() string {
	const most = 120
	arguments := r.arguments
	if len(arguments) > most {
		arguments = strings.ToValidUTF8(arguments[:most], "") + "..."
	}
	rest := " Repeat the call if you need the rest."
	if r.exec {
		rest = ""
	}
	return fmt.Sprintf("[An older result of %s %s, shortened from %s.%s]\n", r.tool, arguments, lines(r.text), rest)
}

// discarded is shorter texts for the results that the model discarded. A wish without an entry means the newest result of a call with that
// ID that the model has seen: later answers may reuse the IDs of calls.
func (v *View) discarded(keep []session.ID) []session.Trim {
	if len(v.cleanups) == 0 {
		return nil
	}
	byCall, byEntry := make(map[string]session.Cleanup), make(map[session.ID]session.Cleanup)
	for _, e := range v.cleanups {
		if c := e.Body.(session.Cleanup); c.Entry != "" {
			byEntry[c.Entry] = c
		} else {
			byCall[c.Call] = c
		}
	}
	var out []session.Trim
	seen := false // an answer follows
	for _, e := range slices.Backward(v.entries) {
		m := e.Body.(session.Message)
		seen = seen || m.Role == llm.RoleAssistant
		if !seen || m.Role != llm.RoleTool {
			continue
		}
		c, ok := byEntry[e.ID]
		if !ok {
			c, ok = byCall[m.CallID]
			delete(byCall, m.CallID)
		}
		if !ok {
			continue
		}
		if _, trimmed := v.originals[e.ID]; trimmed || slices.Contains(keep, e.ID) {
			continue
		}
		text := "[You discarded this result: " + c.Reason + "]"
		if c.Summary != "" {
			text += "\n" + c.Summary
		}
		out = append(out, session.Trim{Entry: e.ID, Reason: "cleanup", Text: text})
	}
	slices.Reverse(out)
	return out
}

// notShown removes the files from a list whose content a read after cut shows.
func (c *conversation) notShown(cut int, names, reads []string) []string {
	stays := make(map[session.ID]bool, len(c.entries)-cut)
	for _, e := range c.entries[cut:] {
		stays[e.ID] = true
	}
	shown := make(map[string]bool)
	for _, r := range c.results(reads) {
		for _, name := range r.writes {
			delete(shown, name)
		}
		if r.file != "" && !r.trimmed && stays[r.entry] {
			shown[r.file] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return shown[name] })
}

func lines(text string) string {
	return fmt.Sprintf("%d lines, %d bytes", strings.Count(text, "\n")+1, len(text))
}

// compact is JSON without white space, or the text itself if it is not JSON.
func compact(arguments string) string {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return arguments
	}
	data, _ := json.Marshal(v) // sorts the members
	return string(data)
}

// rangeArguments are the names of arguments that select a part of a file.
var rangeArguments = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(offset|limit|start|end|from|to|lines|pages|range)":`)
})

// whole reports whether arguments select a whole file.
func whole(arguments string) bool { return !rangeArguments().MatchString(arguments) }
