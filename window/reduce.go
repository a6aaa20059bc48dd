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
// at least once is never reduced.
const (
	failedAge, failedSize = 3, 600
	staleAge, staleSize   = 3, 1500
	outputAge, outputSize = 2, 3000
	readAge               = 8 // of a read that still holds, and only when Hard
)

// Reducing says how far the results of calls are reduced.
type Reducing struct {
	// Hard reduces also old reads of files that still hold: the model can read them again.
	Hard bool
	// Reads is the names of the tools whose result is the content of the one file that they read. Default "read".
	Reads []string
}

// Reduce returns shorter texts for results that are no longer worth their place: reads of files that were read again or have changed
// since, outputs that came again, attempts that failed long ago, old outputs of commands, and what the model itself has given up. They are
// made from the originals in the journal, the same ones for the same journal. What is reduced already stays as it is.
func (v *View) Reduce(how Reducing) []session.Reduction {
	if how.Reads == nil {
		how.Reads = []string{"read"}
	}
	results := v.results(how.Reads)
	wishes := v.wishes()
	var out []session.Reduction
	for i, r := range results {
		if r.reduced || r.age == 0 {
			continue
		}
		if wish, ok := wishes[r.call]; ok {
			out = append(out, session.Reduction{Entry: r.entry, Reason: "cleanup", Text: wish})
			continue
		}
		reason, text := r.shorter(results[i+1:], how)
		if reason != "" && len(text) < len(r.text) {
			out = append(out, session.Reduction{Entry: r.entry, Reason: reason, Text: text})
		}
	}
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

// shorter is the shorter text of a result, by what came later, and why; empty when it stays.
func (r *result) shorter(later []result, how Reducing) (reason, text string) {
	if len(r.text) < 200 { // the note would be as long
		return "", ""
	}
	for _, l := range later {
		switch {
		case l.failed:
		case r.file != "" && slices.Contains(l.writes, r.file):
			return "stale", fmt.Sprintf("[%s was read here, %s; it has been changed since. Read it again where you need it.]", r.file, lines(r.text))
		case r.file != "" && l.file == r.file && (l.arguments == r.arguments || whole(l.arguments)):
			return "superseded", fmt.Sprintf("[%s was read here, %s; it was read again later, see there.]", r.file, lines(r.text))
		case l.tool == r.tool && l.arguments == r.arguments && l.text == r.text:
			return "repeated", fmt.Sprintf("[The same call of %s returned the same again later, see there: %s.]", r.tool, lines(r.text))
		}
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

// wishes is what the model wants out of its window, by call.
func (v *View) wishes() map[string]string {
	out := make(map[string]string)
	for _, e := range v.cleanups {
		c := e.Body.(session.Cleanup)
		text := "[You gave this result up: " + c.Reason + "]"
		if c.Summary != "" {
			text += "\n" + c.Summary
		}
		out[c.Call] = text
	}
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
