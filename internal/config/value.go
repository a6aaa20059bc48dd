package config

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Value is a string of the configuration that may hold references. It does not show what it is: every way to print, log
// or encode it gives what was written, with [hidden] for what may be secret. The zero Value is not set. Copies share
// what they found out. A Value is safe for concurrent use.
type Value struct {
	shown string
	get   func(context.Context) (string, error) // a function, since printers of all kinds look into structs
	runs  func() bool                           // whether a command must run; nil: none does
}

// Literal returns a Value that is v, and that prints as shown, for what does not come from a file.
func Literal(v, shown string) Value {
	return Value{shown: shown, get: func(context.Context) (string, error) { return v, nil }}
}

// IsSet reports whether there is a value. It looks at no reference.
func (v Value) IsSet() bool { return v.get != nil }

// Get returns the value, "" where it is not set, with its references put in. Commands run at the first call and never
// again, unless ctx ended them; each has 10 seconds. The error is an [*Error] that says what is missing, or that of ctx.
// It holds nothing of the value, but may hold what a command wrote to its standard error.
func (v Value) Get(ctx context.Context) (string, error) {
	if v.get == nil {
		return "", nil
	}
	return v.get(ctx)
}

// Ready returns the value when it can be told without running a command: for those who must recognise secrets that were not
// asked for. It reports false for one that is not set, or wrong, or that a command prints.
func (v Value) Ready() (string, bool) {
	if v.get == nil || v.runs != nil && v.runs() {
		return "", false
	}
	text, err := v.get(context.Background())
	return text, err == nil
}

// String returns what may be seen of the value.
func (v Value) String() string { return v.shown }

// GoString is String in quotes.
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

// LogValue is String.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.shown) }
