package cli

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
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/wire"
)

func (p *program) modelsUpdate() *cobra.Command {
	var asJSON bool
	var address string
	c := &cobra.Command{
		Use:   "update [--url URL]",
		Short: "Download the catalog of models, with their limits and prices",
		Long: `Download the catalog of models, with their limits and prices, and say what has changed. It comes from --url, else from
catalog_url in tenon.json; no address is built in. It is kept in the data directory and used in place of what the
program came with, unless that is newer. Nothing else ever downloads it.`,
		Example: `  tenon models update --url https://example.com/models.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 { // they are not repeated: an address may hold a key
				return usagef(c, "%s takes no arguments: give the address with --url", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := p.setUp()
			if err != nil {
				return err
			}
			u, err := p.updateModels(c.Context(), s, address)
			if err != nil {
				return cleaned(s, err)
			}
			if asJSON {
				return p.showJSON(s, u)
			}
			return p.show(s, u.words())
		},
	}
	c.Flags().StringVar(&address, "url", "", "download from this `address`, https or of this machine")
	c.Flags().BoolVar(&asJSON, "json", false, "say what has changed as a JSON object")
	return c
}

// catalogUpdate is what an update has changed, in numbers of models.
type catalogUpdate struct {
	Changed bool   `json:"changed"`
	File    string `json:"file"`
	Updated string `json:"updated"` // the day of the catalog
	Models  int    `json:"models"`
	New     int    `json:"new"`
	Gone    int    `json:"gone"`
	Prices  int    `json:"prices"` // other ones than before
	Facts   int    `json:"facts"`  // another thing than the price has changed
}

func (u catalogUpdate) words() string {
	if !u.Changed {
		return fmt.Sprintf("The catalog of %s, with %s, is the newest.\n", u.Updated, count(u.Models, "model"))
	}
	return fmt.Sprintf("The catalog of %s has %s: %d new, %d gone, %d with other prices, %d changed otherwise.\n",
		u.Updated, count(u.Models, "model"), u.New, u.Gone, u.Prices, u.Facts)
}

func (p *program) updateModels(ctx context.Context, s *app.Setup, address string) (u catalogUpdate, err error) {
	u.File = s.Models.CatalogFile()
	if u.File == "" {
		return u, errors.New("there is no place for the catalog: set TENON_DATA_DIR to a directory")
	}
	if address == "" {
		if address, err = s.Config.CatalogURL.Get(ctx); err != nil {
			return u, err
		}
	}
	if address == "" {
		file := cmp.Or(s.Config.UserFile, "tenon.json")
		return u, fmt.Errorf("no address to download the catalog from: give one with --url URL, or set \"catalog_url\" in %s", file)
	}
	if err := os.MkdirAll(filepath.Dir(u.File), 0o700); err != nil {
		return u, fmt.Errorf("make the data directory: %w; set TENON_DATA_DIR to a directory that you can write", err)
	}
	before := entries(u.File)
	client := wire.NewClient(wire.NewTransport(nil))
	defer client.CloseIdleConnections()
	ctx, stop := p.interruptible(ctx, func() {}, func() {})
	defer stop()
	if u.Changed, err = catalog.Update(ctx, client, address, u.File); err != nil {
		if errors.Is(context.Cause(ctx), errInterrupted) {
			return u, exitCode(exitInterrupted)
		}
		return u, err
	}
	u.compare(before, entries(u.File))
	opened, _ := catalog.Open(u.File)
	u.Updated = opened.Updated()
	return u, nil
}

// entries is the models of the catalog with a file, by their references.
func entries(file string) map[string]catalog.Entry {
	all := map[string]catalog.Entry{}
	c, _ := catalog.Open(file) // what cannot be read is as if it were not there
	for e := range c.All() {
		all[e.Ref()] = e
	}
	return all
}

func (u *catalogUpdate) compare(before, after map[string]catalog.Entry) {
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
