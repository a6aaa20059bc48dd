package ledger

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Request is one request of a session with its result.
type Request struct {
	Number int           `json:"number"` // in its session, from 1
	Entry  session.Event `json:"-"`      // the [session.Requested]
	Run    session.RunID `json:"-"`
	Agent  string        `json:"-"`     // as [index.AgentOf] names it
	Model  string        `json:"model"` // "provider/model" that was asked

	Segments int    `json:"segments"`        // that it was made of
	Same     int    `json:"same"`            // of these, at its beginning, that are those of the request before on its branch
	Estimate int64  `json:"estimate"`        // tokens, as the window saw it
	Epoch    string `json:"epoch,omitzero"`  // why one began with it; empty: none did
	Broken   string `json:"broken,omitzero"` // which segment changed within an epoch: a defect

	Answer   session.ID `json:"-"`                 // the answer; empty: there is none
	Answered string     `json:"answered,omitzero"` // "provider/model" that wrote it
	Usage    llm.Usage  `json:"-"`                 // that was reported for it

	First    bool          `json:"-"`             // there is none before it on its branch
	Idle     time.Duration `json:"-"`             // since the last request of the session
	Reusable int64         `json:"reusable"`      // tokens that it begins with as the request before did
	Before   int64         `json:"-"`             // tokens of the request before
	Miss     Miss          `json:"miss,omitzero"` // the cause of a cache miss; empty: none
	Lost     int64         `json:"lost"`          // tokens that the provider read again although its cache could have had them
	Cost     float64       `json:"-"`             // of the lost tokens, in US dollars, as far as prices are known

	answerSeq int64

	begun session.ID     // the request before on its branch
	epoch *session.Epoch // it is in; nil: none, which no agent writes
}

// Miss is the reason why a provider read tokens again that its cache could have had.
type Miss string

// The reasons, in the order in which they are looked for.
const (
	Hit         Miss = ""            // the cache had all, or nearly all
	Unreported  Miss = "unreported"  // the provider reported no input tokens
	Small       Miss = "small"       // the provider does not cache such a short prefix
	Expired     Miss = "expired"     // it was too long ago
	Broken      Miss = "broken"      // earlier bytes changed within an epoch: a defect
	NewEpoch    Miss = "epoch"       // earlier bytes changed, as the journal says
	OtherModel  Miss = "model"       // another model of a pool answered
	NoCache     Miss = "no_cache"    // the provider reports no cache at all in this session
	Unexplained Miss = "unexplained" // the provider had it, as far as is known, and did not use it
)

// Misses returns the reasons in display order.
func Misses() []Miss {
	return []Miss{NewEpoch, Expired, OtherModel, Small, Broken, NoCache, Unreported, Unexplained}
}

// kept is how long providers keep a prefix, unless they say otherwise.
const kept = 5 * time.Minute

// nearly is the share of the reusable tokens that counts as all of them: providers keep blocks, not tokens.
const nearly = 0.9

// Requests returns the requests of a session on all of its branches, in the order in which they were sent. It reads only the entries
// that belong to them.
func Requests(ctx context.Context, store index.Store, id session.SessionID) ([]Request, error) {
	b, err := read(ctx, store, id)
	if err != nil {
		return nil, err
	}
	return b.requests, b.count(ctx)
}

