package index

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// UsageQuery selects the usage to sum, and its groups. The zero value sums all in one row.
type UsageQuery struct {
	By      []Group // the rows differ in these; none: one row
	Session session.SessionID
	Dir     string // of the session, exact
	Since   time.Time
	Until   time.Time      // before this time
	Zone    *time.Location // of the days; nil: UTC
}

// Group is a field by which usage can be grouped.
type Group string

// The groups.
const (
	GroupDay     Group = "day"
	GroupModel   Group = "model"
	GroupSession Group = "session"
	GroupAgent   Group = "agent"
	GroupTool    Group = "tool"   // rows with a tool count calls; rows without one count answers
	GroupAnswer  Group = "answer" // one row for each answer, summary or title: its cache hits, for one
)

// UsageRow is one row of usage. Fields that the query does not group by are empty.
type UsageRow struct {
	Day     string            `json:"day,omitzero"`   // 2006-01-02
	Model   string            `json:"model,omitzero"` // "provider/model"
	Session session.SessionID `json:"session,omitzero"`
	Agent   string            `json:"agent,omitzero"` // the run's tag, or "sub-agent" for a run of one without; empty: the main agent
	Tool    string            `json:"tool,omitzero"`
	Seq     int64             `json:"seq,omitzero"`  // of the answer
	Time    time.Time         `json:"time,omitzero"` // of the answer

	Answers int       `json:"answers,omitzero"` // of models, summaries and titles counted
	Usage   llm.Usage `json:"usage,omitzero"`
	Calls   int       `json:"calls,omitzero"`  // results of calls
	Failed  int       `json:"failed,omitzero"` // of these, whose Outcome is another than OutcomeOK
	Bytes   int64     `json:"bytes,omitzero"`  // text of the results
}

// has reports whether the query groups by g.
func (q UsageQuery) has(g Group) bool { return slices.Contains(q.By, g) }

// Counts reports whether the rows of a query count calls.
func (q UsageQuery) Counts() bool { return q.has(GroupTool) }

// AgentOf is the name that usage knows the agent of a run by.
func AgentOf(b session.RunStarted) string {
	if b.Tag == "" && b.Trigger == live.TriggerSubAgent {
		return "sub-agent"
	}
	return b.Tag
}

// RowOf is what an entry adds to usage, without Session and Agent: an answer, a summary, a title or a note that consumed something, or, when calls
// count, the result of a call. It reports false when that is nothing.
func RowOf(e session.Event, calls bool) (UsageRow, bool) {
	if model, u, ok := view.Consumed(e.Body); ok {
		return UsageRow{Seq: e.Seq, Time: e.Time, Model: model, Answers: 1, Usage: u}, true
	}
	m, ok := e.Body.(session.Message)
	if !ok || m.Role != llm.RoleTool || !calls {
		return UsageRow{}, false
	}
	r := UsageRow{Seq: e.Seq, Time: e.Time, Tool: m.Tool, Calls: 1, Bytes: int64(len(m.Text()))}
	if m.Outcome != session.OutcomeOK {
		r.Failed = 1
	}
	return r, true
}

// Tally sums rows as a query wants it. Stores use it. It must not be used concurrently.
type Tally struct {
	query UsageQuery
	zone  *time.Location
	rows  map[UsageRow]*UsageRow // by the fields that rows differ in
}

// NewTally returns a tally for a query.
func NewTally(q UsageQuery) *Tally {
	t := &Tally{query: q, zone: q.Zone, rows: map[UsageRow]*UsageRow{}}
	if t.zone == nil {
		t.zone = time.UTC
	}
	return t
}

// Add adds a row about one entry, with all of its fields set but Day. Rows outside of the query's times do not count.
func (t *Tally) Add(r UsageRow) {
	q := t.query
	if r.Time.Before(q.Since) || !q.Until.IsZero() && !r.Time.Before(q.Until) {
		return
	}
	var key UsageRow
	if q.has(GroupDay) {
		key.Day = r.Time.In(t.zone).Format(time.DateOnly)
	}
	if q.has(GroupModel) {
		key.Model = r.Model
	}
	if q.has(GroupSession) {
		key.Session = r.Session
	}
	if q.has(GroupAgent) {
		key.Agent = r.Agent
	}
	if q.has(GroupTool) {
		key.Tool = r.Tool
	}
	if q.has(GroupAnswer) && r.Calls == 0 {
		key.Session, key.Seq, key.Time = r.Session, r.Seq, r.Time
	}
	sum := t.rows[key]
	if sum == nil {
		sum = &UsageRow{}
		*sum = key
		t.rows[key] = sum
	}
	sum.Answers += r.Answers
	sum.Usage = sum.Usage.Plus(r.Usage)
	sum.Calls += r.Calls
	sum.Failed += r.Failed
	sum.Bytes += r.Bytes
}

// Rows returns the sums, in the order of their fields.
func (t *Tally) Rows() []UsageRow {
	var rows []UsageRow
	for _, r := range slices.Collect(maps.Values(t.rows)) {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b UsageRow) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), a.Time.Compare(b.Time), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Tool, b.Tool))
	})
	return rows
}
