package keys

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Hidden is what a key looks like wherever it is printed.
const Hidden = "[hidden]"

// maxKey is how many bytes a key may have.
const maxKey = 16 << 10

// Key is a secret that does not print itself: however it is formatted, logged or encoded, it is "[hidden]". Only
// [Key.Reveal] tells it. The zero value is no key. Keys are not to be compared with ==.
type Key struct{ secret *string } // a pointer, because fmt shows what is in unexported fields without asking for a method

// New returns the key that is in text, without the white space around it. The error says what is wrong with it and does not
// show it.
func New(text string) (Key, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the key is empty")
	}
	if len(text) > maxKey {
		return Key{}, fmt.Errorf("the key has %d bytes, more than %d: this is something else", len(text), maxKey)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c == 0x7f:
			return Key{}, fmt.Errorf("the key has white space or a control character at byte %d: was more copied than the key, or a line broken?", i)
		case c > 0x7f:
			return Key{}, fmt.Errorf("the key has a character at byte %d that no key has: was it copied from formatted text?", i)
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

// Hint returns the last four characters, by which people tell their keys apart, or nothing when the key is shorter than 16.
func (k Key) Hint() string {
	s := k.Reveal()
	if len(s) < 16 {
		return ""
	}
	return s[len(s)-4:]
}

func (k Key) String() string               { return Hidden }
func (k Key) GoString() string             { return Hidden }
func (k Key) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(Hidden)) }
func (k Key) MarshalJSON() ([]byte, error) { return []byte(`"` + Hidden + `"`), nil }
func (k Key) MarshalText() ([]byte, error) { return []byte(Hidden), nil }
func (k Key) LogValue() slog.Value         { return slog.StringValue(Hidden) }
