// Package auth is tenon auth: storing, listing and deleting the keys of providers.
package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	modelcmd "github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/models"
)

func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "auth",
		Short: "Store, list and delete the keys of providers",
		Long: `Store, list and delete the keys of providers. Tenon stores them in the keyring of the
system. Without a keyring it uses a file that only you can read. A key in an
environment variable comes before a stored one. Keys in tenon.json replace both.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newLogin(env), newLogout(env), newList(env))
	return c
}

// keyringPatience is the time limit of the keyring when a person waits for it: it may open a window.
const keyringPatience = 30 * time.Second

// patientKeys returns the stored keys, for a person who waits.
func patientKeys(env *command.Env, s *app.Setup) (*keys.Store, error) {
	if s.Dir == "" {
		return nil, errors.New("no directory for keys; set TENON_CONFIG_DIR")
	}
	return keys.Open(s.Dir, keys.Options{Getenv: env.Getenv, Timeout: keyringPatience}), nil
}

func newLogout(env *command.Env) *cobra.Command {
	var name string
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "logout PROVIDER",
		Short: "Delete a stored key",
		Long: `Delete a stored key: the key named default, the key of --name, or all keys of the
provider with --all. Keys in environment variables and in tenon.json do not change.`,
		Args: providerArg,
		RunE: func(c *cobra.Command, args []string) error {
			if all && c.Flags().Changed("name") {
				return command.Usagef(c, "--name and --all exclude each other")
			}
			s, err := env.SetUp("")
			if err != nil {
				return err
			}
			return logOut(env, c, s, args[0], name, all, asJSON)
		},
		ValidArgsFunction: modelcmd.CompleteProviders(env),
	}
	f := c.Flags()
	f.StringVar(&name, "name", keys.Default, "the `name` of the key")
	f.BoolVar(&all, "all", false, "all keys of the provider")
	f.BoolVar(&asJSON, "json", false, "print deleted keys as JSON, one object per line")
	return c
}

func logOut(env *command.Env, c *cobra.Command, s *app.Setup, provider, name string, all, asJSON bool) error {
	store, err := patientKeys(env, s)
	if err != nil {
		return err
	}
	kept, err := store.List()
	if err != nil {
		return err
	}
	kept = slices.DeleteFunc(kept, func(e keys.Entry) bool { return e.Provider != provider })
	var others []string
	for _, e := range kept {
		others = append(others, e.Name)
	}
	kept = slices.DeleteFunc(kept, func(e keys.Entry) bool { return !all && e.Name != name })
	switch {
	case len(others) == 0:
		return fmt.Errorf("no key of %s is stored; see 'tenon auth list'", provider)
	case len(kept) == 0:
		return fmt.Errorf("no key %q of %s is stored; stored are %s: choose with --name, or --all", name, provider, strings.Join(others, ", "))
	}
	for _, e := range kept {
		if err := store.Delete(c.Context(), e.Provider, e.Name); err != nil {
			return err
		}
		err := env.Print(asJSON, command.Result{
			JSON: map[string]any{"deleted": e}, Text: fmt.Sprintf("deleted key %s of %s from the %s\n", e.Name, e.Provider, e.Place),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// providerArg accepts one argument. It refuses a key without repeating it.
func providerArg(c *cobra.Command, args []string) error {
	if slices.ContainsFunc(args, looksLikeKey) {
		return command.Usagef(c, "a key must not be an argument: other programs can see it, and the shell writes it into its history. "+
			"Assume that others know it, create a new one, and run `%s PROVIDER`, which asks for it", c.CommandPath())
	}
	return command.ExactArgs("the provider")(c, args)
}

// looksLikeKey reports whether a word looks more like a key than like the name of a provider or a file.
func looksLikeKey(word string) bool {
	for _, prefix := range []string{
		"sk-", "sk_", "AIza", "gsk_", "xai-", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "AKIA", "ASIA", "ABSK", "pplx-", "csk-",
		"fw_", "tgp_", "vck_", "AQ.", "ya29.", "eyJ",
	} {
		if strings.HasPrefix(word, prefix) && len(word) > len(prefix)+8 {
			return true
		}
	}
	const longest = 24 // no name of a provider is longer than that without a separator
	digits, letters := false, false
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits = true
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters = true
		case r == '/' || r == '\\' || r == '.':
			return false
		}
	}
	return digits && letters && len(word) >= longest
}

type placedKey struct {
	Provider string         `json:"provider"`
	Name     string         `json:"name"`
	Place    string         `json:"place"` // "environment", "tenon.json", "keyring" or "file"
	Added    *time.Time     `json:"added,omitempty"`
	Hint     string         `json:"hint,omitzero"`     // the last four characters
	Used     bool           `json:"used"`              // by a run
	Resting  []chain.Health `json:"resting,omitempty"` // the models for which it rests
}

func newList(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List keys, without their values",
		Long: `List keys by provider and name: those in environment variables, in tenon.json, and the
