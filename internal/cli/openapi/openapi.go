// Package openapi is tenon openapi: the APIs of the configuration, whose operations are tools.
package openapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/openapi"
)

// New returns tenon openapi.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "openapi",
		Short: "List and test APIs, and fetch their documents",
		Long: `List the APIs of the configuration, whose operations are tools for the model, and fetch
their documents. 'openapi' in tenon.json names an API and its OpenAPI document.`,
		Example: `  tenon openapi
  tenon openapi list shop
  tenon openapi test shop listOrders '{"status": "open"}'
  tenon openapi update`,
		Args: cobra.ArbitraryArgs,
	}
	c.AddCommand(newList(env, c), newUpdate(env), newTest(env))
	return c
}

// newList returns the command list, and makes its parent do the same without a name.
func newList(env *command.Env, parent *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: "list [NAME]", Aliases: []string{"ls"}, Short: "List the APIs, or the tools of one (the default)", Args: command.MaxArgs(1),
		Long: `List the APIs of the configuration. With a name, list the tools of that API, and the
operations of its document that are no tools, with the reason.`,
	}
	parent.Args = command.NoArgs
	for _, c := range []*cobra.Command{parent, c} {
		var dir string
		command.DirFlag(c, &dir, "list the APIs for this `directory`; default: the current one")
		env.Printing(c, "print one JSON object per line", func(_ context.Context, args []string) (command.Result, error) {
			all, err := find(env, dir, args)
			if err != nil {
				return command.Result{}, err
			}
			return list(env, all, len(args) > 0), nil
		})
	}
	return c
}

func newUpdate(env *command.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "update [NAME...]", Short: "Fetch the documents of APIs with a url", Args: cobra.ArbitraryArgs,
		Long: `Fetch the documents of the APIs with these names, or of all APIs that have a url. Tenon
uses the fetched copy until the next update. It keeps the old copy if the new one cannot
be used. A session that is open keeps its tools.`,
	}
	command.DirFlag(c, &dir, "update the APIs for this `directory`; default: the current one")
	return env.Printing(c, "print one JSON object per line", func(ctx context.Context, args []string) (command.Result, error) {
		all, err := find(env, dir, args)
		if err != nil {
			return command.Result{}, err
		}
		all = slices.DeleteFunc(all, func(a *app.API) bool { return !a.IsRemote() && len(args) == 0 })
		var failed error
		for _, a := range all {
			if !a.IsRemote() {
				return command.Result{}, command.Usagef(c, "cannot update the API %s: its document is the file %s", a.Name, a.Source)
			}
			a.Specs, a.Problems = nil, nil
			a.Err = a.Update(ctx)
			failed = errors.Join(failed, a.Err)
		}
		r := list(env, all, false)
		if len(all) == 0 {
			r.Note = "no API has a url"
		}
		if failed != nil {
			return command.Result{}, failed
		}
		return r, nil
	})
}

func newTest(env *command.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "test NAME OPERATION [ARGUMENTS]", Short: "Call an operation and print the answer", Args: command.SomeArgs("the API", "the operation"),
		Long: `Call an operation as the model would, and print the answer. ARGUMENTS is a JSON object.
Tenon asks for no approval: you gave the command.`,
	}
	command.DirFlag(c, &dir, "call it from this `directory`; default: the current one")
	return env.Printing(c, "print one JSON object", func(ctx context.Context, args []string) (command.Result, error) {
		if len(args) > 3 {
			return command.Result{}, command.Usagef(c, "too many arguments; write ARGUMENTS in quotes")
		}
		all, err := find(env, dir, args[:1])
		if err != nil {
			return command.Result{}, err
		}
		arguments := strings.Join(args[2:], "")
		result, err := all[0].Call(ctx, dir, args[1], arguments)
		if err != nil {
			return command.Result{}, err
		}
		if result.IsError {
			return command.Result{}, command.Codef("tool.http", "%s", term.Harmless(result.Content.Text()))
		}
		return command.Result{JSON: result.Details, Text: term.Harmless(result.Content.Text()) + "\n"}, nil
	})
}

// find returns the APIs with these names, or all.
func find(env *command.Env, dir string, names []string) ([]*app.API, error) {
	dir, err := app.Directory(dir)
	if err != nil {
		return nil, err
	}
	s, err := env.SetUp(dir)
	if err != nil {
		return nil, err
	}
	all := app.APIs(s, dir)
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, a := range all {
		known = append(known, a.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, command.Codef("cli.usage", "unknown API %q; 'tenon openapi' lists the APIs: %s", n, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(a *app.API) bool { return !slices.Contains(names, a.Name) }), nil
}

// shown is the JSON of an API.
type shown struct {
	Name     string            `json:"name"`
	Source   string            `json:"source"`
	Tools    []string          `json:"tools"`
	Problems []openapi.Problem `json:"problems,omitzero"`
	Error    string            `json:"error,omitzero"`
}

func list(env *command.Env, all []*app.API, whole bool) command.Result {
	var rows [][]string
	var objects []shown
	var text strings.Builder
	for _, a := range all {
		s := shown{Name: a.Name, Source: a.Source, Problems: a.Problems}
		for _, t := range a.Specs {
			s.Tools = append(s.Tools, t.Name)
			if whole {
				first, _, _ := strings.Cut(t.Description, "\n")
				fmt.Fprintf(&text, "%s\n    %s\n", t.Name, tool.Clip(first, 150))
			}
		}
		state := tool.Count(len(a.Specs), "tool")
		if a.Err != nil {
			s.Error = a.Err.Error()
			state = s.Error
		}
		for _, p := range a.Problems {
			if whole {
				fmt.Fprintf(&text, "no tool: %s: %s\n", strings.Join(p.Operations, ", "), p.Reason)
			}
		}
		rows, objects = append(rows, []string{a.Name, state, a.Source}), append(objects, s)
		if whole && a.Err != nil {
			fmt.Fprintf(&text, "%s\n", a.Err)
		}
	}
	r := command.Result{JSON: command.Lines(objects), Text: term.Harmless(text.String())}
	switch {
	case len(all) == 0:
		r.Note = "no APIs; add one to openapi in tenon.json"
	case !whole:
		r.Text = env.Table([]string{"API", "TOOLS", "DOCUMENT"}, rows)
	}
	return r
}
