// Package cli is the command line of Tenon: its commands, their flags, and how a run is shown.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/llm"
)

// Env is the world around a command. [System] is the real one; tests hand in their own.
type Env struct {
	Stdin          io.Reader // nil: there is none
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Version        string // of the program; "" takes what the Go tools recorded

	// Signals lets interrupts and requests to terminate arrive on c until stop is called. nil: there are none.
	Signals func(c chan<- os.Signal) (stop func())
	// Exit leaves the program at once, for the second interrupt. nil: a second one is ignored.
	Exit func(code int)
	// Client answers instead of the model that flags and environment name. nil: they decide.
	Client llm.Client
}

// System is the environment of the process.
func System() Env {
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Signals: signals, Exit: os.Exit,
	}
}

// signals also takes over SIGPIPE, so that a reader of the output that goes away is an error of a write and not the end
// of the process. Unlike ignoring the signal, this is not inherited by commands that tools run.
func signals(c chan<- os.Signal) (stop func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() {
		signal.Stop(c)
		signal.Stop(broken)
	}
}

// Main runs one command line, without the name of the program, and returns the exit code: 0 done, 1 error, 2 usage,
// 3 limit, 4 denied, 130 interrupted. When ctx ends, it does what it does at an interrupt.
func Main(ctx context.Context, args []string, env Env) int {
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	p := &program{env: env}
	root := p.root()
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	help := &remembering{Writer: env.Stdout}
	root.SetOut(help)
	root.SetErr(env.Stderr)
	return p.exit(cmp.Or(root.ExecuteContext(ctx), help.err))
}

// remembering keeps the first error of a writer: cobra writes help without looking at it.
type remembering struct {
	io.Writer
	err error
}

func (r *remembering) Write(data []byte) (int, error) {
	n, err := r.Writer.Write(data)
	r.err = cmp.Or(r.err, err)
	return n, err
}

// program is one execution of a command.
type program struct{ env Env }

// exitCode ends a command with a code. Whatever there was to say was said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exit tells the error, if there is one to tell, and returns its code.
func (p *program) exit(err error) int {
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		return int(code)
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitError // the reader of the output left: it wants no more words
	}
	colour := paletteFor(p.env.Stderr, p.env.Getenv)
	fmt.Fprintf(p.env.Stderr, "%s %s\n", colour.red("tenon:"), harmless(err.Error()))
	if usage, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(p.env.Stderr, "Run '%s --help' to see what there is.\n", usage.command)
		return exitUsage
	}
	return exitError
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tenon",
		Short: "A coding agent for the terminal",
		Long: `Tenon is a coding agent. It asks a language model to work in your project, lets it read, change and run things within the
limits that you set, and records every step, so that a session can be resumed whatever happened.

  tenon run "describe this project"`,
		Args:              cobra.ArbitraryArgs, // so that a wrong command is told below, with the nearest one
		RunE:              p.top,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Flags().Bool("version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	p.wrapHelp(root)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "Show help for a command", Args: cobra.ArbitraryArgs, RunE: help})
	root.AddCommand(p.run(), p.initialize(), p.models(), p.auth(), p.config(), p.trust(), p.sandbox(), p.doctor(), p.sessions(), p.stats(), p.undo(), p.redo(), p.diff(), p.permissions(), p.version(), p.completion())
	return root
}

func help(c *cobra.Command, args []string) error {
	target, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return unknownCommand(target, rest)
	}
	return target.Help()
}

// top is the program without a command.
func (p *program) top(c *cobra.Command, args []string) error {
	if asked, err := c.Flags().GetBool("version"); err == nil && asked && len(args) == 0 {
		_, err := fmt.Fprintln(p.env.Stdout, buildOf(p.env.Version))
		return err
	}
	return group(c, args)
}

// group is a command that only has others below it.
func group(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args)
	}
	return c.Help()
}
