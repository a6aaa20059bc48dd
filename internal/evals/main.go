package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const usageText = `Measure Tenon with a model on a set of small tasks.

Usage:
  evals list [--tasks PATTERNS]
  evals check [--tasks PATTERNS]
  evals run --model REF [flags] [-- ARGUMENTS OF tenon run]
  evals compare [--json] A.json B.json

PATTERNS are names or categories, separated by commas; a name may have * in it.
Flags of a command: evals COMMAND --help
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage means that the command line is wrong, and that the reason is printed.
var errUsage = errors.New("usage")

// run runs a command, and returns its exit code: 1 for an error, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"list": listCommand, "check": checkCommand, "run": runCommand, "compare": compareCommand,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, usageText)
		if len(args) == 1 && (args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
			return 0
		}
		return 2
	}
	err := commands[args[0]](ctx, args[1:], stdout, stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "evals: interrupted")
		return 130
	}
	fmt.Fprintln(stderr, "evals:", err)
	return 1
}

// parse reads the flags of a command that takes at most this many arguments; negative: any number.
func parse(flags *flag.FlagSet, args []string, most int, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage // flag printed it
	}
	if most >= 0 && flags.NArg() > most {
		fmt.Fprintf(stderr, "evals %s: unexpected argument %q\n", flags.Name(), flags.Arg(most))
		return errUsage
	}
	return nil
}

// chosen are the tasks that fit the patterns.
func chosen(patterns string) ([]*Task, error) {
	all, err := loadTasks(tasks)
	if err != nil {
		return nil, err
	}
	return selectTasks(all, patterns)
}

func listCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	patterns := flags.String("tasks", "", "list tasks of these `PATTERNS`; default: all")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	tasks, err := chosen(*patterns)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		fmt.Fprintf(stdout, "%-24s %-9s %s\n", t.Name, t.Category, t.About)
	}
	return nil
}

func checkCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	patterns := flags.String("tasks", "", "check tasks of these `PATTERNS`; default: all")
	if err := parse(flags, args, 0, stderr); err != nil {
		return err
	}
	tasks, err := chosen(*patterns)
	if err != nil {
		return err
	}
	top, err := os.MkdirTemp("", "evals-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(top)) }()
	failed := 0
	for _, t := range tasks {
		if err := prove(ctx, t, filepath.Join(top, t.Name)); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed++
			fmt.Fprintln(stdout, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d tasks have no proof", failed, len(tasks))
	}
	fmt.Fprintf(stdout, "%d tasks: each check fails without work and passes with the reference solution\n", len(tasks))
	return nil
}

func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	model := flags.String("model", "", "model `REF`, such as anthropic/claude-sonnet-5-5@high; tenon models lists them")
	program := flags.String("program", "", "`PATH` of the program to measure; default: build this tree")
	patterns := flags.String("tasks", "", "run tasks of these `PATTERNS`; default: all")
	mode := flags.String("mode", "auto", "`MODE` of the runs; yolo works without a sandbox and confines nothing")
	repeat := flags.Int("repeat", 1, "number of trials of each task")
	parallel := flags.Int("parallel", 2, "number of trials at a time")
	cost := flags.Float64("limit-cost", 1, "largest cost of one trial in `USD`; 0: the limit of the program")
	timeout := flags.Duration("timeout", 15*time.Minute, "longest `DURATION` of one trial")
	file := flags.String("out", "", "write results to this `FILE`, and continue the measurement in it")
	keep := flags.String("keep", "", "keep repository, journal and event stream of each trial below this `DIRECTORY`")
	if err := parse(flags, args, -1, stderr); err != nil {
		return err
	}
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{*model == "", "set --model, such as --model anthropic/claude-sonnet-5-5; tenon models lists the usable models"},
		{*repeat < 1, "--repeat must be at least 1"},
		{*parallel < 1, "--parallel must be at least 1"},
		{*timeout <= 0, "--timeout must be positive, such as 15m"},
		{*cost < 0, "--limit-cost must not be negative"},
	} {
		if wrong.is {
			fmt.Fprintln(stderr, "evals run:", wrong.text)
			return errUsage
		}
	}
	tasks, err := chosen(*patterns)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.Window > 0 && !strings.Contains(*model, "/") {
			return fmt.Errorf("task %s sets a context window, and --model %s is not of the form provider/model; name a model, or leave the task out with --tasks", t.Name, *model)
		}
	}
	if *program == "" {
		dir, err := os.MkdirTemp("", "evals-program-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, removeAll(dir)) }()
		if *program, err = build(ctx, dir); err != nil {
			return err
		}
	}
	if *program, err = filepath.Abs(*program); err != nil {
		return err
	}
	setup, err := newSetup(ctx, *program, *model, *mode, flags.Args(), runtime.GOOS+"/"+runtime.GOARCH)
	if err != nil {
		return err
	}
	m := &measurement{
		subject: &subject{program: *program, setup: setup, timeout: *timeout, cost: *cost, keep: *keep},
		tasks:   tasks, repeat: *repeat, parallel: *parallel, file: *file,
	}
	results, err := m.measure(ctx, stderr)
	if results == nil || len(results.Trials) == 0 {
		return err
	}
	return errors.Join(results.print(stdout), err)
}
