// Package hooks is tenon hooks: the hooks that take effect, and a test of them.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/workspace"
)

// New returns tenon hooks.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "List and test hooks",
		Long: `List and test hooks: programs and HTTP servers that receive the events of a session, in the
format of Claude Code. Tenon reads them from the key hooks of tenon.json and, in a trusted
project, from its tenon.json, .claude/settings.json and .claude/settings.local.json.`,
		Example: `  tenon hooks
  tenon hooks test PreToolUse --tool Bash --input '{"command": "rm -rf build"}'
  tenon hooks test SessionStart`,
		Args: cobra.ArbitraryArgs,
	}
	c.AddCommand(newList(env, c), newTest(env))
	return c
}

// newList returns the command list, and makes its parent do the same.
func newList(env *command.Env, parent *cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List hooks (the default)", Long: parent.Long}
	for _, c := range []*cobra.Command{parent, c} {
		var dir string
		c.Args = command.NoArgs
		command.DirFlag(c, &dir, "list the hooks for this `directory`; default: the current one")
		env.Printing(c, "print one JSON object per line", func(context.Context, []string) (command.Result, error) { return list(env, dir) })
	}
	return c
}

func list(env *command.Env, dir string) (command.Result, error) {
	setup, _, err := env.Bounds(dir)
	if err != nil {
		return command.Result{}, err
	}
	set := app.HooksOf(setup)
	var b, note strings.Builder
	for _, h := range set.Handlers {
		b.WriteString(env.Wrap(fmt.Sprintf("%-18s %-16s ", h.Event, cmp.Or(h.Matcher, "*")), 36, fmt.Sprintf("%s (%s)", h.Title(), h.Source)))
	}
	for _, text := range set.Problems {
		note.WriteString("! " + term.OneLine(text) + "\n")
	}
	for _, f := range setup.Config.Claude {
		if i := slices.IndexFunc(f.Unused, func(text string) bool { return strings.HasPrefix(text, "hooks (") }); i >= 0 {
			note.WriteString("! " + term.OneLine(f.File+": "+f.Unused[i]) + "\n")
		}
	}
	if setup.Config.Inert != "" {
		note.WriteString("! " + term.OneLine(app.InertNote(setup.Config)) + "\n")
	}
	return command.Result{JSON: command.Lines(set.Handlers), Text: term.Harmless(b.String()), Note: note.String()}, nil
}

type testOptions struct{ dir, tool, value, input string }

func newTest(env *command.Env) *cobra.Command {
	var o testOptions
	c := &cobra.Command{
		Use:   "test EVENT",
		Short: "Run the hooks of an event and show their answers",
		Long: `Run the hooks of an event and show their answers. The hooks receive an example of the event,
and Tenon does nothing with their answers. Conditions (if) count as met. Events: ` + eventNames() + `.`,
		Example: `  tenon hooks test PreToolUse --tool Bash --input '{"command": "rm -rf build"}'
  tenon hooks test PostToolUse --tool Edit --input '{"file_path": "/src/a.go"}'
  tenon hooks test UserPromptSubmit --input '{"prompt": "hello"}'`,
		Args:      command.ExactArgs("the name of the event"),
		ValidArgs: strings.Split(eventNames(), ", "),
	}
	command.DirFlag(c, &o.dir, "run the hooks for this `directory`; default: the current one")
	c.Flags().StringVar(&o.tool, "tool", "Bash", "`name` of the tool, for events about tools")
	c.Flags().StringVar(&o.value, "matcher", "", "`value` that matchers see, for other events")
	c.Flags().StringVar(&o.input, "input", "", "tool_input, or fields of other events, as `JSON`")
	return env.Printing(c, "print one JSON object per hook", func(ctx context.Context, args []string) (command.Result, error) {
		return test(ctx, env, c, o, hooks.Event(args[0]))
	})
}

func eventNames() string {
	var names []string
	for _, e := range hooks.Events() {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

// tested is the JSON of a hook that ran.
type tested struct {
	hooks.Handler
	ExitCode     int          `json:"exit_code"`
	Stdout       string       `json:"stdout"`
	Stderr       string       `json:"stderr"`
	Milliseconds int64        `json:"milliseconds"`
	Answer       hooks.Answer `json:"answer"`
}

func test(ctx context.Context, env *command.Env, c *cobra.Command, o testOptions, event hooks.Event) (out command.Result, err error) {
	if err := event.Check(); err != nil {
		return out, command.AsUsage(c, err)
	}
	var given map[string]any
	if o.input != "" {
		if err := json.Unmarshal([]byte(o.input), &given); err != nil {
			return out, command.Usagef(c, "--input is no JSON object: %v", err)
		}
	}
	setup, b, err := env.Bounds(o.dir)
	if err != nil {
		return out, err
	}
	outputs, err := os.MkdirTemp("", "tenon-hooks-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outputs)) }()
	w, err := workspace.Open(b.Root, workspace.Options{Outputs: filepath.Join(outputs, "outputs")})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	set := app.HooksOf(setup)
	for i := range set.Handlers {
		set.Handlers[i].Async = false
	}
	r := hooks.New(hooks.Options{Handlers: set.Handlers, Getenv: env.Getenv, Run: app.RunHook(w), Env: app.HookEnv(b.Root, "test")})
	defer r.Close()
	f := hooks.Firing{Event: event, Input: hooks.Example(event, b.Root, o.tool, given), Meets: func(string) bool { return true }}
	if event.OfTools() {
		f.Matches = []string{o.tool}
	} else if o.value != "" {
		f.Matches = []string{o.value}
	}
	got := r.Fire(ctx, f)
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	var all []tested
	var text strings.Builder
	for _, one := range got.Ran {
		all = append(all, tested{one.Handler, one.Code, one.Stdout, one.Stderr, one.Took.Milliseconds(), one.Answer})
		answer, err := json.Marshal(one.Answer)
		if err != nil {
			return out, err
		}
		fmt.Fprintf(&text, "%s (%s)\n  exit code %d after %s\n", term.OneLine(one.Title()), one.Source, one.Code, one.Took.Round(time.Millisecond))
		for _, part := range []struct{ name, text string }{{"stdout", one.Stdout}, {"stderr", one.Stderr}, {"answer", string(answer)}} {
			if part.text = strings.TrimSpace(part.text); part.text != "" && part.text != "{}" {
				fmt.Fprintf(&text, "  %s: %s\n", part.name, strings.ReplaceAll(part.text, "\n", "\n    "))
			}
		}
	}
	out = command.Result{JSON: command.Lines(all), Text: term.Harmless(text.String())}
	if len(all) == 0 {
		out.Note = fmt.Sprintf("no hook matches %s", event)
	}
	return out, nil
}
