package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) completion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes commands in your shell",
		Long: `Print a script that completes commands, flags, session ids, providers and models in your shell. Load it with one
of

  source <(tenon completion bash)
  tenon completion zsh > "${fpath[1]}/_tenon"
  tenon completion fish > ~/.config/fish/completions/tenon.fish
  tenon completion powershell | Out-String | Invoke-Expression`,
		Args:      exactArgs("the shell (bash, zsh, fish or powershell)"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), p.env.Stdout
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			if near := nearest(args[0], shells); near != "" {
				return usagef(c, "%q is no shell that is known: did you mean %q?", args[0], near)
			}
			return usagef(c, "%q is no shell that is known; write %s", args[0], orList(shells))
		},
	}
}

// completeWith lets the shell complete the values of a flag.
func completeWith(c *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag: a mistake in this package
	}
}

// directories lets the shell complete directories.
func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
