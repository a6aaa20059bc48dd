package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what is known of how the program was made.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitzero"`
	Time     string `json:"time,omitzero"` // of the revision
	Modified bool   `json:"modified,omitzero"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

// buildOf reads what the Go tools recorded. version, when it is given, wins.
func buildOf(version string) build {
	b := build{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	return b
}

// String is the build on one line.
func (b build) String() string {
	text := "tenon " + b.Version
	if b.Revision != "" {
		text += " (" + b.Revision[:min(len(b.Revision), 12)]
		if b.Modified {
			text += ", modified"
		}
		text += ")"
	}
	return text + " " + b.Go + " " + b.System
}

func (p *program) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := buildOf(p.env.Version)
			if asJSON {
				return writeJSON(p.env.Stdout, b)
			}
			_, err := fmt.Fprintln(p.env.Stdout, b)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}
