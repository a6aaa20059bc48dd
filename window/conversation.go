package window

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// conversation is the part of a journal after its newest summary. The messages of a view come from it.
type conversation struct {
	entries   []session.Event              // messages, oldest first, in the order of the view
	originals map[session.ID]session.Event // the untrimmed messages of trimmed ones
	said      []session.Event              // entries with the starts of calls
	journal   []session.ID                 // the entries in the order of the journal, newest first
	fresh     int                          // the first ones of these belong to the current epoch
}

// inEpoch reports whether an entry belongs to the current epoch.
func (c *conversation) inEpoch(id session.ID) bool { return slices.Contains(c.journal[:c.fresh], id) }

// has reports whether a summary can replace an entry.
func (c *conversation) has(id session.ID) bool {
	return slices.ContainsFunc(c.entries, func(e session.Event) bool { return e.ID == id })
}

// trim replaces the contents of messages by shorter texts.
func (c *conversation) trim(trims map[session.ID]session.Trim) {
	if len(trims) == 0 {
		return
	}
	c.originals = make(map[session.ID]session.Event)
	for i, e := range c.entries {
		if r, ok := trims[e.ID]; ok {
			c.originals[e.ID] = e
			m := e.Body.(session.Message)
			m.Content = llm.Content{llm.Text{Text: r.Text}}
			c.entries[i].Body = m
		}
	}
}

// original is the entries before an index, without their trims.
func (c *conversation) original(cut int) []session.Event {
	out := slices.Clone(c.entries[:cut])
	for i, e := range out {
		if o, ok := c.originals[e.ID]; ok {
			out[i] = o
		}
	}
	return out
}

// startedKey names the start of a call: later answers may reuse the IDs of calls.
type startedKey struct {
	call   string
	answer int // from 1
}

// started returns the calls that began before the end of an answer, in their order, and the answer of each.
func (c *conversation) started(until int) (calls []session.CallStarted, answers []int) {
	answer := 0
	for _, e := range c.said {
		switch b := e.Body.(type) {
		case session.Message:
			if b.Role == llm.RoleAssistant {
				answer++
			}
		case session.CallStarted:
			if answer <= until {
				calls, answers = append(calls, b), append(answers, answer)
			}
		}
	}
	return calls, answers
}

// cut is the index up to which a summary may replace the entries, and the newest entry of the journal before it; 0 if there is none. The
// entries after it have at least this many tokens and include the last answer with its results, unless the messages since then are long.
func (c *conversation) cut(tail int) (at int, through session.ID) {
	ends := c.ends()
	size, answers := 0, 0
	for i := len(c.entries) - 1; i > 0; i-- {
		m := c.entries[i].Body.(session.Message)
		size += countMessages(m.Message)
		if m.Role == llm.RoleAssistant {
			answers++
		}
		if ends[i] == "" {
			continue
		}
		if at == 0 || size <= tail || answers <= 1 && size <= 3*tail {
			at, through = i, ends[i]
		}
		if size > tail && (answers > 0 || size > 3*tail) {
			break
		}
	}
	return at, through
}

// ends returns, for each index, the newest entry of the journal before it if a summary may replace everything before it. It is empty where
// the orders of the view and the journal do not divide in the same way, and where a call would lose its result.
func (c *conversation) ends() []session.ID {
	age := make(map[session.ID]int, len(c.journal)) // 1 is the newest; 0 is an entry that is not written yet
	for i, id := range c.journal {
		if id != "" {
			age[id] = i + 1
		}
	}
	oldestAfter, waits := make([]int, len(c.entries)+1), make([]bool, len(c.entries)+1)
	for i, e := range slices.Backward(c.entries) {
		oldestAfter[i] = max(oldestAfter[i+1], age[e.ID])
		role := e.Body.(session.Message).Role
		waits[i] = role == llm.RoleTool || waits[i+1] && role != llm.RoleAssistant // results of an answer before it
	}
	ends := make([]session.ID, len(c.entries))
	newest := len(c.journal) + 1
	var through session.ID
	for i, e := range c.entries {
		if i > 0 && newest > oldestAfter[i] && !waits[i] {
			ends[i] = through
		}
		if a := age[e.ID]; a < newest {
			newest, through = a, e.ID
		}
	}
	return ends
}

func answersIn(entries []session.Event) int {
	n := 0
	for _, e := range entries {
		if m := e.Body.(session.Message); m.Role == llm.RoleAssistant {
			n++
		}
	}
	return n
}
