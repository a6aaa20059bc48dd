package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the name under which the keyring has our keys.
const service = "tenon"

// ErrUnavailable is returned when a key is in the system's keyring, and that does not answer or may not be asked.
var ErrUnavailable = errors.New("the system's keyring is not available")

// Keyring is a place that the system has for secrets. [System] is the one there is; tests have others. Its methods may block
// for as long as they like. Get and Delete of what is not there return [keyring.ErrNotFound].
type Keyring interface {
	Get(service, user string) (string, error)
	Set(service, user, secret string) error
	Delete(service, user string) error
}

// System returns the keyring of the operating system: Keychain, Credential Manager, or Secret Service over D-Bus.
func System() Keyring { return system{} }

type system struct{}

func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (system) Set(service, user, secret string) error   { return keyring.Set(service, user, secret) }
func (system) Delete(service, user string) error        { return keyring.Delete(service, user) }

// ring asks a keyring with patience that ends.
type ring struct {
	keyring Keyring // nil: it may not be asked
	off     string  // why not, in words
	timeout time.Duration
}

// errOff is the reason when the keyring may not be asked.
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
	k := r.keyring // f may run after ask has given it up
	_, err := r.ask(ctx, func() (string, error) { return "", k.Delete(service, user) }, nil)
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// answer is what a keyring said.
type answer struct {
	secret string
	err    error
}

// ask calls f, which may hang: then its goroutine stays until it ends, and undoes what came too late. After that the keyring
// is not asked again. An error other than that nothing is there, or that ctx has ended, is an ErrUnavailable.
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
