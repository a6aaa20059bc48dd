package redact

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Value is a text that Get resolves, such as a key that a command prints. Every way to print, log or encode it shows the unresolved
// text with [Hidden] in place of secret parts. The zero Value is not set. Copies share the resolved text. A Value is safe for
// concurrent use.
type Value struct {
	shown string
	get   func(context.Context) (string, error) // a function, because many printers inspect structs
	runs  func() bool                           // whether a command must run; nil: none does
}

// Literal returns a Value that is v and prints as shown.
func Literal(v, shown string) Value {
	return Value{shown: shown, get: func(context.Context) (string, error) { return v, nil }}
}

// Lazy returns a Value that get resolves and that prints as shown. Runs reports whether get must run a command. It may be nil: then
// get runs none.
func Lazy(shown string, get func(context.Context) (string, error), runs func() bool) Value {
	return Value{shown, get, runs}
}

// IsSet reports whether there is a value. It resolves nothing.
func (v Value) IsSet() bool { return v.get != nil }

// Get resolves the value and returns it. It returns "" if the value is not set. The error comes from the function given to [Lazy].
func (v Value) Get(ctx context.Context) (string, error) {
	if v.get == nil {
		return "", nil
	}
	return v.get(ctx)
}

// Ready returns the value if it needs no command. Callers use it to recognize secrets before their first use. It reports
// false if the value is not set, is wrong, or comes from a command.
func (v Value) Ready() (string, bool) {
	if v.get == nil || v.runs != nil && v.runs() {
		return "", false
	}
	text, err := v.get(context.Background())
	return text, err == nil
}

// String returns the value with its secret parts hidden.
func (v Value) String() string { return v.shown }

// GoString returns String in quotes.
func (v Value) GoString() string { return fmt.Sprintf("%q", v.shown) }

// Format prints String for every verb.
func (v Value) Format(f fmt.State, verb rune) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		_, _ = io.WriteString(f, v.GoString())
		return
	}
	_, _ = io.WriteString(f, v.shown)
}

// MarshalJSON encodes String.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.shown) }

// LogValue returns String.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.shown) }
