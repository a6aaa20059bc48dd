package cli

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
	"golang.org/x/term"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/models"
	"github.com/tenon-agent/tenon/llm/offline"
)

// maxKeyFile bounds what a key is read from, in bytes.
const maxKeyFile = 64 << 10

// loginOptions is the flags of tenon auth login.
type loginOptions struct {
	name, file  string
	check, json bool
}

func (p *program) authLogin() *cobra.Command {
	var o loginOptions
	c := &cobra.Command{
		Use:   "login PROVIDER",
		Short: "Keep a key of a provider",
		Long: `Keep a key of a provider. It is asked for on the terminal, without being shown, or read from standard input when that
is no terminal, or from --key-file. It cannot be an argument, which other programs could see and the shell would keep.

The key goes into the keyring of the system, or where that does not answer (or TENON_KEYRING=off says so) into the file
keys.json in the directory of the configuration, which only you can read. A provider can have several keys with names
of their own: the next one is used when one is exhausted.`,
		Example: `  tenon auth login anthropic
  tenon auth login openai --name work --check
  pass show openrouter | tenon auth login openrouter`,
		Args: providerArg,
		RunE: func(c *cobra.Command, args []string) error {
			if looksLikeKey(o.name) || looksLikeKey(o.file) {
				return providerArg(c, []string{o.name, o.file})
			}
			s, err := p.setUp()
			if err != nil {
				return err
			}
			return p.logIn(c, s, args[0], o)
		},
		ValidArgsFunction: p.completeProviders,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.name, "name", keys.Default, "the `name` of the key, when the provider has several")
	f.StringVar(&o.file, "key-file", "", "read the key from a `file`; - is standard input")
	f.BoolVar(&o.check, "check", false, "then ask a model of the provider, as tenon models test does")
	f.BoolVar(&o.json, "json", false, "say where the key is as a JSON object")
	return c
}

func (p *program) logIn(c *cobra.Command, s *app.Setup, provider string, o loginOptions) error {
	if provider == offline.New().Model().Provider {
		return usagef(c, "the offline model needs no key")
	}
	if err := knownProvider(c, s, provider); err != nil {
		return err
	}
	store, err := p.patientKeys(s)
	if err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context(), func() {}, func() {})
	defer stop()
	all := s.Models.Providers()
	about := all[slices.IndexFunc(all, func(p models.Provider) bool { return p.Name == provider })]
	text, err := p.readKey(ctx, c, about, o.file)
	if err != nil {
		return err
	}
	key, err := keys.New(text)
	if err != nil {
		return err
	}
	s.Secrets.Add(key)
	entry, err := store.Set(ctx, provider, o.name, key)
	if ctx.Err() != nil {
		return cause(ctx)
	}
	if err != nil {
		return cleaned(s, elsewhere(err))
	}
	if err := p.showLogin(s, entry, o.json); err != nil {
		return err
	}
	if before := usedBefore(s, about, p.env.Getenv); before != "" {
		p.tell(s, "! "+before+"\n")
	}
	if !o.check {
		return nil
	}
	ref, ok := s.Models.ModelOf(provider)
	if !ok {
		return fmt.Errorf("the key is kept, but no model of %s is known to check it with: run `tenon models test %s/MODEL`", provider, provider)
	}
	s.Models = s.Models.With(provider, o.name, key)
	return p.testModels(c, s, []string{ref}, o.json, false)
}

// showLogin says where a key went.
func (p *program) showLogin(s *app.Setup, e keys.Entry, asJSON bool) error {
	if asJSON {
		return p.showJSON(s, e)
	}
	where := "the keyring of the system"
	if e.Place == keys.InFile {
		where = filepath.Join(s.Dir, "keys.json") + ", which only you can read"
	}
	return p.show(s, fmt.Sprintf("kept key %s of %s in %s\n", e.Name, e.Provider, oneLine(where)))
}

// usedBefore says which other keys of the provider come before one that is kept.
func usedBefore(s *app.Setup, about models.Provider, getenv func(string) string) string {
	if len(s.Config.Providers[about.Name].Keys()) > 0 {
		return "tenon.json has keys of " + about.Name + ", which are used in place of it"
	}
	for _, name := range about.KeyVars {
		if strings.TrimSpace(getenv(name)) != "" && slices.Contains(about.Keys, "$"+name) {
			return name + " is set, and is used before it"
		}
	}
	return ""
}

// readKey reads a key: from a file, from the terminal, or from standard input.
func (p *program) readKey(ctx context.Context, c *cobra.Command, about models.Provider, file string) (string, error) {
	if file != "" && file != "-" {
		data, err := readLimited(file, maxKeyFile)
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		return string(data), nil
	}
	if file == "" && width(p.env.Stdin) != nil {
		fmt.Fprintf(p.env.Stderr, "Key of %s (it will not be shown): ", oneLine(about.Title))
		text, err := readHidden(ctx, p.env.Stdin)
		fmt.Fprintln(p.env.Stderr)
		return text, err
	}
	if device(p.env.Stdin) {
		return "", usagef(c, "there is no terminal to ask for the key, and nothing on standard input: pipe it in, or name a file with --key-file")
	}
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() { // it may outlive a cancelled command: a read of standard input cannot be cancelled
		data, err := io.ReadAll(io.LimitReader(p.env.Stdin, maxKeyFile))
		read <- result{data, err}
	}()
	select {
	case r := <-read:
		if r.err != nil {
			return "", fmt.Errorf("read the key from standard input: %w", r.err)
		}
		return string(r.data), nil
	case <-ctx.Done():
		return "", cause(ctx)
	}
}

// device reports whether a stream is none, or one that has nothing to read, such as /dev/null.
func device(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in == nil
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}

// readHidden reads a line from a terminal that does not show it, and leaves the terminal as it was whatever happens.
func readHidden(ctx context.Context, in io.Reader) (string, error) {
	read := func() ([]byte, error) {
		return nil, errors.New("this terminal cannot hide what is typed: pipe the key in")
	}
	restore := func() {}
	switch in := in.(type) {
	case interface{ ReadPassword() ([]byte, error) }:
		read = in.ReadPassword
	case *os.File:
		fd := int(in.Fd())
		state, err := term.GetState(fd)
		if err != nil {
			return "", fmt.Errorf("read the key: %w", err)
		}
		restore = func() { _ = term.Restore(fd, state) }
		read = func() ([]byte, error) { return term.ReadPassword(fd) }
	}
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() { // as above
		data, err := read()
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			return "", fmt.Errorf("read the key: %w", r.err)
		}
		return string(r.data), nil
	case <-ctx.Done():
		restore()
		return "", cause(ctx)
	}
}
