package command

// special applies the rule of the table for programs whose arguments are a language of their own: wrapper.go, shells.go, builtins.go,
// git.go, languages.go, network.go and tools.go have the rules.
func (c *call) special(p *program, name string, g *arguments) {
	known := c.wrapper(p.by, name, g) || c.shells(p.by, name, g) || c.builtin(p.by, name, g) || c.versions(p.by, name, g) ||
		c.language(p.by, name, g) || c.connection(p.by, name, g) || c.tool(p.by, name, g)
	if !known {
		c.unknown("no rule is called " + p.by)
	}
}
