package keys

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/tenon-agent/tenon/redact"
)

// maxKey is the maximum length of a key in bytes.
const maxKey = 16 << 10

// Key is a secret that does not print itself: every way to format, log or encode it yields "[hidden]". Only [Key.Reveal]
// returns the secret. The zero value is no key. Do not compare keys with ==.
type Key struct{ secret *string } // a pointer, because fmt prints unexported fields without calling their methods

// New returns the key in text, without the white space around it. The error describes the mistake and does not show the
// key.
func New(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the key is empty")
	}
	if len(text) > maxKey {
		return Key{}, fmt.Errorf("the key has %d bytes, more than %d; check that you copied only the key", len(text), maxKey)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c == 0x7f:
			return Key{}, fmt.Errorf("the key has white space or a control character at byte %d; copy only the key, without line breaks", i)
		case c > 0x7f:
			return Key{}, fmt.Errorf("the key has a character at byte %d that is not ASCII; copy the key from plain text", i)
		}
	}
	return Key{&text}, nil
}

// Reveal returns the secret.
func (k Key) Reveal() string {
	if k.secret == nil {
		return ""
	}
	return *k.secret
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.secret == nil }

// Hint returns the last four characters, which help a person to identify the key. It returns "" if the key is shorter than 16.
func (k Key) Hint() string {
	s := k.Reveal()
	if len(s) < 16 {
		return ""
	}
	return s[len(s)-4:]
}

func (k Key) String() string               { return redact.Hidden }
func (k Key) GoString() string             { return redact.Hidden }
func (k Key) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redact.Hidden)) }
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redact.Hidden + `"`), nil }
func (k Key) MarshalText() ([]byte, error) { return []byte(redact.Hidden), nil }
func (k Key) LogValue() slog.Value         { return slog.StringValue(redact.Hidden) }
