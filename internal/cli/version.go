package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

func newVersion(env *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version"}
	return env.Printing(c, "print a JSON object", func(context.Context, []string) (command.Result, error) {
		b := command.BuildOf(env.Version)
		return command.Result{JSON: b, Text: fmt.Sprintln(b)}, nil
	})
}
