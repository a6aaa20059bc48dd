// Package cli is the command line of Tenon: the root command, its help, and the completion of shells. Each subject has a package below it.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/agents"
	"github.com/tenon-agent/tenon/internal/cli/auth"
	"github.com/tenon-agent/tenon/internal/cli/chat"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/config"
	"github.com/tenon-agent/tenon/internal/cli/doctor"
	"github.com/tenon-agent/tenon/internal/cli/hooks"
	"github.com/tenon-agent/tenon/internal/cli/mcp"
	"github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/cli/openapi"
	"github.com/tenon-agent/tenon/internal/cli/permissions"
	"github.com/tenon-agent/tenon/internal/cli/roles"
	"github.com/tenon-agent/tenon/internal/cli/run"
	"github.com/tenon-agent/tenon/internal/cli/sandbox"
	"github.com/tenon-agent/tenon/internal/cli/sessions"
	"github.com/tenon-agent/tenon/internal/cli/stats"
	"github.com/tenon-agent/tenon/internal/cli/undo"
)

// System is the environment of the process.
func System() command.Env {
	return command.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Signals: signals, Exit: os.Exit,
	}
}

// signals also handles SIGPIPE: if the reader of the output leaves, a write fails, and the process does not end. Commands of tools do not
// inherit a handler, but they would inherit an ignored signal.
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
// 3 limit, 4 denied, 130 interrupted. The end of ctx has the effect of an interrupt.
func Main(ctx context.Context, args []string, env command.Env) int {
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	env.Main = Main
	args = asRun(args)
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	root := newRoot(&env, name)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	help := &remembering{Writer: env.Stdout}
	root.SetOut(help)
	root.SetErr(env.Stderr)
	return env.Report(cmp.Or(root.ExecuteContext(ctx), help.err))
}

// asRun turns the spelling of other agents for one prompt, "-p PROMPT" and "--print PROMPT", into tenon run.
func asRun(args []string) []string {
	if len(args) > 0 && (args[0] == "-p" || args[0] == "--print") {
		return append([]string{"run"}, args[1:]...)
	}
	return args
}

// remembering keeps the first error of a writer, because cobra ignores errors of help.
type remembering struct {
	io.Writer
	err error
}

func (r *remembering) Write(data []byte) (int, error) {
	n, err := r.Writer.Write(data)
	r.err = cmp.Or(r.err, err)
	return n, err
}

// commands are the commands below the root that need not know the others.
func commands() []subcommand {
	return []subcommand{
		{"attach", chat.NewAttach},
		{"run", run.New},
		{"init", run.NewInit},
		{"models", models.New},
		{"auth", auth.New},
		{"config", config.NewConfig},
		{"trust", config.NewTrust},
		{"sandbox", sandbox.New},
		{"doctor", doctor.New},
		{"sessions", sessions.New},
		{"agents", agents.New},
		{"stats", stats.New},
		{"undo", undo.NewUndo},
		{"redo", undo.NewRedo},
		{"diff", undo.NewDiff},
		{"mcp", mcp.New},
		{"permissions", permissions.New},
		{"roles", roles.New},
		{"hooks", hooks.New},
		{"openapi", openapi.New},
		{"version", newVersion},
	}
}

type subcommand struct {
	name   string
	create func(*command.Env) *cobra.Command
}

// newRoot returns the root with the command of this name, or with all commands if there is none: a start pays only for what it runs.
func newRoot(env *command.Env, name string) *cobra.Command {
	root := &cobra.Command{
		Use:   "tenon",
		Short: "A coding agent for the terminal",
		Long: `Tenon is a coding agent. It asks a language model to work in your project. The model
reads, changes and runs things within the limits that you set. Tenon records every step,
so you can resume a session after any failure.

Without a command, tenon opens the interactive terminal. F1 shows its keys.

  tenon                              the terminal, with a new session
  tenon --continue                   the most recent session of this directory
  tenon run "describe this project"  one prompt, without questions`,
		Args:              cobra.ArbitraryArgs, // top reports an unknown command, with the nearest one
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(command.FlagError)
	wrapHelp(env, root)
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "Show help for a command", Args: cobra.ArbitraryArgs, RunE: help})
	for _, c := range commands() {
		if c.name == name {
			root.AddCommand(c.create(env))
			return root
		}
	}
	options := chat.Flags(env, root)
	root.Flags().Bool("version", false, "print the version")
	root.RunE = top(env, options)
	for _, c := range commands() {
		root.AddCommand(c.create(env))
	}
	root.AddCommand(newCompletion(env))
	return root
}

func help(c *cobra.Command, args []string) error {
	target, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return command.UnknownCommand(target, rest)
	}
	return target.Help()
}

// top runs the program without a command.
func top(env *command.Env, o *chat.Options) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if asked, err := c.Flags().GetBool("version"); err == nil && asked && len(args) == 0 {
			_, err := fmt.Fprintln(env.Stdout, command.BuildOf(env.Version))
			return err
		}
		if len(args) > 0 && strings.ContainsAny(args[0], " \n") {
			return command.Usagef(c, "unknown command %q; for a prompt, write: tenon run %q", args[0], strings.Join(args, " "))
		}
		if len(args) == 0 && chat.Possible(env) {
			return chat.Run(env, c, o)
		}
		if len(args) == 0 && c.Flags().NFlag() > 0 { // these flags are for the interactive terminal
			return command.Usagef(c, "the interactive terminal needs a terminal on standard input and output that is not dumb; for one prompt, write: tenon run PROMPT")
		}
		return command.Group(c, args)
	}
}
