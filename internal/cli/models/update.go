package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/wire"
	"github.com/tenon-agent/tenon/transcript"
)

func newUpdate(env *command.Env) *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "update [--url URL]",
		Short: "Download the catalog of models, limits and prices",
		Long: `Download the catalog of models with their limits and prices, and show the changes. The
address is --url, or catalog_url in tenon.json; none is built in. Tenon stores the
catalog in the data directory and prefers it to the built-in one, unless that is newer.
No other command downloads it.`,
		Example: `  tenon models update --url https://example.com/models.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 { // an address may contain a key, so the error does not repeat it
				return command.Usagef(c, "%s takes no arguments: give the address with --url", c.CommandPath())
			}
			return nil
		},
	}
	c.Flags().StringVar(&address, "url", "", "download from this `address`: https, or on this machine")
	return env.Printing(c, "print the changes as a JSON object", func(ctx context.Context, _ []string) (command.Result, error) {
		s, err := env.SetUp("")
		if err != nil {
			return command.Result{}, err
		}
		u, err := updateModels(env, ctx, s, address)
		return command.Result{JSON: u, Text: u.words()}, err
	})
}

// CatalogUpdate is the changes of an update, in numbers of models.
type CatalogUpdate struct {
	Changed bool   `json:"changed"`
	File    string `json:"file"`
	Updated string `json:"updated"` // the day of the catalog
	Models  int    `json:"models"`
	New     int    `json:"new"`
	Gone    int    `json:"gone"`
	Prices  int    `json:"prices"` // with other prices
	Facts   int    `json:"facts"`  // with other facts
}

func (u CatalogUpdate) words() string {
	if !u.Changed {
		return fmt.Sprintf("The catalog of %s, with %s, is the newest.\n", u.Updated, transcript.Count(u.Models, "model"))
	}
	return fmt.Sprintf("The catalog of %s has %s: %d new, %d gone, %d with other prices, %d changed otherwise.\n",
		u.Updated, transcript.Count(u.Models, "model"), u.New, u.Gone, u.Prices, u.Facts)
}

func updateModels(env *command.Env, ctx context.Context, s *app.Setup, address string) (u CatalogUpdate, err error) {
	u.File = s.Models.CatalogFile()
	if u.File == "" {
		return u, errors.New("no directory for the catalog; set TENON_DATA_DIR")
	}
	if address == "" {
		if address, err = s.Config.CatalogURL.Get(ctx); err != nil {
			return u, err
		}
	}
	if address == "" {
		file := cmp.Or(s.Config.UserFile, "tenon.json")
		return u, fmt.Errorf("no address for the catalog; use --url URL, or set \"catalog_url\" in %s", file)
	}
	if err := os.MkdirAll(filepath.Dir(u.File), 0o700); err != nil {
		return u, fmt.Errorf("cannot create the data directory: %w; set TENON_DATA_DIR to a writable directory", err)
	}
	before := entries(u.File)
	client := wire.NewClient(wire.NewTransport(nil))
	defer client.CloseIdleConnections()
	ctx, stop := env.Interruptible(ctx, func() {}, func() {})
	defer stop()
	if u.Changed, err = catalog.Update(ctx, client, address, u.File); err != nil {
		if errors.Is(context.Cause(ctx), command.ErrInterrupted) {
			return u, command.ExitCode(command.ExitInterrupted)
		}
		return u, err
	}
	u.compare(before, entries(u.File))
	opened, _ := catalog.Open(u.File)
	u.Updated = opened.Updated()
	return u, nil
}

func entries(file string) map[string]catalog.Entry {
	all := map[string]catalog.Entry{}
	c, _ := catalog.Open(file) // an unreadable catalog counts as none
	for e := range c.All() {
		all[e.Ref()] = e
	}
	return all
}

func (u *CatalogUpdate) compare(before, after map[string]catalog.Entry) {
	u.Models = len(after)
	for ref, e := range after {
		was, known := before[ref]
		switch {
		case !known:
			u.New++
		case was.Price != e.Price:
			u.Prices++
		case !reflect.DeepEqual(was, e):
			u.Facts++
		}
	}
	for ref := range before {
		if _, there := after[ref]; !there {
			u.Gone++
		}
	}
}
