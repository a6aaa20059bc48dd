package window

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Seal says in the journal what a request is made of, just before it is sent: it completes the [session.Requested] among the entries
// that go before the request, or adds one. p is the path without these entries.
//
// Providers cache what requests begin with. Within an epoch each request must therefore go on from the one before it on its branch,
// byte for byte; where it does not, Requested.Broken names the first segment that is another one, and that is a defect of the program.
func Seal(ctx context.Context, p session.Path, entries []session.Body, req *llm.Request) ([]session.Body, error) {
	before, fresh, err := lastRequest(ctx, p)
	if err != nil {
		return nil, err
	}
	var sealed session.Requested
	at := len(entries)
	for i, b := range entries {
		switch b := b.(type) {
		case session.Requested:
			sealed, at = b, i
		case session.Epoch:
			fresh = true
		}
	}
	hashes := segments(req)
	sealed.Segments, sealed.Chain = len(hashes), chain(hashes)
	sealed.Same, err = common(ctx, p, before, hashes)
	if err != nil {
		return nil, err
	}
	if before != nil && !fresh && sealed.Same < before.Segments {
		sealed.Broken = segmentName(req, sealed.Same)
	}
	sealed.Hashes = hashes[sealed.Same:]
	if fresh {
		sealed.Hashes = hashes // nobody must look behind an epoch for what a request was made of
	}
	if at == len(entries) {
		return append(slices.Clone(entries), sealed), nil
	}
	entries = slices.Clone(entries)
	entries[at] = sealed
	return entries, nil
}

// lastRequest is the newest request on a path, and whether an epoch began after it.
func lastRequest(ctx context.Context, p session.Path) (_ *session.Requested, fresh bool, _ error) {
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, false, err
		}
		switch b := e.Body.(type) {
		case session.Requested:
			return &b, fresh, nil
		case session.Epoch:
			fresh = true
		}
	}
	return nil, fresh, nil
}

// common counts the segments with which both this request and the one before it begin.
func common(ctx context.Context, p session.Path, before *session.Requested, hashes []string) (int, error) {
	switch {
	case before == nil:
		return 0, nil
	case len(hashes) >= before.Segments && chain(hashes[:before.Segments]) == before.Chain:
		return before.Segments, nil
	}
	old, err := hashesOf(ctx, p)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < len(old) && n < len(hashes) && old[n] == hashes[n] {
		n++
	}
	return n, nil
}

// hashesOf is the hashes of all segments of the newest request on a path, which lie in it and in those of its epoch that it goes on from.
func hashesOf(ctx context.Context, p session.Path) ([]string, error) {
	var hashes []string
	missing := -1 // of the segments at the beginning
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		r, ok := e.Body.(session.Requested)
		if !ok {
			continue
		}
		if missing < 0 {
			hashes, missing = make([]string, r.Segments), r.Segments
		}
		first := max(0, r.Segments-len(r.Hashes))
		for i, h := range r.Hashes {
			if at := first + i; at < missing {
				hashes[at] = h
			}
		}
		if missing = min(missing, first); missing == 0 {
			break
		}
	}
	return hashes, nil
}

// chain is the hash of hashes.
func chain(hashes []string) string {
	h := sha256.New()
	for _, one := range hashes {
		_, _ = io.WriteString(h, one)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// segments is the hashes of what a request is made of, in the order in which providers cache it: the tools, the system prompt, the
// messages.
func segments(req *llm.Request) []string {
	hashes := make([]string, 0, len(req.Tools)+1+len(req.Messages))
	w := segmentWriter{hash: sha256.New()}
	for _, t := range req.Tools {
		w.text(t.Name, t.Description, string(t.Schema))
		hashes = append(hashes, w.sum())
	}
	w.text(req.System)
	hashes = append(hashes, w.sum())
	for _, m := range req.Messages {
		w.message(m)
		hashes = append(hashes, w.sum())
	}
	return hashes
}

// segmentName names a segment for people.
func segmentName(req *llm.Request, n int) string {
	switch {
	case n < len(req.Tools):
		return "the tool " + req.Tools[n].Name
	case n == len(req.Tools):
		return "the system prompt"
	}
	n -= len(req.Tools) + 1
	if n >= len(req.Messages) {
		return fmt.Sprintf("message %d, which is missing", n+1)
	}
	m := req.Messages[n]
	if m.Role == llm.RoleTool {
		return fmt.Sprintf("message %d, the result of %s", n+1, m.Tool)
	}
	return fmt.Sprintf("message %d, of the %s", n+1, m.Role)
}

// segmentWriter writes what of a segment reaches a provider, each part with its length, so that no two segments are the same bytes.
type segmentWriter struct {
	hash    hash.Hash
	scratch []byte
}

func (w *segmentWriter) text(parts ...string) {
	for _, p := range parts {
		w.scratch = binary.LittleEndian.AppendUint64(w.scratch[:0], uint64(len(p)))
		w.scratch = append(w.scratch, p...)
		_, _ = w.hash.Write(w.scratch)
	}
}

func (w *segmentWriter) message(m llm.Message) {
	w.text(string(m.Role), m.CallID, m.Tool, fmt.Sprint(m.IsError))
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			w.text("text", p.Text, string(p.Opaque))
		case llm.Thinking:
			w.text("thinking", p.Text, p.Signature, string(p.Opaque))
		case llm.ToolCall:
			w.text("call", p.ID, p.Name, p.Arguments, string(p.Opaque))
		case llm.Image:
			w.text("image", p.MIME, p.Blob, string(p.Data))
		case llm.Document:
			w.text("document", p.MIME, p.Name, p.Blob, string(p.Data))
		case llm.UnknownPart:
			w.text("unknown", p.Type, string(p.JSON))
		}
	}
}

// sum ends the segment.
func (w *segmentWriter) sum() string {
	var sum [sha256.Size]byte
	w.hash.Sum(sum[:0])
	w.hash.Reset()
	return hex.EncodeToString(sum[:8])
}
