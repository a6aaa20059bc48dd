package cli

import (
	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

func newCompletion(env *command.Env) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for your shell",
		Long: `Print a script that completes commands, flags, session IDs, providers and models in your
shell. Load it with one of

  source <(tenon completion bash)
  tenon completion zsh > "${fpath[1]}/_tenon"
  tenon completion fish > ~/.config/fish/completions/tenon.fish
  tenon completion powershell | Out-String | Invoke-Expression`,
		Args:      command.ExactArgs("the shell (bash, zsh, fish or powershell)"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), env.Stdout
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
			if near := command.Nearest(args[0], shells); near != "" {
				return command.Usagef(c, "unknown shell %q; did you mean %q?", args[0], near)
			}
			return command.Usagef(c, "unknown shell %q; write %s", args[0], command.OrList(shells))
		},
	}
}
