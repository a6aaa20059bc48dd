// Package command is shared by all commands of Tenon: the environment, usage errors, exit codes, flags, output, and the lookup of sessions.
package command

import (
	"cmp"
	"context"
	"io"
	"os"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/redact"
)

// Device reports whether a stream is nil, or a device such as /dev/null.
func Device(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in == nil
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}

// ReadAll reads at most limit bytes of a stream, until ctx ends. The read itself may outlive ctx, because nothing can cancel it.
func ReadAll(ctx context.Context, in io.Reader, limit int64) (string, error) {
	return Await(ctx, func() (string, error) {
		data, err := io.ReadAll(io.LimitReader(in, limit))
		return string(data), err
	})
}

// Await returns the result of f, or the cause of the end of ctx. f may outlive it.
func Await(ctx context.Context, f func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := f()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", Cause(ctx)
	}
}

// Env is the environment of a command. cli.System is the real one; tests have their own.
type Env struct {
	Stdin          io.Reader // may be nil
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Version        string // of the program; empty: the version that the Go tools recorded

	// Signals sends interrupts and requests to terminate to c until stop is called. It may be nil.
	Signals func(c chan<- os.Signal) (stop func())
	// Exit ends the program at once, at the second interrupt. If it is nil, Tenon ignores that one.
	Exit func(code int)
	// Main runs a command line in another environment, as cli.Main does, which sets it.
	Main func(ctx context.Context, args []string, env Env) int
	// Client replaces the model that flags and environment name. It may be nil.
	Client llm.Client

	Wide    int              // columns of tables if standard output is no terminal; 0: 80
	Screen  io.Writer        // the terminal whose interface shows the standard output; nil: none
	secrets *redact.Redactor // of the configuration that was read last
}

// Columns returns the width of tables: that of the terminal, at least 40, or elsewhere Wide, by default 80.
func (env *Env) Columns() int {
	if w := term.Width(env.Stdout); w != nil {
		return max(w(), 40)
	}
	return cmp.Or(env.Wide, 80)
}

// Shown returns text for standard output: harmless if that is a terminal.
func (env *Env) Shown(text string) string {
	if term.Width(env.Stdout) != nil {
		return term.Harmless(text)
	}
	return text
}
