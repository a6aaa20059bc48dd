package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	modelcmd "github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/models"
)

// maxKeyFile is the most bytes that Tenon reads for a key.
const maxKeyFile = 64 << 10

// loginOptions is the flags of tenon auth login.
type loginOptions struct {
	name, file  string
	check, json bool
}

func newLogin(env *command.Env) *cobra.Command {
	var o loginOptions
	c := &cobra.Command{
		Use:   "login PROVIDER",
		Short: "Store a key of a provider",
		Long: `Store a key of a provider. Tenon asks for it on the terminal without showing it. Without
a terminal it reads standard input, or the file of --key-file. The key cannot be an
argument: other programs could see it, and the shell would keep it in its history.

Tenon stores the key in the keyring of the system. If the keyring does not answer, or
with TENON_KEYRING=off, it uses keys.json in the configuration directory, which only
you can read. A provider can have several named keys: when one is exhausted, Tenon uses
the next one.`,
		Example: `  tenon auth login anthropic
  tenon auth login openai --name work --check
  pass show openrouter | tenon auth login openrouter`,
		Args: providerArg,
		RunE: func(c *cobra.Command, args []string) error {
			if looksLikeKey(o.name) || looksLikeKey(o.file) {
				return providerArg(c, []string{o.name, o.file})
			}
			s, err := env.SetUp("")
			if err != nil {
				return err
			}
			return logIn(env, c, s, args[0], o)
		},
		ValidArgsFunction: modelcmd.CompleteProviders(env),
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.name, "name", keys.Default, "`name` of the key, if the provider has several")
	f.StringVar(&o.file, "key-file", "", "read the key from this `file`; - is standard input")
	f.BoolVar(&o.check, "check", false, "test the key with a request, as tenon models test does")
	f.BoolVar(&o.json, "json", false, "print where the key is, as a JSON object")
	return c
}

func logIn(env *command.Env, c *cobra.Command, s *app.Setup, provider string, o loginOptions) error {
	if provider == offline.New().Model().Provider {
		return command.Usagef(c, "the offline model needs no key")
	}
	if err := modelcmd.KnownProvider(c, s, provider); err != nil {
		return err
	}
	store, err := patientKeys(env, s)
	if err != nil {
		return err
	}
	ctx, stop := env.Interruptible(c.Context(), func() {}, func() {})
	defer stop()
	all := s.Models.Providers()
	about := all[slices.IndexFunc(all, func(p models.ProviderStatus) bool { return p.Name == provider })]
	text, err := readKey(env, ctx, c, about, o.file)
	if err != nil {
		return err
	}
	key, err := keys.New(text)
	if err != nil {
		return err
	}
	s.Secrets.Hide(key.Reveal())
	entry, err := store.Set(ctx, provider, o.name, key)
	if ctx.Err() != nil {
		return command.Cause(ctx)
	}
	if err != nil {
		return command.Elsewhere(err)
	}
	s.State.Forget(state.Rest + provider) // it may be another key; openai-chat has the keys of openai
	if err := showLogin(env, s, entry, o.json); err != nil {
		return err
	}
	if before := usedBefore(s, about, env.Getenv); before != "" {
		env.Tell("! %s", before)
	}
	if !o.check {
		return nil
	}
	ref, ok := s.Models.ModelOf(provider)
	if !ok {
		return fmt.Errorf("the key is stored, but no model of %s is known for a test; run `tenon models test %s/MODEL`", provider, provider)
	}
	s.Models = s.Models.With(provider, o.name, key.Reveal())
	return modelcmd.Test(env, c, s, []string{ref}, o.json, false)
}

func showLogin(env *command.Env, s *app.Setup, e keys.Entry, asJSON bool) error {
	where := "the keyring of the system"
	if e.Place == keys.InFile {
		where = filepath.Join(s.Dir, "keys.json") + ", which only you can read"
	}
	return env.Print(asJSON, command.Result{JSON: e, Text: fmt.Sprintf("stored key %s of %s in %s\n", e.Name, e.Provider, term.OneLine(where))})
}

// usedBefore reports other keys of the provider that come before a stored one.
func usedBefore(s *app.Setup, about models.ProviderStatus, getenv func(string) string) string {
	if len(s.Config.Providers[about.Name].Keys()) > 0 {
		return "tenon.json has keys of " + about.Name + ", which replace it"
	}
	for _, name := range about.KeyVars {
		if strings.TrimSpace(getenv(name)) != "" && slices.Contains(about.Keys, "$"+name) {
			return name + " is set, and comes before it"
		}
	}
	return ""
}

// readKey reads a key: from a file, from the terminal, or from standard input.
func readKey(env *command.Env, ctx context.Context, c *cobra.Command, about models.ProviderStatus, file string) (string, error) {
	if file != "" && file != "-" {
		data, err := command.ReadLimited(file, maxKeyFile)
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		return string(data), nil
	}
	if file == "" && term.Width(env.Stdin) != nil {
		fmt.Fprintf(env.Stderr, "Key of %s (it will not be shown): ", term.OneLine(about.Title))
		text, err := readHidden(ctx, env.Stdin)
		fmt.Fprintln(env.Stderr)
		return text, err
	}
	if command.Device(env.Stdin) {
		return "", command.Usagef(c, "there is no terminal to ask for the key, and nothing on standard input: pipe it in, or name a file with --key-file")
	}
	text, err := command.ReadAll(ctx, env.Stdin, maxKeyFile)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("read the key from standard input: %w", err)
	}
	return text, err
}

// readHidden reads a line from a terminal without showing it, and always restores the terminal.
func readHidden(ctx context.Context, in io.Reader) (string, error) {
	read := func() ([]byte, error) {
		return nil, errors.New("this terminal cannot hide input; pipe the key in")
	}
	restore := func() {}
	switch in := in.(type) {
	case interface{ ReadPassword() ([]byte, error) }:
		read = in.ReadPassword
	case *os.File:
		fd := int(in.Fd())
		state, err := xterm.GetState(fd)
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		restore = func() { _ = xterm.Restore(fd, state) }
		read = func() ([]byte, error) { return xterm.ReadPassword(fd) }
	}
	text, err := command.Await(ctx, func() (string, error) {
		data, err := read()
		return string(data), err
	})
	switch {
	case ctx.Err() != nil:
		restore()
		return "", err
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("read the key: %w", err)
	}
	return text, nil
}
