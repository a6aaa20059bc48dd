package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/tenon-agent/tenon/session"
)

// Lines writes each entry as JSON on a line.
func Lines(ctx context.Context, w io.Writer, store session.Store, id session.SessionID) error {
	for e, err := range whole(ctx, store, id) {
		if err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(data, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes one object: {"format":"tenon.session","version":1,"session":summary,"entries":[...]}, an entry on a line.
func JSON(ctx context.Context, w io.Writer, store session.Store, s session.Summary) error {
	s.Owner = "" // of this moment alone
	summary, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"format\":\"tenon.session\",\"version\":1,\"session\":%s,\"entries\":[", summary); err != nil {
		return err
	}
	separator := "\n"
	for e, err := range whole(ctx, store, s.ID) {
		if err != nil {
			return err
		}
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, data); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err = io.WriteString(w, "\n]}\n")
	return err
}

// Options is what Markdown and HTML take beside the session.
type Options struct {
	// Content returns what a file contained, by its hash in a [session.FileState]. nil: that is not known.
	Content func(hash string) ([]byte, error)

	// Redact takes keys out of a text. nil: none is known. It is asked before anything is escaped.
	Redact func(string) string
}

// read yields the entries of a session without keys.
func (o Options) read(ctx context.Context, store session.Store, id session.SessionID) iter.Seq2[session.Event, error] {
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
	text := o.Redact(string(data))
	if text == string(data) {
		return b, nil
	}
	return session.DecodeBody(kind, []byte(text))
}

// text is a text without keys.
func (o Options) text(s string) string {
	if o.Redact == nil {
		return s
	}
	return o.Redact(s)
}
