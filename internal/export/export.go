package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Lines writes each entry as one line of JSON.
func Lines(ctx context.Context, w io.Writer, store index.Store, id session.SessionID) error {
	return encode(ctx, w, store, id, "", "\n")
}

// encode writes each entry as JSON between two texts.
func encode(ctx context.Context, w io.Writer, store index.Store, id session.SessionID, before, after string) error {
	for e, err := range whole(ctx, store, id) {
		if err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s%s", before, data, after); err != nil {
			return err
		}
		if before != "" {
			before = ",\n"
		}
	}
	return nil
}

// JSON writes one object: {"format":"tenon.session","version":1,"session":summary,"entries":[...]}, an entry on a line.
func JSON(ctx context.Context, w io.Writer, store index.Store, s index.Summary) error {
	s.Owner = "" // it is true at this moment only
	summary, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"format\":\"tenon.session\",\"version\":1,\"session\":%s,\"entries\":[", summary); err != nil {
		return err
	}
	if err := encode(ctx, w, store, s.ID, "\n", ""); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n]}\n")
	return err
}

// Options are the options of Markdown and HTML.
type Options struct {
	// Content returns saved contents of a file by its hash in a [session.FileState]. It may be nil.
	Content func(hash string) ([]byte, error)

	// Redact removes keys from a text, before the text is escaped. It may be nil.
	Redact func(string) string
}

// read yields the entries of a session without keys.
func (o Options) read(ctx context.Context, store index.Store, id session.SessionID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range whole(ctx, store, id) {
			if err == nil && o.Redact != nil {
				e.Body, err = o.clean(e.Body)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (o Options) clean(b session.Body) (session.Body, error) {
	kind, data, err := session.EncodeBody(b)
	if err != nil {
		return nil, err
	}
	if b, ok := b.(session.Opaque); ok {
		b.Name = o.Redact(b.Name)
		return b, nil // people see its name only
	}
	text := o.Redact(string(data))
	if text == string(data) {
		return b, nil
	}
	return session.DecodeBody(kind, []byte(text))
}

// text returns a text without keys.
func (o Options) text(s string) string {
	if o.Redact == nil {
		return s
	}
	return o.Redact(s)
}
