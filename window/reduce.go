package window

import (
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

// How old a result must be, in answers after it, before its kind is reduced, and how large, in bytes of text. What a model has not seen
// at least once is not reduced, unless there is no room for it at all: see squeeze.
const (
	failedAge, failedSize = 3, 600
	staleAge, staleSize   = 3, 1500
	outputAge, outputSize = 2, 3000
	readAge               = 8 // of a read that still holds, and only when Hard

	findingAge, findingsKept, findingSize = 5, 3, 160 // findings by the way: all but the newest fade
)

// Reducing says how far the results of calls are reduced.
type Reducing struct {
	// Hard reduces also old reads of files that still hold: the model can read them again.
	Hard bool
	// Reads is the names of the tools whose result is the content of the one file that they read. Default "read".
	Reads []string
	// Keep is the entries that stay as they are, because people want them kept.
	Keep []session.ID
}

// Reduce returns shorter texts for results that are no longer worth their place: reads of files that were read again or have changed
// since, outputs that came again, attempts that failed long ago, old outputs of commands, and what the model itself has given up. They are
// made from the originals in the journal, the same ones for the same journal. What is reduced already stays as it is. Findings of states that
// the model left are reduced too, when they are old or many.
func (v *View) Reduce(how Reducing) []session.Reduction {
	if how.Reads == nil {
		how.Reads = []string{"read"}
	}
	out := v.givenUp(how.Keep)
	stays := make(map[session.ID]bool, len(how.Keep)+len(out))
	for _, id := range how.Keep {
		stays[id] = true
	}
	for _, r := range out {
		stays[r.Entry] = true
	}
	later := newLater()
	var shorter []session.Reduction
	for _, r := range slices.Backward(v.results(how.Reads)) {
		if !r.reduced && r.age > 0 && !stays[r.entry] {
			reason, text := r.shorter(later, how)
			if reason != "" && len(text) < len(r.text) {
				shorter = append(shorter, session.Reduction{Entry: r.entry, Reason: reason, Text: text})
			}
		}
		later.take(r)
	}
	slices.Reverse(shorter)
	out = append(out, shorter...)
	return append(out, v.fading()...)
}

// fading returns shorter texts for what the model found out by the way and took along from states that it left: it matters while it is new.
func (v *View) fading() []session.Reduction {
	var out []session.Reduction
	answers, newer := 0, 0
	for _, e := range slices.Backward(v.entries) {
		m := e.Body.(session.Message)
		if m.Role == llm.RoleAssistant {
			answers++
		}
		title, text := lessonOf(m)
		if title != titleFinding {
			continue
		}
		newer++
		_, reduced := v.originals[e.ID]
		if short := excerpt.HeadTail(text, findingSize); !reduced && len(short) < len(text) && (answers > findingAge || newer > findingsKept) {
			out = append(out, session.Reduction{Entry: e.ID, Reason: "stale", Text: "[An earlier finding, shortened.]\n" + short})
		}
	}
	slices.Reverse(out)
	return out
}

// result is one result of a call as a view has it.
type result struct {
	entry     session.ID
	call      string
	tool      string
	arguments string
	file      string   // that it shows; empty: it is no read of a file
	writes    []string // files and trees
	exec      bool
	failed    bool
	age       int // answers after it
	again     bool
	reduced   bool
	text      string
}

// results is the results of a view, oldest first.
func (v *View) results(reads []string) []result {
	reduced := make(map[session.ID]bool)
	for _, b := range v.Blocks {
		if b.Why == Shorter {
			reduced[b.Entries[0]] = true
		}
	}
	var out []result
	calls := make(map[string]llm.ToolCall) // of the newest answer
	asked := make(map[string]bool)         // what was reduced and is asked for again
	answers := 0
	started := make(map[startedKey]session.CallStarted, len(v.begun))
	for _, b := range v.begun {
		started[startedKey{b.call.Call, b.answer}] = b.call
	}
	for _, e := range v.entries {
		m := e.Body.(session.Message)
		switch m.Role {
		case llm.RoleAssistant:
			answers++
			clear(calls)
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case llm.RoleTool:
			c, ok := calls[m.CallID]
			if !ok {
				continue
			}
			r := result{
				entry: e.ID, call: m.CallID, tool: c.Name, arguments: compact(c.Arguments), failed: m.IsError,
				age: answers, reduced: reduced[e.ID], text: m.Text(),
			}
			key := r.tool + "\x00" + r.arguments
			r.again = asked[key]
			asked[key] = asked[key] || r.reduced
			r.touch(started[startedKey{c.ID, answers}], reads)
			out = append(out, r)
		}
	}
	for i := range out {
		out[i].age = answers - out[i].age
	}
	return out
}

// startedKey names the start of a call: names of calls may come again in later answers.
type startedKey struct {
	call   string
	answer int
}

// touch takes what the call touched from its effects.
func (r *result) touch(started session.CallStarted, reads []string) {
	type path struct {
		Name string `json:"name"`
		Tree bool   `json:"tree"`
	}
	var effects struct {
		Reads  []path `json:"reads"`
		Writes []path `json:"writes"`
		Exec   bool   `json:"exec"`
	}
	if len(started.Effects) == 0 || json.Unmarshal(started.Effects, &effects) != nil {
		return
	}
	r.exec = effects.Exec
	for _, w := range effects.Writes {
		r.writes = append(r.writes, w.Name)
	}
	if slices.Contains(reads, r.tool) && len(effects.Reads) == 1 && !effects.Reads[0].Tree && !r.failed {
		r.file = effects.Reads[0].Name
	}
}

// later is what results tell that came after the one that is looked at.
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
		l.read[r.file] = l.read[r.file] || whole(r.arguments)
		l.read[r.file+"\x00"+r.arguments] = true
	}
	if key := r.tool + "\x00" + r.arguments; l.said[key] == "" {
		l.said[key] = r.text
	}
}

