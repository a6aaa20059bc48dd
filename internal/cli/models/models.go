// Package models is tenon models: listing models, testing them, and updating the catalog.
package models

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
)

// New returns tenon models.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "models [FILTER...]",
		Short: "List and test models, update the catalog",
		Long: `List usable models with their context window, the longest answer (in tokens), the price
in US dollars per million tokens in and out, and their abilities (img: images,
doc: documents, think: thinking, and the level that Tenon asks for by default). A star
marks the default model. A context window with a question mark is an assumption.

With FILTERs, list only models whose reference or name contains all of these words.
--all also lists models that are not usable, and the reason. With --discover, Tenon asks
the servers on this machine (Ollama, llama.cpp, LM Studio, vLLM) for their models and the
context windows in force. It also does so if nothing else is set up.

Keys come from environment variables or from 'tenon auth login'; everything else comes
from tenon.json (see 'tenon config path').`,
		Example: `  tenon models
  tenon models --all claude
  tenon models --discover --json
  tenon models test anthropic/claude-sonnet-5-5`,
		Args: cobra.ArbitraryArgs,
	}
	c.AddCommand(newList(env, c), newTest(env), newUpdate(env))
	return c
}

// newList returns the command list, and makes its parent do the same.
func newList(env *command.Env, parent *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:     "list [FILTER...]",
		Aliases: []string{"ls"},
		Short:   "List models (the default)",
		Long:    parent.Long,
		Args:    cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{parent, c} {
		o := new(listOptions)
		f := c.Flags()
		f.SortFlags = false
		f.BoolVarP(&o.all, "all", "a", false, "include models that are not usable")
		f.StringVarP(&o.provider, "provider", "p", "", "only models of this `provider`, usable or not")
		f.BoolVar(&o.discover, "discover", false, "ask servers on this machine for their models")
		env.Printing(c, "print one JSON object", func(_ context.Context, args []string) (command.Result, error) { return listModels(env, c, *o, args) })
		command.CompleteWith(c, "provider", CompleteProviders(env))
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	return c
}

// KnownProvider returns an error for the name of an unknown provider.
func KnownProvider(c *cobra.Command, s *app.Setup, name string) error {
	var names []string
	for _, p := range s.Models.Providers() {
		names = append(names, p.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	if near := command.Nearest(name, names); near != "" {
		return command.Usagef(c, "unknown provider %q; did you mean %q?", name, near)
	}
	return command.Usagef(c, "unknown provider %q; known are %s, and those that tenon.json adds", name, strings.Join(names, ", "))
}

// CompleteProviders completes names of providers.
func CompleteProviders(env *command.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		s, err := env.SetUp("")
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp // a shell shows no errors
		}
		var names []string
		for _, provider := range s.Models.Providers() {
			if strings.HasPrefix(provider.Name, prefix) {
				names = append(names, cobra.CompletionWithDesc(provider.Name, term.OneLine(provider.Title)))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Complete completes pools and references of usable models, or of all others if no usable one has the prefix.
func Complete(env *command.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		s, err := env.SetUp("")
		if err != nil {
			return nil, directive
		}
		var usable, others []string
		for name := range s.Config.Pools {
			if strings.HasPrefix(name, prefix) {
				usable = append(usable, cobra.CompletionWithDesc(name, "a pool"))
			}
		}
		slices.Sort(usable)
		for m := range s.Models.All() {
			if !strings.HasPrefix(m.Ref(), prefix) {
				continue
			}
			word := cobra.CompletionWithDesc(m.Ref(), term.OneLine(m.Name))
			if m.Usable {
				usable = append(usable, word)
			} else {
				others = append(others, word)
			}
		}
		if len(usable) == 0 {
			return others, directive
		}
		return usable, directive
	}
}
