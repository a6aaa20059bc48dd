package window

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// Seal records the contents of a request in the journal, just before it is sent. It completes the [session.Requested] among the entries
// that precede the request, or adds one. p is the path without these entries.
//
// Providers cache the beginnings of requests. Within an epoch, each request must therefore extend the previous one of its branch, byte
// for byte. If it does not, Requested.Broken names the first segment that differs, which is a defect of the program.
func Seal(ctx context.Context, p view.Path, entries []session.Body, req *llm.Request) ([]session.Body, error) {
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
	hashes := req.SegmentHashes()
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
		sealed.Hashes = hashes // readers need not look before the epoch
	}
	if at == len(entries) {
		return append(slices.Clone(entries), sealed), nil
	}
	entries = slices.Clone(entries)
	entries[at] = sealed
	return entries, nil
}

// lastRequest is the newest request on a path. fresh reports whether an epoch began after it.
func lastRequest(ctx context.Context, p view.Path) (_ *session.Requested, fresh bool, _ error) {
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

// common counts the segments at the beginning that a request shares with the previous one.
func common(ctx context.Context, p view.Path, before *session.Requested, hashes []string) (int, error) {
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

// hashesOf are the hashes of all segments of the newest request on a path. They are in its entry and in earlier ones of its epoch.
func hashesOf(ctx context.Context, p view.Path) ([]string, error) {
	var hashes []string
	missing := -1 // segments at the beginning
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

// segmentName names a segment.
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
