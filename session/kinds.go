package session

import (
	"maps"
	"reflect"
	"slices"

	"github.com/tenon-agent/tenon/session/internal/place"
	"github.com/tenon-agent/tenon/session/live"
)

// kinds is the table of all kinds of bodies but [Opaque]. Check and the codec accept no other. To add a kind, write its type in
// body.go, its methods below, and its row here.
var kinds = byName(
	row[Created](),
	row[Message](),
	row[Partial](),
	row[Discarded](),
	row[Decision](),
	row[CallStarted](),
	row[RunStarted](),
	row[RunEnded](),
	row[Epoch](),
	row[Requested](),
	row[Context](),
	row[Summarized](),
	row[Trimmed](),
	row[Cleanup](),
	row[Revert](),
	row[ModelChanged](),
	row[Head](),
	row[Rejected](),
	row[Todo](),
	row[Title](),
	row[Tags](),
	row[Pin](),
	row[Deleted](),
	row[Note](),
	row[FilesChanged](),
	row[Queued](),
	row[Asking](),
	row[Answered](),
	row[Asked](),
	row[Abort](),
	row[Change](),
	row[Changed](),
	row[LimitsChanged](),
	row[TaskCreated](),
	row[TaskStarted](),
	row[TaskSettled](),
	row[Mail](),
	row[Goal](),
	row[ParallelStarted](),
	row[ParallelEnded](),
	row[live.TurnStarted](),
	row[live.TurnEnded](),
	row[live.MessageStarted](),
	row[live.Delta](),
	row[live.CallReady](),
	row[live.Progress](),
	row[live.Waiting](),
	row[live.Reset](),
	row[live.Routed](),
	row[live.RateLimits](),
	row[live.Spending](),
	row[live.Compacting](),
	row[live.Notice](),
)

// Kinds returns the kinds that this version knows, in no order.
func Kinds() []string { return slices.Collect(maps.Keys(kinds)) }

func (Created) Kind() string       { return "created" }
func (Message) Kind() string       { return "message" }
func (Partial) Kind() string       { return "partial" }
func (Discarded) Kind() string     { return "discarded" }
func (Decision) Kind() string      { return "decision" }
func (CallStarted) Kind() string   { return "call_started" }
func (RunStarted) Kind() string    { return "run_started" }
func (RunEnded) Kind() string      { return "run_ended" }
func (Epoch) Kind() string         { return "epoch" }
func (Requested) Kind() string     { return "requested" }
func (Context) Kind() string       { return "context" }
func (Summarized) Kind() string    { return "summary" }
func (Trimmed) Kind() string       { return "trimmed" }
func (Cleanup) Kind() string       { return "cleanup" }
func (Revert) Kind() string        { return "revert" }
func (ModelChanged) Kind() string  { return "model_changed" }
func (Head) Kind() string          { return "head" }
func (Rejected) Kind() string      { return "rejected" }
func (Todo) Kind() string          { return "todo" }
func (Title) Kind() string         { return "title" }
func (Tags) Kind() string          { return "tags" }
func (Pin) Kind() string           { return "pin" }
func (Deleted) Kind() string       { return "deleted" }
func (Note) Kind() string          { return "note" }
func (FilesChanged) Kind() string  { return "files_changed" }
func (Queued) Kind() string        { return "queued" }
func (Asking) Kind() string        { return "asking" }
func (Answered) Kind() string      { return "answered" }
func (Asked) Kind() string         { return "asked" }
func (Abort) Kind() string         { return "abort" }
func (Change) Kind() string        { return "change" }
func (Changed) Kind() string       { return "changed" }
func (LimitsChanged) Kind() string { return "limits_changed" }
func (o Opaque) Kind() string      { return o.Name }

func (Created) Place() place.Place       { return place.Branch }
func (Message) Place() place.Place       { return place.Branch }
func (Partial) Place() place.Place       { return place.Branch }
func (Discarded) Place() place.Place     { return place.Branch }
func (Decision) Place() place.Place      { return place.Branch }
func (CallStarted) Place() place.Place   { return place.Branch }
func (RunStarted) Place() place.Place    { return place.Branch }
func (RunEnded) Place() place.Place      { return place.Branch }
func (Epoch) Place() place.Place         { return place.Branch }
func (Requested) Place() place.Place     { return place.Branch }
func (Context) Place() place.Place       { return place.Branch }
func (Summarized) Place() place.Place    { return place.Branch }
func (Trimmed) Place() place.Place       { return place.Branch }
func (Cleanup) Place() place.Place       { return place.Branch }
func (Revert) Place() place.Place        { return place.Branch }
func (ModelChanged) Place() place.Place  { return place.Branch }
func (Head) Place() place.Place          { return place.Branch }
func (Rejected) Place() place.Place      { return place.Branch }
func (Todo) Place() place.Place          { return place.Branch }
func (Title) Place() place.Place         { return place.Aside }
func (Tags) Place() place.Place          { return place.Aside }
func (Pin) Place() place.Place           { return place.Aside }
func (Deleted) Place() place.Place       { return place.Aside }
func (Note) Place() place.Place          { return place.Aside }
func (FilesChanged) Place() place.Place  { return place.Aside }
func (Queued) Place() place.Place        { return place.Aside }
func (Asking) Place() place.Place        { return place.Aside }
func (Answered) Place() place.Place      { return place.Aside }
func (Asked) Place() place.Place         { return place.Aside }
func (Abort) Place() place.Place         { return place.Aside }
func (Change) Place() place.Place        { return place.Aside }
func (Changed) Place() place.Place       { return place.Aside }
func (LimitsChanged) Place() place.Place { return place.Aside }
func (Opaque) Place() place.Place        { return place.Branch }

// kind is a row of the table.
type kind struct {
	name   string
	of     reflect.Type
	decode func(data []byte) (Body, error)
}

func row[B Body]() kind {
	return kind{(*new(B)).Kind(), reflect.TypeFor[B](), decode[B]}
}

func byName(rows ...kind) map[string]kind {
	table := make(map[string]kind, len(rows))
	for _, r := range rows {
		table[r.name] = r
	}
	return table
}
