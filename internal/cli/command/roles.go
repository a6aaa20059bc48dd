package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/term"
)

// Roles returns the roles for a directory, and the setup that has their models.
func (env *Env) Roles(dir string) (*app.Setup, app.RoleSet, error) {
	s, err := env.SetUp(dir)
	if err != nil {
		return nil, app.RoleSet{}, err
	}
	set, err := s.Roles(app.ProjectOf(dir))
	return s, set, err
}

// RoleFlag adds the flag --role with its completion.
func (env *Env) RoleFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "role", "", "work in the role with this `NAME`; see tenon roles")
	CompleteWith(c, "role", env.CompleteRoles)
}

// CompleteRoles completes the names of roles.
func (env *Env) CompleteRoles(_ *cobra.Command, _ []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
	_, set, _ := env.Roles("") // a shell shows no errors
	for _, r := range set.Roles {
		if strings.HasPrefix(r.Name, prefix) {
			names = append(names, cobra.CompletionWithDesc(r.Name, term.OneLine(r.Description)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