// shorter is the shorter text of a result, by what came later, and why; empty when it stays.
func (r *result) shorter(l later, how Reducing) (reason, text string) {
	if len(r.text) < 200 { // the note would be as long
		return "", ""
	}
	switch {
	case r.file != "" && (l.read[r.file] || l.read[r.file+"\x00"+r.arguments]):
		return "superseded", fmt.Sprintf("[%s was read here, %s; it was read again later, see there.]", r.file, lines(r.text))
	case r.file != "" && l.written[r.file]:
		return "stale", fmt.Sprintf("[%s was read here, %s; it has been changed since. Read it again where you need it.]", r.file, lines(r.text))
	case l.said[r.tool+"\x00"+r.arguments] == r.text:
		return "repeated", fmt.Sprintf("[The same call of %s returned the same again later, see there: %s.]", r.tool, lines(r.text))
	}
	age := r.age
	if r.again {
		age /= 3 // it was reduced once and is needed: it stays longer
	}
	switch {
	case r.failed && age >= failedAge && len(r.text) > failedSize:
		return "failed", "[A failed attempt, shortened.]\n" + excerpt.HeadTail(r.text, failedSize/2)
	case r.file != "":
		if how.Hard && age >= readAge {
			return "stale", fmt.Sprintf("[%s was read here, %s, long ago. Read it again where you need it.]", r.file, lines(r.text))
		}
	case r.exec && age >= outputAge && len(r.text) > outputSize, age >= staleAge && len(r.text) > staleSize:
		return "stale", fmt.Sprintf("[An older result of %s, shortened from %s.]\n", r.tool, lines(r.text)) + excerpt.Of(r.text, staleSize/2)
	}
	return "", ""
}

// givenUp is shorter texts for what the model wants out of its window. A wish that names no entry is for the newest result of a call of that
// name that the model has seen: names of calls may come again.
func (v *View) givenUp(keep []session.ID) []session.Reduction {
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
	var out []session.Reduction
	seen := false // an answer stands behind
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
		if _, shorter := v.originals[e.ID]; shorter || slices.Contains(keep, e.ID) {
			continue
		}
		text := "[You gave this result up: " + c.Reason + "]"
		if c.Summary != "" {
			text += "\n" + c.Summary
		}
		out = append(out, session.Reduction{Entry: e.ID, Reason: "cleanup", Text: text})
	}
	slices.Reverse(out)
	return out
}

func lines(text string) string {
	return fmt.Sprintf("%d lines, %d bytes", strings.Count(text, "\n")+1, len(text))
}

// compact is JSON without white space, or the text itself when it is none.
func compact(arguments string) string {
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return arguments
	}
	data, _ := json.Marshal(v) // sorts the members
	return string(data)
}

// rangeArguments is how tools name a part of a file.
var rangeArguments = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(offset|limit|start|end|from|to|lines|pages|range)":`)
})

// whole reports whether arguments ask for a whole file.
func whole(arguments string) bool { return !rangeArguments().MatchString(arguments) }
