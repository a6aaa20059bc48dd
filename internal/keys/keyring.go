package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the service name of Tenon's keys in the keyring.
const service = "tenon"

// ErrUnavailable reports that a key is in the system's keyring, and that the keyring does not answer or is turned off.
var ErrUnavailable = errors.New("the system's keyring is not available")

// Keyring stores secrets. [System] is the keyring of the operating system; tests have others. Its methods may block without
// limit. Get and Delete return [keyring.ErrNotFound] if the secret does not exist.
type Keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// System returns the operating system's keyring: Keychain, Credential Manager, or Secret Service over D-Bus.
func System() Keyring { return system{} }

type system struct{}

func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (system) Set(service, user, secret string) error   { return keyring.Set(service, user, secret) }
func (system) Delete(service, user string) error        { return keyring.Delete(service, user) }

// ring calls a keyring with a timeout.
type ring struct {
	keyring Keyring // nil: turned off
	off     string  // the reason, as a text
	timeout time.Duration
}

// errOff returns the error of a keyring that is turned off.
func (r *ring) errOff() error { return fmt.Errorf("%w: %s", ErrUnavailable, r.off) }

func (r *ring) get(ctx context.Context, user string) (string, error) {
	k := r.keyring
	return r.ask(ctx, func() (string, error) { return k.Get(service, user) }, nil)
}

func (r *ring) set(ctx context.Context, user, secret string) error {
	k := r.keyring
	_, err := r.ask(ctx, func() (string, error) { return "", k.Set(service, user, secret) }, func() { _ = k.Delete(service, user) })
	return err
}

func (r *ring) delete(ctx context.Context, user string) error {
	k := r.keyring // f may run after ask has returned
	_, err := r.ask(ctx, func() (string, error) { return "", k.Delete(service, user) }, nil)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// answer is the answer of a keyring.
type answer struct {
	secret string
	err    error
}

// ask calls f in a goroutine, because f may hang. If f takes longer than the timeout, ask turns the keyring off and returns.
// If f succeeds after ask has returned, the goroutine calls undo. The error is a keyring.ErrNotFound, the error of ctx, or an
// ErrUnavailable.
func (r *ring) ask(ctx context.Context, f func() (string, error), undo func()) (string, error) {
	if r.keyring == nil {
		return "", r.errOff()
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	answers, gone := make(chan answer), make(chan struct{})
	go func() {
		secret, err := f()
		select {
		case answers <- answer{secret, err}:
		case <-gone:
			if err == nil && undo != nil {
				undo()
			}
		}
	}()
	patience := time.NewTimer(r.timeout)
	defer patience.Stop()
	select {
	case a := <-answers:
		if a.err == nil || errors.Is(a.err, keyring.ErrNotFound) {
			return a.secret, a.err
		}
		return "", fmt.Errorf("%w (%v); set TENON_KEYRING=off to keep keys in a file", ErrUnavailable, a.err)
	case <-ctx.Done():
		close(gone)
		return "", ctx.Err()
	case <-patience.C:
		close(gone)
		r.keyring, r.off = nil, fmt.Sprintf("it did not answer within %v; set TENON_KEYRING=off to keep keys in a file", r.timeout)
		return "", r.errOff()
	}
}