stored ones. Of a stored key the list shows the last four characters. Tenon tries keys
in the order of the list. It skips a key that rests if another key or model can answer.
'tenon models test' and 'tenon auth login' let a key be asked again.`,
	}
	return env.Printing(c, "print JSON, one object per line", func(context.Context, []string) (r command.Result, err error) {
		s, err := env.SetUp("")
		if err != nil {
			return r, err
		}
		list, err := placedKeys(s, env.Getenv)
		r.JSON, r.Text = command.Lines(list), keyTable(env, list)
		if len(list) == 0 {
			r.Text, r.Note = "", "no keys yet: run `tenon auth login PROVIDER`, or set a variable such as ANTHROPIC_API_KEY"
		}
		return r, err
	})
}

// placedKeys returns all keys by provider. A variable that several providers use is listed once.
func placedKeys(s *app.Setup, getenv func(string) string) ([]placedKey, error) {
	kept, err := s.Keys.List()
	if err != nil {
		return nil, err
	}
	var list []placedKey
	seen := map[string]bool{}
	for _, provider := range s.Models.Providers() {
		configured := s.Config.Providers[provider.Name].Keys()
		for _, k := range configured {
			list = append(list, placedKey{Provider: provider.Name, Name: k.Name, Place: "tenon.json", Used: true})
		}
		for _, name := range provider.KeyVars {
			if strings.TrimSpace(getenv(name)) != "" && !seen[name] {
				seen[name] = true
				list = append(list, placedKey{Provider: provider.Name, Name: "$" + name, Place: "environment", Used: slices.Contains(provider.Keys, "$"+name)})
			}
		}
		list = append(list, keptKeys(kept, provider)...)
		kept = slices.DeleteFunc(kept, func(e keys.Entry) bool { return e.Provider == provider.Name })
	}
	list = append(list, keptKeys(kept, models.ProviderStatus{})...) // of providers that no longer exist
	for _, h := range models.Resting(s.Models) {
		provider, _, _ := strings.Cut(h.Model, "/")
		for i := range list {
			k := &list[i]
			same := k.Provider == provider || k.Provider == strings.TrimSuffix(strings.TrimSuffix(provider, "-chat"), "-responses") // these share keys
			if k.Name == h.Key && (same || k.Place == "environment") {
				k.Resting = append(k.Resting, h)
			}
		}
	}
	return list, nil
}

// keptKeys returns the stored keys of a provider; of all providers if it has no name.
func keptKeys(kept []keys.Entry, provider models.ProviderStatus) []placedKey {
	var list []placedKey
	for _, e := range kept {
		if provider.Name == "" || e.Provider == provider.Name {
			list = append(list, placedKey{e.Provider, e.Name, string(e.Place), &e.Added, e.Hint, slices.Contains(provider.Keys, e.Name), nil})
		}
	}
	return list
}

func keyTable(env *command.Env, list []placedKey) string {
	var rows [][]string
	resting := ""
	for _, k := range list {
		hint, added := "", ""
		if k.Hint != "" {
			hint = "…" + k.Hint
		}
		if k.Added != nil {
			added = k.Added.Local().Format(time.DateOnly)
		}
		if !k.Used {
			added = strings.TrimSpace(added + " unused")
		}
		for _, h := range k.Resting {
			label := "key " + term.OneLine(k.Name) + " "
			resting += term.Wrap(label, len(label), modelcmd.Rests(h), env.Columns(), "  ") + "\n"
		}
		rows = append(rows, []string{term.Fit(term.OneLine(k.Provider), 18), term.Fit(term.OneLine(k.Name), 28), k.Place, hint, added})
	}
	return env.Table([]string{"PROVIDER", "NAME", "PLACE", "KEY", "ADDED"}, rows) + resting
}
