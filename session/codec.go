package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// EncodeBody returns the kind of a body, and its JSON.
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
	k, known := kinds[kind]
	if !known {
		if kind == "" {
			return nil, fmt.Errorf("session: an entry without a kind")
		}
		return Opaque{Name: kind, JSON: append(json.RawMessage(nil), body...)}, nil
	}
	b, err := k.decode(body)
	if err != nil {
		return nil, fmt.Errorf("session: decode %s: %w", kind, err)
	}
	return b, nil
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
