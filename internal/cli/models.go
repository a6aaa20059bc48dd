package cli

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
)

func (p *program) models() *cobra.Command {
	c := &cobra.Command{
		Use:   "models [FILTER...]",
		Short: "List the models there are, try one, update the catalog",
		Long: `List the models that can be asked, with what is known about them: tokens of context and of the longest answer, US
dollars for a million tokens in and out, and what they can do (img: see images, doc: read documents, think: reason).
A star marks the model that works when --model names no other.

With FILTERs only models are listed whose reference or name has all of these words in it. --all also lists the models
that cannot be asked, with what is missing. Servers on this machine (Ollama, llama.cpp, LM Studio, vLLM) are asked for
their models with --discover, or by itself when nothing else is set up.

Keys come from environment variables or from 'tenon auth login'; all else from tenon.json (see 'tenon config path').`,
		Example: `  tenon models
  tenon models --all claude
  tenon models --discover --json
  tenon models test anthropic/claude-sonnet-4-6`,
		Args: cobra.ArbitraryArgs,
	}
	c.AddCommand(p.modelsList(c), p.modelsTest(), p.modelsUpdate())
	return c
}

// modelsList is also what its parent does by itself.
func (p *program) modelsList(parent *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:     "list [FILTER...]",
		Aliases: []string{"ls"},
		Short:   "List models (the default)",
		Long:    parent.Long,
		Args:    cobra.ArbitraryArgs,
	}
	for _, c := range []*cobra.Command{parent, c} {
		o := new(listOptions)
		c.RunE = func(c *cobra.Command, args []string) error { return p.listModels(c, *o, args) }
		f := c.Flags()
		f.SortFlags = false
		f.BoolVarP(&o.all, "all", "a", false, "models that cannot be asked, too")
		f.StringVarP(&o.provider, "provider", "p", "", "only those of a `provider`, also when it cannot be asked")
		f.BoolVar(&o.discover, "discover", false, "ask servers on this machine which models they have")
		f.BoolVar(&o.json, "json", false, "as one JSON object")
		completeWith(c, "provider", p.completeProviders)
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	return c
}

// setUp reads the configuration for the directory in which the program was started.
func (p *program) setUp() (*app.Setup, error) {
	return app.NewSetup(p.env.Getenv, projectOf(""), buildOf(p.env.Version).Version)
}

// show writes text to standard output, without the keys that are known by now.
func (p *program) show(s *app.Setup, text string) error {
	_, err := io.WriteString(p.env.Stdout, s.Secrets.Redact(text))
	return err
}

// showJSON writes a line of JSON to standard output, without the keys that are known by now.
func (p *program) showJSON(s *app.Setup, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return p.show(s, string(data)+"\n")
}

// tell writes text for people to standard error, without the keys that are known by now.
func (p *program) tell(s *app.Setup, text string) {
	_, _ = io.WriteString(p.env.Stderr, s.Secrets.Redact(text)) // there is nobody left to tell
}

// cleaned returns the error without the keys that are known by now.
func cleaned(s *app.Setup, err error) error {
	if err == nil {
		return nil
	}
	text := s.Secrets.Redact(err.Error())
	if text == err.Error() {
		return err
	}
	return &cleanError{text, err}
}

// cleanError is an error whose text has no key in it.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }

// knownProvider refuses a name that is no provider. What may be a key is not repeated.
func knownProvider(c *cobra.Command, s *app.Setup, name string) error {
	var names []string
	for _, p := range s.Models.Providers() {
		names = append(names, p.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	if near := nearest(name, names); near != "" {
		return usagef(c, "there is no provider %q: did you mean %q?", name, near)
	}
	return usagef(c, "there is no provider %q; there are %s, and those that providers in tenon.json adds", name, strings.Join(names, ", "))
}

// completeProviders lets the shell complete names of providers.
func (p *program) completeProviders(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	s, err := p.setUp()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp // a shell has no place for an error
	}
	var names []string
	for _, provider := range s.Models.Providers() {
		if strings.HasPrefix(provider.Name, prefix) {
			names = append(names, cobra.CompletionWithDesc(provider.Name, oneLine(provider.Title)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeModels lets the shell complete pools and the references of models that can be asked, and of all others when none of those
// begins so.
func (p *program) completeModels(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	s, err := p.setUp()
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
		word := cobra.CompletionWithDesc(m.Ref(), oneLine(m.Name))
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