// read is [Requests] without the number of reusable tokens, which needs a part of the conversation.
func read(ctx context.Context, store index.Store, id session.SessionID) (*book, error) {
	b := &book{store: store, id: id, at: make(map[session.ID]place), models: make(map[string]llm.Model), agents: make(map[session.RunID]string)}
	for e, err := range store.Read(ctx, id, 0, marks...) {
		if err == nil {
			err = b.enter(ctx, e)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := b.answers(ctx); err != nil {
		return nil, err
	}
	b.judge()
	return b, nil
}

// marks are the kinds of entries that determine the predecessor of a request.
var marks = []string{
	session.Created{}.Kind(), session.RunStarted{}.Kind(), session.Epoch{}.Kind(), session.Requested{}.Kind(), session.Head{}.Kind(),
}

// book is the journal as far as it was read.
type book struct {
	store    index.Store
	id       session.SessionID
	requests []Request
	origin   *Request             // the last one that a fork inherited; nil: none
	here     place                // at the entry that was read last
	at       map[session.ID]place // at the marks
	models   map[string]llm.Model
	agents   map[session.RunID]string
	epoch    *session.Epoch // the last one
}

// place is an entry and its predecessor on the branch.
type place struct {
	request session.ID     // the newest request; empty: none
	reason  string         // why an epoch began since; empty: none did
	epoch   *session.Epoch // the newest; nil: none
}

// enter reads the next mark.
func (b *book) enter(ctx context.Context, e session.Event) (err error) {
	switch body := e.Body.(type) {
	case session.Created:
		if body.Fork {
			b.here, err = b.inherit(ctx, e.ID)
		}
	case session.Head:
		b.here, err = b.goBack(ctx, e)
	case session.RunStarted:
		b.agents[body.Run] = index.AgentOf(body)
	case session.Epoch:
		b.here.reason, b.here.epoch = body.Reason, b.begin(body)
	case session.Requested:
		b.request(e, body, b.here)
		b.here = place{request: e.ID, epoch: b.here.epoch}
	}
	b.at[e.ID] = b.here
	return err
}

// begin records an epoch. Equal epochs are one in memory.
func (b *book) begin(e session.Epoch) *session.Epoch {
	b.models[e.Model.Ref()] = e.Model
	e = session.Epoch{Model: e.Model, System: e.System, Tools: e.Tools} // nothing else is asked for
	if b.epoch == nil || !reflect.DeepEqual(*b.epoch, e) {
		b.epoch = &e
	}
	return b.epoch
}

// goBack is the place that a head continues from: that of the newest mark before it on its branch.
func (b *book) goBack(ctx context.Context, head session.Event) (place, error) {
	for e, err := range b.store.Backward(ctx, b.id, head.ID) {
		if err != nil {
			return place{}, err
		}
		if e.ID != head.ID && slices.Contains(marks, e.Body.Kind()) {
			return b.at[e.ID], nil // none of an inherited one
		}
	}
	return place{}, nil
}

// answers finds the answer to every request: the model's message before the next request.
func (b *book) answers(ctx context.Context) error {
	for i := range b.requests {
		r := &b.requests[i]
		next := int64(math.MaxInt64)
		if i+1 < len(b.requests) {
			next = b.requests[i+1].Entry.Seq
		}
		for e, err := range b.store.Read(ctx, b.id, r.Entry.Seq, session.Message{}.Kind()) {
			if err != nil {
				return err
			}
			if e.Seq > next {
				break
			}
			if m := e.Body.(session.Message); m.Role == llm.RoleAssistant {
				r.Answer, r.answerSeq, r.Answered, r.Usage = e.ID, e.Seq, m.Model, m.Usage
				break
			}
		}
	}
	return nil
}

func (b *book) request(e session.Event, body session.Requested, p place) {
	r := Request{
		Number: len(b.requests) + 1, Entry: e, Run: e.Run, Agent: b.agents[e.Run], Model: body.Model,
		Segments: body.Segments, Same: body.Same,
		Estimate: body.Estimate, Epoch: p.reason, Broken: body.Broken, First: p.request == "",
		begun: p.request, epoch: p.epoch,
	}
	if r.Model == "" && p.epoch != nil {
		r.Model = p.epoch.Model.Ref()
	}
	if n := len(b.requests); n > 0 {
		r.Idle = e.Time.Sub(b.requests[n-1].Entry.Time)
	} else if b.origin != nil {
		r.Idle = e.Time.Sub(b.origin.Entry.Time)
	}
	b.requests = append(b.requests, r)
}

// inherit looks for the last request before a fork.
func (b *book) inherit(ctx context.Context, created session.ID) (place, error) {
	var p place
	var answer session.Event
	for e, err := range b.store.Backward(ctx, b.id, created) {
		if err != nil {
			return place{}, err
		}
		switch body := e.Body.(type) {
		case session.Message:
			if body.Role == llm.RoleAssistant {
				answer = e
			}
		case session.Requested:
			if b.origin != nil {
				continue // the epoch is looked for
			}
			b.origin = &Request{Entry: e, Model: body.Model, Segments: body.Segments, Estimate: body.Estimate}
			if m, ok := answer.Body.(session.Message); ok {
				b.origin.Answer, b.origin.Answered, b.origin.Usage = answer.ID, m.Model, m.Usage
			}
			p.request = e.ID
		case session.Epoch:
			epoch := b.begin(body)
			if p.epoch == nil {
				p.epoch = epoch
			}
			if b.origin == nil {
				p.reason = cmp.Or(p.reason, body.Reason)
				continue
			}
			b.origin.epoch = epoch
			return p, nil
		}
	}
	return p, nil
}

// judge finds the cause of every cache miss.
func (b *book) judge() {
	caching := make(map[string]bool) // models that reported a cache
	for _, r := range b.requests {
		caching[r.Answered] = caching[r.Answered] || r.Usage.CacheRead+r.Usage.CacheWrite > 0
	}
	for r, before := range b.following() {
		r.Before = prompt(*before)
		r.judge(before, caching[r.Answered])
		if caching[r.Answered] {
			r.Cost = b.price(r)
		} else {
			r.Lost = 0 // nothing could be had
		}
	}
}

// count computes how much of every request the cache could have had.
func (b *book) count(ctx context.Context) error {
	for r, before := range b.following() {
		if r.Reusable = r.Before; r.Same >= before.Segments {
			continue
		}
		var err error
		if r.Reusable, err = b.begins(ctx, before, r.Same); err != nil {
			return err
		}
	}
	return nil
}

// following yields each request that continues from another one, with its predecessor.
func (b *book) following() iter.Seq2[*Request, *Request] {
	return func(yield func(r, before *Request) bool) {
		byEntry := make(map[session.ID]*Request, len(b.requests))
		if b.origin != nil {
			byEntry[b.origin.Entry.ID] = b.origin
		}
		for i := range b.requests {
			r := &b.requests[i]
			byEntry[r.Entry.ID] = r
			if before := byEntry[r.begun]; before != nil && !yield(r, before) {
				return
			}
		}
	}
}

// prompt is how many tokens a request had.
func prompt(r Request) int64 {
	if n := r.Usage.Prompt(); n > 0 {
		return n
	}
	return r.Estimate
}

// judge finds the cause of a cache miss.
func (r *Request) judge(before *Request, caching bool) {
	possible := min(r.Before, prompt(*r))
	had := r.Usage.CacheRead
	switch {
	case r.Answer == "":
		return
	case r.Usage.Prompt() == 0:
		r.Miss = Unreported
		return
	case float64(had) >= nearly*float64(possible):
		return
	}
	r.Lost = possible - had
	switch {
	case possible < least(r.Answered):
		r.Miss = Small
	case caching && r.Idle > kept:
		r.Miss = Expired
	case r.Broken != "":
		r.Miss = Broken
	case r.Epoch != "" && r.Same < before.Segments:
		r.Miss = NewEpoch
	case before.Answered != "" && before.Answered != r.Answered:
		r.Miss = OtherModel
	case !caching:
		r.Miss = NoCache
	default:
		r.Miss = Unexplained
	}
}

// least is the smallest number of tokens that a provider caches, according to its documentation.
func least(model string) int64 {
	provider, id, _ := strings.Cut(model, "/")
	switch tokens.FamilyOf(llm.Model{Provider: provider, ID: id}) {
	case tokens.Anthropic:
		switch {
		case strings.Contains(id, "haiku-4"), strings.Contains(id, "opus-4-5"), strings.Contains(id, "opus-4-6"):
			return 4096
		case strings.Contains(id, "haiku"):
			return 2048
		}
		return 1024
	case tokens.OpenAI, tokens.Gemini:
		return 1024
	default:
		return 0
	}
}

// price is the cost of the lost tokens.
func (b *book) price(r *Request) float64 {
	p := b.models[r.Answered].Price
	if p.CacheRead <= 0 || r.Lost == 0 {
		return 0
	}
	paid := p.Input
	if r.Usage.CacheWrite >= r.Lost && p.CacheWrite > 0 {
		paid = p.CacheWrite
	}
	return max(0, paid-p.CacheRead) * float64(r.Lost) / 1e6
}

// begins counts the tokens of the first segments of a request. Most epochs keep the tools and the system prompt and no message, so
// begins reads the messages only if some of them stay.
func (b *book) begins(ctx context.Context, r *Request, segments int) (int64, error) {
	if segments == 0 {
		return 0, nil
	}
	if r.epoch == nil {
		return 0, errors.New("ledger: a request without an epoch")
	}
	tools := r.epoch.Tools
	req := llm.Request{Tools: tools[:min(segments, len(tools))]}
	if segments > len(tools) {
		req.System = r.epoch.System
	}
	if messages := segments - len(tools) - 1; messages > 0 {
		view, err := window.Look(ctx, view.Stored(b.store, b.id, r.Entry.ID))
		if err != nil {
			return 0, err
		}
		req.Messages = view.Messages[:min(messages, len(view.Messages))]
	}
	scale := tokens.Start(r.epoch.Model)
	return int64(scale.Tokens(scale.Family().Request(&req))), nil
}
