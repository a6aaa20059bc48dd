package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// The kinds of the bodies in body.go, in its order.

func (Created) Kind() string        { return "created" }
func (Message) Kind() string        { return "message" }
func (Partial) Kind() string        { return "partial" }
func (Discarded) Kind() string      { return "discarded" }
func (Decision) Kind() string       { return "decision" }
func (CallStarted) Kind() string    { return "call_started" }
func (RunStarted) Kind() string     { return "run_started" }
func (RunEnded) Kind() string       { return "run_ended" }
func (Epoch) Kind() string          { return "epoch" }
func (Requested) Kind() string      { return "requested" }
func (Context) Kind() string        { return "context" }
func (Digest) Kind() string         { return "digest" }
func (Reduced) Kind() string        { return "reduced" }
func (Cleanup) Kind() string        { return "cleanup" }
func (Revert) Kind() string         { return "revert" }
func (ModelChanged) Kind() string   { return "model_changed" }
func (Head) Kind() string           { return "head" }
func (Rejected) Kind() string       { return "rejected" }
func (Todo) Kind() string           { return "todo" }
func (Title) Kind() string          { return "title" }
func (Tags) Kind() string           { return "tags" }
func (Pin) Kind() string            { return "pin" }
func (Deleted) Kind() string        { return "deleted" }
func (Note) Kind() string           { return "note" }
func (FilesChanged) Kind() string   { return "files_changed" }
func (Queued) Kind() string         { return "queued" }
func (Import) Kind() string         { return "import" }
func (o Opaque) Kind() string       { return o.Name }
func (TurnStarted) Kind() string    { return "turn_started" }
func (TurnEnded) Kind() string      { return "turn_ended" }
func (MessageStarted) Kind() string { return "message_started" }
func (Delta) Kind() string          { return "delta" }
func (CallReady) Kind() string      { return "call_ready" }
func (Progress) Kind() string       { return "progress" }
func (Waiting) Kind() string        { return "waiting" }
func (Reset) Kind() string          { return "reset" }
func (Routed) Kind() string         { return "routed" }
func (RateLimits) Kind() string     { return "rate_limits" }
func (Asking) Kind() string         { return "asking" }
func (Asked) Kind() string          { return "asked" }
func (Compacting) Kind() string     { return "compacting" }
func (Notice) Kind() string         { return "notice" }

// OnBranch reports whether an entry with this body continues a branch. The others, such as titles and notes, have no
// parent and no children.
func OnBranch(b Body) bool {
	switch b.(type) {
	case Title, Tags, Pin, Deleted, Note, FilesChanged, Queued, Import:
		return false
	default:
		return true
	}
}

// Passing reports whether b is of a kind that is never an entry.
func Passing(b Body) bool {
	switch b.(type) {
	case TurnStarted, TurnEnded, MessageStarted, Delta, CallReady, Progress, Waiting, Reset, Routed, RateLimits, Asking, Asked,
		Compacting, Notice:
		return true
	default:
		return false
	}
}

// EncodeBody returns the kind and the JSON of a body.
func EncodeBody(b Body) (kind string, body json.RawMessage, err error) {
	switch b := b.(type) {
	case nil:
		return "", nil, fmt.Errorf("session: an event without a body")
	case Opaque:
		return b.Name, b.JSON, nil
	}
	body, err = json.Marshal(b)
	if err != nil {
		return "", nil, fmt.Errorf("session: encode %s: %w", b.Kind(), err)
	}
	return b.Kind(), body, nil
}

// DecodeBody is the inverse of [EncodeBody]. A kind that this version does not know becomes an [Opaque]; a body that does
// not fit its known kind is an error.
func DecodeBody(kind string, body []byte) (Body, error) {
	decode, known := decoders[kind]
	if !known {
		if kind == "" {
			return nil, fmt.Errorf("session: an entry without a kind")
		}
		return Opaque{Name: kind, JSON: append(json.RawMessage(nil), body...)}, nil
	}
	b, err := decode(body)
	if err != nil {
		return nil, fmt.Errorf("session: decode %s: %w", kind, err)
	}
	return b, nil
}

var decoders = map[string]func([]byte) (Body, error){
	"created":         decode[Created],
	"message":         decode[Message],
	"partial":         decode[Partial],
	"discarded":       decode[Discarded],
	"decision":        decode[Decision],
	"call_started":    decode[CallStarted],
	"run_started":     decode[RunStarted],
	"run_ended":       decode[RunEnded],
	"epoch":           decode[Epoch],
	"requested":       decode[Requested],
	"context":         decode[Context],
	"digest":          decode[Digest],
	"reduced":         decode[Reduced],
	"cleanup":         decode[Cleanup],
	"revert":          decode[Revert],
	"model_changed":   decode[ModelChanged],
	"head":            decode[Head],
	"rejected":        decode[Rejected],
	"todo":            decode[Todo],
	"title":           decode[Title],
	"tags":            decode[Tags],
	"pin":             decode[Pin],
	"deleted":         decode[Deleted],
	"note":            decode[Note],
	"files_changed":   decode[FilesChanged],
	"import":          decode[Import],
	"queued":          decode[Queued],
	"turn_started":    decode[TurnStarted],
	"turn_ended":      decode[TurnEnded],
	"message_started": decode[MessageStarted],
	"delta":           decode[Delta],
	"call_ready":      decode[CallReady],
	"progress":        decode[Progress],
	"waiting":         decode[Waiting],
	"reset":           decode[Reset],
	"routed":          decode[Routed],
	"rate_limits":     decode[RateLimits],
	"asking":          decode[Asking],
	"asked":           decode[Asked],
	"compacting":      decode[Compacting],
	"notice":          decode[Notice],
}

func decode[B Body](data []byte) (Body, error) {
	var b B
	err := json.Unmarshal(data, &b)
	return b, err
}

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}
