package workspace

import (
	"context"
	"fmt"
	"slices"

	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// ScopeError refuses to change a file outside the write scope of a session or of a call.
type ScopeError struct {
	Path  string   // as it was given; empty: a command that cannot be confined to the scope
	Scope []string // the directories and files that may be changed
}

// Error implements [error].
func (e *ScopeError) Error() string {
	if e.Path == "" {
		return "cannot run a command outside the sandbox: its write scope would not hold; run it in the sandbox"
	}
	return fmt.Sprintf("cannot change %s: it lies outside the write scope of this session", Quote(e.Path))
}

// Code returns "workspace.scope".
func (e *ScopeError) Code() string { return "workspace.scope" }

type scopeKey struct{}

// WithScope returns a context in which a workspace changes only what lies in some files and directories, with Apply and with commands:
// the write scope of a call. The paths are resolved. It narrows the scope of the session and that of ctx.
func WithScope(ctx context.Context, writable ...string) context.Context {
	if outer, ok := ctx.Value(scopeKey{}).([]string); ok {
		writable = common(outer, writable)
	}
	return context.WithValue(ctx, scopeKey{}, slices.Clone(writable))
}

type hostsKey struct{}

// WithHosts returns a context in which confined commands reach further hosts: those for which a call was approved.
func WithHosts(ctx context.Context, hosts ...string) context.Context {
	return context.WithValue(ctx, hostsKey{}, hosts)
}

// scope returns the paths that may change in a context, if they are bounded.
func (b *boundary) scope(ctx context.Context) (writable []string, bounded bool) {
	call, ok := ctx.Value(scopeKey{}).([]string)
	switch {
	case !ok:
		return b.writable, len(b.writable) > 0
	case len(b.writable) > 0:
		return common(b.writable, call), true
	}
	return call, true
}

// common returns the paths that lie in both of two scopes.
func common(a, b []string) (out []string) {
	for _, name := range a {
		if _, ok := paths.In(b, name); ok {
			out = append(out, name)
		}
	}
	for _, name := range b {
		if _, ok := paths.In(a, name); ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// inScope refuses places outside the write scope.
func (t *transaction) inScope(o *op) error {
	scope, bounded := t.scope(t.ctx)
	if !bounded {
		return nil
	}
	for _, p := range []place{o.at, o.from} {
		if _, ok := paths.In(scope, p.abs); p.abs != "" && !ok && !t.limits.Load().temporary(p.abs) {
			return &ScopeError{o.Path, scope}
		}
	}
	return nil
}

// confinement returns the sandbox of a command; nil: it runs as this process does.
func (m *commands) confinement(ctx context.Context, c Command) (*sandbox.Policy, error) {
	scope, bounded := m.scope(ctx)
	sandbox := m.confined()
	confined := sandbox != nil && !c.Unconfined
	switch {
	case bounded && !confined && !c.ReadOnly:
		return nil, &ScopeError{Scope: scope}
	case !confined:
		return nil, nil
	}
	if hosts, ok := ctx.Value(hostsKey{}).([]string); ok && len(hosts) > 0 {
		sandbox = sandbox.Reach(hosts...)
	}
	if bounded {
		sandbox = sandbox.Narrow(scope)
	}
	return sandbox, nil
}
