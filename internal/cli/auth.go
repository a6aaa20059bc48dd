package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/models"
)

func (p *program) auth() *cobra.Command {
	c := &cobra.Command{
		Use:   "auth",
		Short: "Keep, list and forget the keys of providers",
		Long: `Keep, list and forget the keys of providers. They are kept in the keyring of the system, or where there is none in a
file that only you can read. Keys in environment variables are used before those that are kept, and keys in tenon.json
in place of both.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(p.authLogin(), p.authLogout(), p.authList())
	return c
}

// keyringPatience is how long the keyring may take when a person asked for it: it may open a window.
const keyringPatience = 30 * time.Second

// patientKeys is the kept keys, for a person who waits.
func (p *program) patientKeys(s *app.Setup) (*keys.Store, error) {
	if s.Dir == "" {
		return nil, errors.New("there is no place for keys: set TENON_CONFIG_DIR to a directory")
	}
	return keys.Open(s.Dir, keys.Options{Getenv: p.env.Getenv, Timeout: keyringPatience}), nil
}

func (p *program) authLogout() *cobra.Command {
	var name string
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "logout PROVIDER",
		Short: "Forget a key that is kept",
		Long: `Forget a key that is kept: the one with the name default, the one that --name names, or with --all every one of the
provider. Keys in environment variables and in tenon.json stay where they are.`,
		Args: providerArg,
		RunE: func(c *cobra.Command, args []string) error {
			if all && c.Flags().Changed("name") {
				return usagef(c, "--name and --all exclude each other")
			}
			s, err := p.setUp()
			if err != nil {
				return err
			}
			return p.logOut(c, s, args[0], name, all, asJSON)
		},
		ValidArgsFunction: p.completeProviders,
	}
	f := c.Flags()
	f.StringVar(&name, "name", keys.Default, "the `name` of the key")
	f.BoolVar(&all, "all", false, "all keys of the provider")
	f.BoolVar(&asJSON, "json", false, "show what was forgotten as JSON, one object to a line")
	return c
}

func (p *program) logOut(c *cobra.Command, s *app.Setup, provider, name string, all, asJSON bool) error {
	store, err := p.patientKeys(s)
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
		return fmt.Errorf("no key of %s is kept; see 'tenon auth list'", provider)
	case len(kept) == 0:
		return fmt.Errorf("no key %q of %s is kept; there are %s: choose with --name, or --all", name, provider, strings.Join(others, ", "))
	}
	for _, e := range kept {
		if err := store.Delete(c.Context(), e.Provider, e.Name); err != nil {
			return err
		}
		if asJSON {
			err = p.showJSON(s, map[string]any{"forgotten": e})
		} else {
			err = p.show(s, fmt.Sprintf("forgot key %s of %s, which was in the %s\n", e.Name, e.Provider, e.Place))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// providerArg takes one argument. What may be a key is refused and not repeated.
func providerArg(c *cobra.Command, args []string) error {
	if slices.ContainsFunc(args, looksLikeKey) {
		return usagef(c, "a key must not be an argument: other programs can see it, and the shell writes it into its history. "+
			"Take it for known to others, make a new one, and run `%s PROVIDER`, which asks for it", c.CommandPath())
	}
	return exactArgs("the provider")(c, args)
}

// looksLikeKey reports whether a word is more likely a key than the name of a provider or a file.
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

// placedKey is a key and where it is, and its JSON.
type placedKey struct {
	Provider string     `json:"provider"`
	Name     string     `json:"name"`
	Place    string     `json:"place"` // "environment", "tenon.json", "keyring" or "file"
	Added    *time.Time `json:"added,omitempty"`
	Hint     string     `json:"hint,omitzero"` // the last four characters
	Used     bool       `json:"used"`          // by a run
}

func (p *program) authList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the keys there are, but not what they are",
		Long: `List the keys there are, by provider and name: those in environment variables, in tenon.json, and those that are kept.
Of a key that is kept the last four characters are shown. Keys are tried in the order of the list.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.setUp()
			if err != nil {
				return err
			}
			list, err := placedKeys(s, p.env.Getenv)
			if err != nil {
				return err
			}
			if asJSON {
				for _, k := range list {
					if err := p.showJSON(s, k); err != nil {
						return err
					}
				}
				return nil
			}
			if len(list) == 0 {
				p.tell(s, "there are no keys: run `tenon auth login PROVIDER`, or set a variable such as ANTHROPIC_API_KEY\n")
				return nil
			}
			return p.show(s, p.keyTable(list))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	return c
}

// placedKeys returns all keys, those of a provider together. A variable that several providers look at is listed once.
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
	return append(list, keptKeys(kept, models.Provider{})...), nil // of providers that are not there any more
}

// keptKeys returns the keys of a provider that are kept; of all when it has no name.
func keptKeys(kept []keys.Entry, provider models.Provider) []placedKey {
	var list []placedKey
	for _, e := range kept {
		if provider.Name == "" || e.Provider == provider.Name {
			list = append(list, placedKey{e.Provider, e.Name, string(e.Place), &e.Added, e.Hint, slices.Contains(provider.Keys, e.Name)})
		}
	}
	return list
}

// keyTable lists keys for people.
func (p *program) keyTable(list []placedKey) string {
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	providers, names := len("PROVIDER"), len("NAME")
	for _, k := range list {
		providers, names = max(providers, len(k.Provider)), max(names, len(k.Name))
	}
	providers, names = min(providers, 18), min(names, 28)
	var b strings.Builder
	row := func(provider, name, place, hint, added string) string {
		return strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %-11s  %-5s  %s", providers, provider, names, name, place, hint, added), " ")
	}
	fmt.Fprintln(&b, paint.bold(row("PROVIDER", "NAME", "PLACE", "KEY", "ADDED")))
	for _, k := range list {
		hint, added := "", ""
		if k.Hint != "" {
			hint = "…" + oneLine(k.Hint)
		}
		if k.Added != nil {
			added = k.Added.Local().Format(time.DateOnly)
		}
		if !k.Used {
			added = strings.TrimSpace(added + " unused")
		}
		fmt.Fprintln(&b, row(oneLine(k.Provider), oneLine(k.Name), k.Place, hint, added))
	}
	return b.String()
}

// agree asks a question on the terminal, for commands that need a yes.
func (p *program) agree(question string) (bool, error) {
	fmt.Fprintf(p.env.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(p.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// cause is why a context ended.
func cause(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return exitCode(exitInterrupted)
	}
	return cmp.Or(context.Cause(ctx), ctx.Err())
}
